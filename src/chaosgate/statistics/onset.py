"""The dose from which on more requests break: its profile likelihood, over curves with a floor and a rise.

Every curve is a sum of shapes that the onset and the width of the rise fix, times levels. For given onset and width the
log likelihood is concave in the levels, and self-concordant, being a sum of logarithms of linear functions: Newton's
method finds its maximum (Nesterov & Nemirovskii, "Interior-Point Polynomial Algorithms", 1994). Width and onset are
tried on grids, since the likelihood has kinks where an onset passes a dose and may have several maxima there (Muggeo,
Statistics in Medicine 22, 2003).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.likelihood import Counts, flat_deviance, saturated_loss

TINY = 1e-9
"""No share of a curve is closer to 0 or 1: at either the likelihood of a stray request would be 0."""
ONSETS = 16
"""Onsets that are tried between two doses."""
WIDTHS = 20
REFINED = 9
"""Widths tried around the best of the grid, and around the best of these."""
WIDTH_RANGE = (0.02, 8.0)
"""The least and the greatest width of a rise, in ranges of doses: a step between two of many doses, and nearly flat."""
STEPS = 16
"""Newton steps at most; nearly all curves need fewer."""
CONVERGED = 1e-6
"""The most that another step would add to a log likelihood; an interval allows 1.92."""

Shape = Callable[[Floats], tuple[Floats, Floats]]
"""From how many widths a dose lies beyond the onset, to what its two levels are multiplied by."""


def linear_rise(beyond: Floats) -> tuple[Floats, Floats]:
    """A floor, a straight rise over one width, a ceiling: the hockey stick of Yanagimoto & Yamamoto (Environmental
    Health Perspectives 32, 1979), with a ceiling."""
    risen = np.clip(beyond, 0.0, 1.0)
    return 1.0 - risen, risen


def exponential_rise(beyond: Floats) -> tuple[Floats, Floats]:
    """A floor times e^(beyond), beyond the onset: error rate = floor * exp((load - onset) / width).

    What is beyond e^30 is no share; the second level does not exist.
    """
    return np.exp(np.clip(beyond, 0.0, 30.0)), np.zeros_like(beyond)


@dataclass(frozen=True)
class OnsetCurve:
    """A curve by its onset, the width of its rise and its levels."""

    shape: Shape
    onset: float
    width: float
    levels: tuple[float, float]

    def breaks(self, doses: Floats) -> Floats:
        """The share that breaks at each dose."""
        first, second = self.shape((doses - self.onset) / self.width)
        return np.clip(self.levels[0] * first + self.levels[1] * second, TINY, 1 - TINY)


@dataclass(frozen=True)
class OnsetProfile:
    """The deviance of the likeliest curve at each of rising `onsets`, with its width and levels."""

    shape: Shape
    onsets: Floats
    deviances: Floats
    widths: Floats
    levels: Floats

    @property
    def least(self) -> float:
        """The deviance of the likeliest of all."""
        return float(self.deviances.min())

    def flat(self, tolerance: float) -> tuple[float, float]:
        """The onsets between which the deviance stays within `tolerance` of the least."""
        within = self.onsets[self.deviances <= self.least + tolerance]
        return float(within[0]), float(within[-1])

    def best(self) -> OnsetCurve:
        """The likeliest curve."""
        index = int(self.deviances.argmin())
        first, second = (float(level) for level in self.levels[index])
        return OnsetCurve(self.shape, float(self.onsets[index]), float(self.widths[index]), (first, second))

    def within(self, cut: float) -> tuple[float | None, float | None]:
        """The least and the greatest onset whose deviance is at most `cut`; None where that is the first or last one.

        Between two onsets of the grid the deviance is taken as a straight line.
        """
        inside = np.flatnonzero(self.deviances <= cut)
        first, last = int(inside[0]), int(inside[-1])
        lower = None if first == 0 else self._between(first - 1, first, cut)
        return lower, None if last == len(self.onsets) - 1 else self._between(last + 1, last, cut)

    def _between(self, outside: int, inside: int, cut: float) -> float:
        out, in_ = self.deviances[outside], self.deviances[inside]
        part = (cut - in_) / (out - in_) if np.isfinite(out) else 0.0
        return float(self.onsets[inside] + part * (self.onsets[outside] - self.onsets[inside]))


def onset_profile(total: Counts, shape: Shape) -> OnsetProfile:
    """The profile over the range of doses; `total` has one entry a dose. Curves that fall count as flat ones."""
    onsets = _onsets(total.doses)
    range_ = float(np.ptp(total.doses))
    grid = np.geomspace(*WIDTH_RANGE, WIDTHS)
    widths = np.broadcast_to(grid * range_, (len(onsets), WIDTHS))
    ratio = grid[1] / grid[0]
    best = _best(total, shape, onsets, widths)
    for _ in range(2):
        widths = best[1][:, np.newaxis] * ratio ** np.linspace(-1, 1, REFINED)
        best = _best(total, shape, onsets, widths)
        ratio **= 2 / (REFINED - 1)
    return OnsetProfile(shape, onsets, *best)


def _onsets(doses: Floats) -> Floats:
    """The doses, and ONSETS in each gap between two of them."""
    parts = [np.linspace(low, high, ONSETS + 1, endpoint=False) for low, high in pairwise(doses)]
    return np.concatenate([*parts, doses[-1:]])


def _best(total: Counts, shape: Shape, onsets: Floats, widths: Floats) -> tuple[Floats, Floats, Floats]:
    """Of each onset the least deviance over its `widths`, with that width and its levels."""
    beyond = (total.doses - onsets[:, np.newaxis, np.newaxis]) / widths[..., np.newaxis]
    shapes = np.stack(shape(beyond), axis=-2)
    losses, levels = _most_likely_levels(total, shapes)
    falls = (levels[..., 1] < levels[..., 0]) & (shapes[..., 1, :].max(axis=-1) > 0)
    deviances = np.where(falls, flat_deviance(total), 2 * (losses - saturated_loss(total)))
    index = deviances.argmin(axis=1)
    rows = np.arange(len(onsets))
    return deviances[rows, index], widths[rows, index], levels[rows, index]


def _most_likely_levels(total: Counts, shapes: Floats) -> tuple[Floats, Floats]:
    """The least negative log likelihood over levels within 0 and what keeps shares below 1, and these levels.

    Projected Newton steps (Bertsekas, SIAM Journal on Control and Optimization 20, 1982): a level at its border that
    would leave it stays. A step is damped by 1 / (1 + decrement), which a self-concordant function needs.
    """
    most = (1 - TINY) / np.maximum(shapes.max(axis=-1), 1.0)
    # Each level alone by least squares: near the end where shares are small, which is where Newton begins slowly.
    levels = (shapes * total.broken).sum(axis=-1) / np.maximum((shapes**2 * total.n).sum(axis=-1), TINY)
    levels = np.clip(levels, TINY, most)
    least, found = np.full(shapes.shape[:-2], np.inf), levels
    for _ in range(STEPS):
        loss, slope, curvature = _derivatives(total, shapes, levels)
        better = loss < least
        least, found = np.where(better, loss, least), np.where(better[..., np.newaxis], levels, found)
        step = _step(levels, most, slope, curvature)
        if np.abs(step * slope).max() < CONVERGED:
            break
        levels = np.clip(levels - step, TINY, most)
    return least, found


def _derivatives(total: Counts, shapes: Floats, levels: Floats) -> tuple[Floats, Floats, Floats]:
    """The negative log likelihood by the levels: itself, its gradient, and the Hessian's entries 00, 11 and 01."""
    breaks = np.clip((levels[..., np.newaxis] * shapes).sum(axis=-2), TINY, 1 - TINY)
    meets, met = 1 - breaks, total.n - total.broken
    loss = -(total.broken * np.log(breaks) + met * np.log(meets)).sum(axis=-1)
    slope = -(shapes * (total.broken / breaks - met / meets)[..., np.newaxis, :]).sum(axis=-1)
    weights = total.broken / breaks**2 + met / meets**2
    first, second = shapes[..., 0, :], shapes[..., 1, :]
    pairs = ((first, first), (second, second), (first, second))
    return loss, slope, np.stack([(weights * one * other).sum(axis=-1) for one, other in pairs], axis=-1)


def _step(levels: Floats, most: Floats, slope: Floats, curvature: Floats) -> Floats:
    free = ~(((levels <= TINY) & (slope > 0)) | ((levels >= most) & (slope < 0)))
    slope = np.where(free, slope, 0.0)
    own = np.where(free, curvature[..., :2], 1.0) + TINY
    cross = np.where(free.all(axis=-1), curvature[..., 2], 0.0)
    determinant = np.maximum(own[..., 0] * own[..., 1] - cross**2, TINY)
    newton = np.stack(
        [own[..., 1] * slope[..., 0] - cross * slope[..., 1], own[..., 0] * slope[..., 1] - cross * slope[..., 0]],
        axis=-1,
    )
    newton /= determinant[..., np.newaxis]
    decrement = np.sqrt(np.maximum((newton * slope).sum(axis=-1), 0.0))
    damped: Floats = newton / np.where(decrement < 0.25, 1.0, 1 + decrement)[..., np.newaxis]
    return damped
