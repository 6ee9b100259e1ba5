"""Whether single requests break a bound: what fits and the comparison of controls count."""

from __future__ import annotations

import math
from collections.abc import Sequence

from chaosgate.model.observation import Sample, Window
from chaosgate.model.sli import Sli
from chaosgate.units import Bound


def breaks(kind: type[Sli], bound: Bound, sample: Sample) -> bool | None:
    """Whether the request breaks `bound`; None where it does not count for the SLI.

    A request that failed breaks the bound of any distribution, on whichever side its good values lie; a value that is
    no number breaks every bound. One that its client cancelled does not count.
    """
    if kind.adjusted(sample) == math.inf:
        return True
    value = kind.value(sample)
    return None if value is None else not bound.holds(value)


def broken(kind: type[Sli], bound: Bound, window: Window) -> tuple[int, int]:
    """How many requests of `window` break `bound`, and of how many that count."""
    answers = [breaks(kind, bound, sample) for sample in window.samples]
    counted = [answer for answer in answers if answer is not None]
    return sum(counted), len(counted)


def broken_by_window(kind: type[Sli], bound: Bound, windows: Sequence[Window]) -> list[tuple[int, int]]:
    """`broken` of each of `windows` in which any request counts."""
    counts = [broken(kind, bound, window) for window in windows]
    return [(hits, n) for hits, n in counts if n]
