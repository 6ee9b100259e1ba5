"""What every fit is: from how many requests broke a bound at each dose to a threshold, or a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from chaosgate.model.base import Frozen, Name
from chaosgate.registry import Registry
from chaosgate.units import Bound, Dimension, Share, format_share


class FitResponse(Frozen):
    """What a fit looks at. A kind narrows it to what it needs: a rate alone, a bound, a bound and a share."""

    sli: str
    """An SLI kind, without a percentile: `ttft`, not ttft-p95."""


class BreakResponse(FitResponse):
    """A request meets or breaks `bound`."""

    bound: Bound
    """What a request must keep."""


class Response(BreakResponse):
    """A request meets or breaks `bound`; at the threshold dose `share` of them break it."""

    share: Annotated[Share, Field(gt=0, lt=1)]
    """The share of requests that breaks the bound at the threshold."""

    def words(self) -> str:
        """What is so at the threshold, for people: `5 % of requests break ttft <= 300ms`."""
        return f"{format_share(self.share)} of requests break {self.sli} {self.bound}"


class Fit(Frozen):
    """A fit of a spec. A kind subclasses this, says its `response`, and is registered with `@FITS.register(kind)`."""

    reads: ClassVar[Literal["breaks", "amounts"]] = "breaks"
    """`breaks`: how many of a window's requests break the bound of its response; `amounts`: the sum of the values of a
    window's requests, a rate."""

    name: Name
    """The name by which objectives and report refer to it."""
    kind: str
    """The registered kind."""
    fault: Name
    """The fault whose sweep is fitted."""
    response: FitResponse
    """What is fitted."""

    def finds(self) -> str:
        """What is so at its threshold, for people, such as `5 % of requests break ttft <= 300ms`."""
        return self.response.words() if isinstance(self.response, Response) else f"{self.response.sli} turns"

    def fit(self, windows: Sequence[DoseWindow], seed: int, dimension: Dimension = "number") -> Threshold:
        """The threshold found in `windows` (controls at dose 0 included); pure, repeatable from `seed`.

        `dimension` is the dose's: reasons write doses in its unit, the numbers stay in base units.
        """
        raise NotImplementedError(f"{type(self).__name__} must say how it finds its threshold")


@dataclass(frozen=True)
class DoseWindow:
    """One window of a sweep as a fit sees it: of `n` requests at `dose`, `broken` broke the response's bound."""

    dose: float
    broken: int
    n: int
    amount: float | None = None
    """The sum of the response's values over the window; None where the fit reads breaks."""
    seconds: float = 0.0
    """How long the window was."""


class CurvePoint(Frozen):
    """A point of a dose-response plot: dose in base units, share of requests that broke the bound, requests."""

    dose: float
    share: float
    n: int


class RatePoint(Frozen):
    """A point of a plot of rates: dose in base units, the rate a second, requests."""

    dose: float
    rate: float
    n: int


class Threshold(Frozen):
    """What a fit found.

    `fitted`: value and interval. `bracketed`: the doses separate completely, so the threshold lies between `lower` and
    `upper` and no curve is drawn. `refused`: `reason` says why there is no threshold; nothing may rest on it.
    """

    outcome: Literal["fitted", "bracketed", "refused"]
    value: float | None
    lower: float | None
    upper: float | None
    n: int
    windows: int
    reason: str | None = None
    points: tuple[CurvePoint, ...] = ()
    """Observed shares by dose."""
    curve: tuple[CurvePoint, ...] = ()
    """The fitted curve, for plots; empty unless fitted."""
    rates: tuple[RatePoint, ...] = ()
    """Of a fit of amounts, in place of `points`: the observed rates by dose."""
    rate_curve: tuple[RatePoint, ...] = ()
    """The same of `curve`."""
    chosen: str | None = None
    """Of a fit that chooses among kinds: the kind it took."""
    goodness: dict[str, float] = {}
    """Goodness of fit by name, such as the deviance and the dispersion."""


FITS: Registry[Fit] = Registry("fit kind", Fit)
