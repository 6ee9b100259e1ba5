"""Where an interval lies with respect to a bound."""

from __future__ import annotations

import math
from typing import Literal

from chaosgate.units import Bound

Position = Literal["inside", "outside", "straddles", "open", "missing"]


def position(
    bound: Bound, value: float | None, lower: float | None, upper: float | None, unbounded: bool = False
) -> Position:
    """`inside` when the whole interval keeps `bound`, `outside` when none of it does, `straddles` in between.

    An interval may have no end on the far side of the bound. It is `outside` when it begins there: a P95 of at least
    600 ms breaks `<= 300ms` however large it may be. It is `open` when value and beginning keep the bound. Whatever
    else lacks a number, or has one that is not finite, is `missing`. An `unbounded` interval lies beyond every number:
    it is `outside` a bound from above.
    """
    if unbounded and bound.upper:
        return "outside"
    near, far = (lower, upper) if bound.upper else (upper, lower)
    if near is None or not math.isfinite(near):
        return "missing"
    if not bound.holds(near):
        return "outside"
    if value is None or not math.isfinite(value):
        return "missing"
    if far is None:
        return "open" if bound.holds(value) else "missing"
    in_order = math.isfinite(far) and (near <= far if bound.upper else far <= near)
    if not in_order:
        return "missing"
    return "inside" if bound.holds(far) else "straddles"
