"""The exact interval of a share, for shares of requests wherever they are judged."""

from __future__ import annotations

import math

LEVEL = 0.95
"""The level of every interval: 95 %, two-sided."""
TAIL = (1 - LEVEL) / 2
"""What may lie beyond either end."""


def clopper_pearson(hits: float, n: float) -> tuple[float, float]:
    """The 95 % interval of `hits` of `n`, both of which need not be whole: an effective sample size is not.

    Clopper & Pearson (1934) by quantiles of the beta distribution. It never covers less than 95 %, also at a share of 0
    or 1, where a Wald or bootstrap interval is a point; it covers a little more where hits are few.
    """
    from scipy.special import betaincinv

    if not (math.isfinite(n) and 0 <= hits <= n and n > 0):
        raise ValueError(f"read {hits} of {n}; hits lie between 0 and n, and n is above 0")
    lower = 0.0 if hits == 0 else float(betaincinv(hits, n - hits + 1, TAIL))
    upper = 1.0 if hits == n else float(betaincinv(hits + 1, n - hits, 1 - TAIL))
    return lower, upper
