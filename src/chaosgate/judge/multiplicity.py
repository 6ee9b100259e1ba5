"""Several objectives in one run: what it takes to pass, and what to fail.

To pass, every gate objective must be shown to hold. Whoever passes a subject that breaks one of them was wrong about
that one, at its own level of 2.5 %; so nothing is corrected (intersection-union: Berger, Technometrics 24, 1982). To
fail it is enough that one is shown to be broken, and among many that are kept one may look broken by chance. So a fail
must stand with all gate objectives of the run counted, by Holm's rule at the same 2.5 %. A fail that does not is as
uncertain as an interval that straddles its bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from chaosgate.model.result import Reason
from chaosgate.statistics.binomial import TAIL
from chaosgate.statistics.multiplicity import holm
from chaosgate.units import Bound


@dataclass(frozen=True)
class Judged:
    """A reason of an objective, and the probability to see so much where its bound is kept; None where none is known.

    Of an infinite estimate and of a threshold that is only bracketed none is known: their fail stands as it is.
    """

    reason: Reason
    doubt: float | None


class HasInterval(Protocol):
    """Whatever has a value with its interval."""

    @property
    def value(self) -> float | None: ...
    @property
    def lower(self) -> float | None: ...
    @property
    def upper(self) -> float | None: ...


def doubt(bound: Bound, found: HasInterval, freedom: int | None) -> float | None:
    """The one-sided probability of a value at least as far beyond `bound`, were it kept.

    It is read from the interval: its near end lies t standard errors from the value, the 97.5 % quantile of Student's
    distribution on `freedom` degrees, 1.96 where they are 0 or not known (Altman & Bland, BMJ 343, 2011, "How to obtain
    the P value from a confidence interval"). Of few windows the normal tail would be too small, the more so the more
    objectives there are.
    """
    from scipy.special import ndtr, ndtri, stdtr, stdtrit

    near, sign = (found.lower, 1) if bound.upper else (found.upper, -1)
    if found.value is None or near is None or not (math.isfinite(near) and math.isfinite(found.value)):
        return None
    beyond, half = (found.value - bound.value) * sign, (found.value - near) * sign
    if half < 0:
        return None
    if half == 0:
        return 0.0 if beyond > 0 else 1.0
    if not freedom:
        return float(ndtr(float(ndtri(TAIL)) * beyond / half))
    return float(stdtr(freedom, float(stdtrit(freedom, TAIL)) * beyond / half))


def hold_fails(found: Sequence[Judged], on_uncertain: Literal["inconclusive", "fail", "warn"]) -> Iterator[Reason]:
    """The reasons, in their order; a fail of a gate objective that does not stand among them all is uncertain."""
    family = [each for each in found if each.reason.severity == "gate" and each.doubt is not None]
    adjusted = dict(zip(map(id, family), holm([each.doubt or 0.0 for each in family]), strict=True))
    for each in found:
        p = adjusted.get(id(each))
        if each.reason.verdict != "fail" or p is None or p <= TAIL:
            yield each.reason
            continue
        text = (
            f"{each.reason.text} by itself, but that may be chance among {len(family)} judgements (p = {p:.3f} after "
            f"Holm, {TAIL:.3f} is needed); more requests or windows would tell"
        )
        yield each.reason.model_copy(update={"verdict": on_uncertain, "text": text})
