"""The 95 % interval of a rate: amounts that come in windows of known length, such as requests or tokens a second.

What comes in a window varies more, or less, than independent events of a Poisson process: requests share their
window's weather, and a load that is sent at a constant rate hardly varies at all. So the variance is taken as a
multiple of the mean, quasi-Poisson, and the multiple is estimated between windows.

Sources: McCullagh & Nelder, "Generalized Linear Models" (1989), sections 4.5 and 6.2, for the dispersion by Pearson's
X^2; Barker, The American Statistician 56 (2002), for the score interval of a Poisson mean, which has an upper end
where nothing came at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.binomial import TAIL
from chaosgate.statistics.intervals import OWN_WINDOWS

TELLING = 5
"""With fewer events a window, their variance is not taken as less than that of independent ones: a few windows with
one event each agree by chance. Five is the smallest expected count of Cochran (Biometrics 10, 1954)."""


@dataclass(frozen=True)
class Amounts:
    """Windows under one condition: the sum of what came in each, and how long each was in seconds, above 0."""

    sums: Floats
    lengths: Floats

    @property
    def rate(self) -> float:
        """A second, over all windows."""
        return float(self.sums.sum() / self.lengths.sum())


def dispersion(groups: Sequence[Amounts]) -> tuple[float, int]:
    """Variance over mean, each group around its own rate, and the degrees of freedom behind it.

    Pearson's X^2, the sum of (sum - rate * length)^2 / (rate * length), over its degrees of freedom, windows less
    groups. In the unit of the amounts: 1 for independent events. A group of one window, or in which nothing came, says
    nothing; without any other it is 1 on 0 degrees of freedom.
    """
    chi2, freedom = 0.0, 0
    for group in groups:
        if len(group.sums) < 2 or group.rate == 0:
            continue
        expected = group.rate * group.lengths
        chi2 += float(((group.sums - expected) ** 2 / expected).sum())
        freedom += len(group.sums) - 1
    return (chi2 / freedom if freedom else 1.0), freedom


def rate_interval(
    strata: Sequence[Amounts], borrowed: Sequence[Amounts], events: float, size: float = 1.0
) -> tuple[float, float]:
    """The interval of the rate over all windows of `strata`; `borrowed` are groups alike.

    `events` is how many requests gave anything, `size` how much of the amount independent ones bring at once: their
    squares' sum over their sum. The dispersion is that of the windows themselves; of fewer than OWN_WINDOWS, or where
    nothing came, it is pooled with the borrowed groups.
    """
    from scipy.special import ndtri, stdtrit

    windows = sum(len(group.sums) for group in strata)
    total = sum(float(group.sums.sum()) for group in strata)
    seconds = sum(float(group.lengths.sum()) for group in strata)
    alone = windows >= OWN_WINDOWS and total > 0
    spread, freedom = dispersion(strata if alone else [*strata, *borrowed])
    if events < TELLING * windows:
        spread = max(spread, size)
    student = float(stdtrit(freedom, 1 - TAIL) if freedom else ndtri(1 - TAIL))
    lower, upper = score_interval(total, spread * student**2)
    return lower / seconds, upper / seconds


def score_interval(total: float, width: float) -> tuple[float, float]:
    """The means m for which (total - m)^2 <= width * m; `width` is dispersion times the squared quantile."""
    middle, half = total + width / 2, math.sqrt(width * total + width**2 / 4)
    return max(0.0, middle - half), middle + half
