"""Where an interval lies with respect to a bound."""

from __future__ import annotations

import math
from typing import Literal

from chaosgate.units import Bound

Position = Literal["inside", "outside", "straddles", "missing"]


def position(bound: Bound, value: float | None, lower: float | None, upper: float | None) -> Position:
    """`inside` when the whole interval keeps `bound`, `outside` when none of it does, `straddles` in between.

    `missing` when a number is missing or not finite, except that an interval that is open only on the far side of the
    bound is still `outside`: a P95 of at least 600 ms breaks `<= 300ms` however large it may be. Never `inside`.
    """
    best, worst = (lower, upper) if bound.upper else (upper, lower)
    if best is not None and math.isfinite(best) and not bound.holds(best):
        return "outside"
    if any(number is None or not math.isfinite(number) for number in (value, lower, upper)):
        return "missing"
    if not _ordered(lower, upper):
        return "missing"
    return "inside" if worst is not None and bound.holds(worst) else "straddles"


def _ordered(lower: float | None, upper: float | None) -> bool:
    return lower is not None and upper is not None and lower <= upper
