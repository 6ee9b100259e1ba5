"""How values are spread: bins that are equally wide on a logarithmic axis, and their picture in text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from chaosgate.model.base import Frozen
from chaosgate.units import format_value

BINS = 12
BAR = 40
"""Columns of the longest bar."""
_EIGHTHS = " ▏▎▍▌▋▊▉"
NARROWEST = 1.05
"""Values whose largest is less than this times their smallest are one bin: finer bins would show noise."""
SHORTEST = 1e-6
"""Seconds: what is shorter, as gaps within one packet are, counts in the first bin."""


class Bin(Frozen):
    """How many values lie in [lower, upper), in seconds; of the last bin also at `upper`."""

    lower: float
    upper: float
    count: int


def histogram(values: Sequence[float], bins: int = BINS) -> tuple[Bin, ...]:
    """The bins of `values`, seconds, over all of their range; none of no values."""
    if not values:
        return ()
    clipped = [max(SHORTEST, value) for value in values]
    low, high = min(clipped), max(clipped)
    if high < low * NARROWEST:
        return (Bin(lower=low, upper=high, count=len(clipped)),)
    step = math.log(high / low) / bins
    counts = [0] * bins
    for value in clipped:
        counts[min(bins - 1, int(math.log(value / low) / step))] += 1
    edges = [low * math.exp(step * number) for number in range(bins)] + [high]
    return tuple(Bin(lower=edges[at], upper=edges[at + 1], count=count) for at, count in enumerate(counts))


def bars(bins: Sequence[Bin], width: int = BAR) -> Iterator[str]:
    """A line a bin: its range, a bar, how many."""
    most = max((one.count for one in bins), default=0)
    for one in bins:
        filled = round(8 * width * one.count / most)
        # A bin that has anything is seen.
        filled = max(filled, 1) if one.count else 0
        drawn = "█" * (filled // 8) + (_EIGHTHS[filled % 8] if filled % 8 else "")
        yield f"{_shown(one.lower):>8} to {_shown(one.upper):<8} {drawn:<{width}} {one.count}"


def _shown(seconds: float) -> str:
    return format_value(float(f"{seconds:.3g}"), "duration")
