"""The rank of a quantile, without numpy: one definition for intervals, live numbers and stop conditions."""

from __future__ import annotations

import math
from collections.abc import Iterable


def quantile_of(values: Iterable[float], quantile: float) -> float:
    """The quantile of `values`, in any order, at least one: the one of `quantile_rank`."""
    ordered = sorted(values)
    return ordered[quantile_rank(quantile, len(ordered)) - 1]


def percentile(quantile: float) -> str:
    """A quantile as people name it: `P95`, `P99.9`."""
    return f"P{quantile * 100:.6g}"


def quantile_rank(quantile: float, n: int) -> int:
    """Which of `n` sorted values, counted from 1, is their quantile: the first that so many do not exceed.

    It is the inverse of the distribution function (nearest rank; definition 1 of Hyndman & Fan, The American
    Statistician 50, 1996), so that the quantile is always a value that was seen.
    """
    # Rounded first: 0.07 * 100 is 7.000000000000001 in binary, and its rank is 7.
    return min(n, max(1, math.ceil(round(quantile * n, 9))))
