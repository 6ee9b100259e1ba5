"""What every SLI is: numbers per request, a dimension, and how the numbers of a set of windows become one estimate."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosgate.errors import RegistryError
from chaosgate.model.observation import Sample
from chaosgate.registry import Registry, unknown
from chaosgate.units import Dimension

Statistic = Literal["quantile", "share", "rate", "mean", "set"]
INFINITE = float("inf")
"""What a request that failed counts as in the adjusted view of a distribution."""
_QUANTILE = re.compile(r"(?P<kind>.+)-p(?P<percent>[0-9]{1,3}(\.[0-9]+)?)")


class Sli(ABC):
    """One service level indicator. A kind subclasses this and is registered with `@SLIS.register(name)`."""

    dimension: ClassVar[Dimension]
    statistic: ClassVar[Statistic]
    """`quantile`: named with its percentile, such as ttft-p95. `share`: the mean of values 0 and 1. `rate`: the sum of
    the values of a window's requests over the window's length, per second. `mean`: the mean of real values, one a
    request. `set`: a number of all requests of a window together, `of`; its estimate is the mean over windows."""
    compares: ClassVar[bool] = False
    """Whether it compares a request with its prompt's clean answer; a stop condition, judged on the fly, has none."""
    counted: ClassVar[str] = "requests"
    """What its numbers are counted as, for people: of a kind with several a request, such as the gaps between tokens,
    these are not requests."""
    reads_slo: ClassVar[bool] = False
    """Whether it reads the spec's `slo`, the bounds that one request must keep; a stop condition does not know them."""
    ages: ClassVar[bool] = True
    """Of a distribution: whether a request in flight has at least the value that it had if it ended now."""

    scores: ClassVar[bool] = False
    """Whether its values tell how right an answer is, 1 best and 0 worst: a scorer of the semantic steady state."""
    reads_text: ClassVar[bool] = False
    """Whether it reads what was answered: the run then keeps the answers' texts."""
    reads_logprobs: ClassVar[bool] = False
    """Whether it reads the answers' log-probabilities: the client then asks for them."""
    reads_known: ClassVar[bool] = False
    """Whether it reads what is known of the prompt, which a running load does not tell."""
    usual: ClassVar[str | None] = None
    """A bound as a spec may write it, for its example; None where that of its dimension will do."""
    needs: ClassVar[str | None] = None
    """A module beyond the default install that it needs, and that the extra `quality` brings."""
    scorer: ClassVar[str | None] = None
    """The scorer by which it judges texts, None where it needs none."""
    embedding: ClassVar[bool] = False
    """Whether it compares embeddings: no gate may rest on that alone."""

    @staticmethod
    @abstractmethod
    def value(sample: Sample) -> float | None:
        """The number of one request in the dimension's base unit, None where the request does not count.

        Of a kind with several numbers a request it is the one by which a request is judged by itself. A request that
        its client cancelled never counts. Of a kind of the statistic `set` a request has no number by itself.
        """

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> float | None:
        """The number of a set of requests in the dimension's base unit, for a kind of the statistic `set`.

        None where the set is too small to have one, and for every other kind.
        """
        return None

    @classmethod
    def values(cls, sample: Sample) -> Sequence[float]:
        """All numbers of one request, none where it does not count: its `value`, unless a kind has several."""
        value = cls.value(sample)
        return () if value is None else (value,)

    @classmethod
    def adjusted(cls, sample: Sample) -> float | None:
        """Like `value`, but a request that failed is infinitely slow instead of left out. Other kinds stay as they are.

        A request that its client cancelled has not failed.
        """
        if cls.statistic == "quantile" and sample.observation.outcome not in ("ok", "cancelled"):
            return INFINITE
        return cls.value(sample)

    @classmethod
    def adjusted_values(cls, samples: Iterable[Sample]) -> Iterator[float]:
        """The `values` of all requests, of which one that failed is one infinite number, as in `adjusted`."""
        values, latencies = cls.values, cls.statistic == "quantile"
        for sample in samples:
            outcome = sample.observation.outcome
            if outcome == "ok" or (outcome != "cancelled" and not latencies):
                yield from values(sample)
            elif outcome != "cancelled":
                yield INFINITE


SLIS: Registry[Sli] = Registry("SLI", Sli)


@dataclass(frozen=True)
class SliRef:
    """An SLI as a spec names it: `ttft-p95` is the kind ttft at the quantile 0.95; `error-rate` has no quantile."""

    name: str
    kind: type[Sli]
    quantile: float | None

    @property
    def dimension(self) -> Dimension:
        """The dimension of its value."""
        return self.kind.dimension


def known_slis() -> list[str]:
    """Every SLI as an objective may name it, distributions with a usual percentile."""
    return [f"{name}-p95" if kind.statistic == "quantile" else name for name, kind in SLIS.items()]


def resolve_sli(name: str) -> SliRef:
    """The SLI called `name` for an objective; a RegistryError names the nearest known one or asks for a percentile."""
    if name in SLIS:
        kind = SLIS.get(name)
        if kind.statistic == "quantile":
            raise RegistryError(f"SLI {name!r} is a distribution; name a percentile, such as {name}-p95")
        return SliRef(name, kind, None)
    match = _QUANTILE.fullmatch(name)
    if match is None or match["kind"] not in SLIS:
        raise RegistryError(unknown("SLI", name, known_slis()))
    kind = SLIS.get(match["kind"])
    quantile = float(match["percent"]) / 100
    if kind.statistic != "quantile":
        raise RegistryError(f"SLI {name!r} has no percentiles; write {match['kind']!r}")
    if not 0 < quantile < 1:
        raise RegistryError(
            f"SLI {name!r} names no percentile between 0 and 100; write one, such as {match['kind']}-p95"
        )
    return SliRef(name, kind, quantile)
