"""What changed for the same prompts: the difference of two sets of windows, prompt by prompt.

Prompts differ more from one another than answers to one prompt do. A request is therefore compared with what its own
prompt had before, and what is left varies less. Requests of a window still share its weather, before and during alike:
windows are the clusters of both.

Sources: Kish, "Survey Sampling" (1965) and Rao, Yung & Hidiroglou, Sankhya A 64 (2002) for the variance of a difference
that is taken stratum by stratum; Bonett & Price, Journal of Educational and Behavioral Statistics 37 (2012) for shares
of pairs; McNemar, Psychometrika 12 (1947); Wilcoxon, Biometrics Bulletin 1 (1945); Hesterberg, The American
Statistician 69 (2015) for the tails of a bootstrap of few clusters.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.binomial import TAIL
from chaosgate.statistics.difference import Difference
from chaosgate.statistics.intervals import OWN_WINDOWS, RESAMPLES, DesignEffect
from chaosgate.statistics.means import Batch, mean_effect
from chaosgate.statistics.unpaired import Tested

Indices = npt.NDArray[np.int64]
ROUNDING = 1e-12
"""What adding up some thousand numbers may lose, as a share of them."""
PAIRED_SHARE = 0.5
"""Less than this share of requests with a prompt that has two answers before, and its noise before is not known."""


@dataclass(frozen=True)
class Asked:
    """Windows: for each its requests' prompts, counted from 0, their values, and the condition that it was under.

    What differs between conditions, such as doses, is no noise between windows.
    """

    prompts: Sequence[Indices]
    values: Sequence[Floats]
    conditions: Sequence[Hashable] = ()
    """One a window; none where all windows were under one."""

    @cached_property
    def all_prompts(self) -> Indices:
        """The prompts of all windows."""
        return np.concatenate(self.prompts)

    @cached_property
    def all_values(self) -> Floats:
        """The values of all windows."""
        return np.concatenate(self.values)

    def counts(self, size: int) -> Floats:
        """How many values each of `size` prompts has."""
        return np.bincount(self.all_prompts, minlength=size).astype(float)

    def windows(self, values: Floats) -> list[Batch]:
        """`values`, one for each of all requests, by window, those under one condition together."""
        found: dict[Hashable, list[Floats]] = {}
        windows = np.split(values, np.cumsum([len(each) for each in self.values])[:-1])
        for condition, window in zip(self.conditions or [None] * len(windows), windows, strict=True):
            found.setdefault(condition, []).append(window)
        return [Batch(group) for group in found.values()]


@dataclass(frozen=True)
class Pairs:
    """What was asked before, and again during, with what else was asked of windows that are alike during."""

    before: Asked
    during: Asked
    alike: Sequence[Asked] = ()

    @cached_property
    def size(self) -> int:
        """One more than the largest prompt."""
        groups = (self.before, self.during, *self.alike)
        return 1 + max(int(group.all_prompts.max()) for group in groups)

    @property
    def usable(self) -> bool:
        """Whether every prompt was asked before, and PAIRED_SHARE of the requests have one that was asked twice."""
        asked = self.before.counts(self.size)[self.during.all_prompts]
        return bool((asked > 0).all()) and float((asked > 1).mean()) >= PAIRED_SHARE

    @cached_property
    def references(self) -> Floats:
        """The mean of each prompt before; 0 of one that was not asked."""
        sums = np.bincount(self.before.all_prompts, weights=self.before.all_values, minlength=self.size)
        return np.asarray(sums / np.maximum(self.before.counts(self.size), 1.0))

    def changes(self, group: Asked) -> Floats:
        """Each request of `group` less the mean of its prompt before."""
        means = self.references[group.all_prompts]
        with np.errstate(invalid="ignore"):
            changes = group.all_values - means
            # The mean of equal values is off by a rounding, which is no change and must have no rank.
            return np.where(np.abs(changes) <= ROUNDING * np.abs(means), 0.0, changes)

    @cached_property
    def groups(self) -> list[Batch]:
        """The changes of what is alike, by group."""
        return [batch for group in self.alike for batch in group.windows(_finite(self.changes(group)))]

    @cached_property
    def residuals(self) -> Floats:
        """What each request before adds to the error of the reference, so that their mean is that error.

        A prompt weighs what it weighs during. A residual from the mean of k is too small by (k - 1) / k; of prompts
        asked once, which have none, the others stand in by their weight.
        """
        asked = self.before.counts(self.size)
        weights = self.during.counts(self.size) / len(self.during.all_values)
        known = np.where(asked > 1, weights, 0.0)
        weights = known / known.sum() if known.sum() else known
        scale = weights / np.maximum(asked, 1) * np.sqrt(asked / np.maximum(asked - 1, 1))
        with np.errstate(invalid="ignore"):
            return np.asarray(self.changes(self.before) * scale[self.before.all_prompts] * len(self.before.all_values))


def paired_difference(pairs: Pairs, shares: bool, seed: int) -> Difference:
    """The mean change of a request against its prompt before, with its 95 % interval; `shares` are of zeros and ones.

    Both arms add their variance: that of independent requests times the design effect between windows, as for the
    interval of a share. For shares one imagined pair that changed for the better and one for the worse are added to
    either arm (Bonett & Price), so that no change at all among few requests is not taken for none. From OWN_WINDOWS
    windows in both arms on it is never narrower than the window bootstrap.
    """
    changes = pairs.changes(pairs.during)
    value = float(changes.mean())
    squared = sum(_variance(arm, pairs.groups, 2.0 if shares else 0.0) for arm in _arms(pairs, changes))
    half = _normal() * math.sqrt(squared)
    lower, upper = value - half, value + half
    if min(len(pairs.before.values), len(pairs.during.values)) >= OWN_WINDOWS:
        low, high = paired_bootstrap(pairs, seed)
        lower, upper = min(lower, low), max(upper, high)
    return Difference(value, max(lower, -1.0), min(upper, 1.0)) if shares else Difference(value, lower, upper)


def mcnemar(pairs: Pairs) -> Tested:
    """Whether zeros and ones changed more one way than the other, windows being clusters; the statistic is Student's.

    Without any design effect and with the same answers before each time it is McNemar's (b - c) / sqrt(b + c).
    """
    return _score(pairs, pairs.changes(pairs.during))


def wilcoxon(pairs: Pairs) -> Tested:
    """Whether values rose more than they fell, by the signed ranks of their changes; the statistic is Student's.

    An infinite value is the largest change; a prompt that had one before is left out. The means before are taken to be
    as noisy as the requests during.
    """
    from scipy.stats import rankdata

    changes = pairs.changes(pairs.during)
    changes = np.where(np.isnan(changes) | (changes == -np.inf), 0.0, changes)
    ranks = np.where(changes == 0, 0.0, rankdata(np.abs(changes)) - float((changes == 0).sum()))
    return _score(pairs, np.sign(changes) * ranks, equal_noise=True)


def paired_bootstrap(pairs: Pairs, seed: int) -> tuple[float, float]:
    """The expanded percentile interval of the change when whole windows are drawn again, before and during by itself.

    A prompt that no window drawn holds before is left out of that draw. The tails are those of `intervals.bootstrap`.
    """
    from scipy.special import ndtr, stdtrit

    random = np.random.default_rng(seed)
    before, during = (_draws(group, pairs.size, random) for group in (pairs.before, pairs.during))
    known = before[1] > 0
    weights = np.where(known, during[1], 0.0)
    changes = np.where(known, during[0] - during[1] * before[0] / np.where(known, before[1], 1.0), 0.0)
    drawn = changes.sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
    windows = len(pairs.before.values) + len(pairs.during.values)
    tail = float(ndtr(-math.sqrt(windows / (windows - 2)) * stdtrit(windows - 2, 1 - TAIL)))
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return float(low), float(high)


def _draws(group: Asked, size: int, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Of every draw the sum and the number of each prompt's values."""
    windows = zip(group.prompts, group.values, strict=True)
    sums = [np.bincount(prompts, weights=values, minlength=size) for prompts, values in windows]
    counts = [np.bincount(at, minlength=size) for at in group.prompts]
    m = len(sums)
    times = random.multinomial(m, np.full(m, 1 / m), size=RESAMPLES // 5)
    return (times @ np.array(sums)).astype(np.float64), (times @ np.array(counts)).astype(np.float64)


def _arms(pairs: Pairs, changes: Floats) -> list[list[Batch]]:
    """The two arms' parts of the error."""
    return [pairs.during.windows(changes), pairs.before.windows(pairs.residuals)]


def _variance(own: Sequence[Batch], alike: Sequence[Batch], imagined: float) -> float:
    """The variance of the mean of `own`, its design effect borrowed where it has few windows.

    So many `imagined` changes, one half up and one half down by 1, are added.
    """
    n = sum(float(batch.counts.sum()) for batch in own)
    mean = sum(float(batch.sums.sum()) for batch in own) / n
    squares = sum(batch.squares for batch in own) + imagined * (1 + n * mean**2 / (n + imagined))
    return squares / (n + imagined) ** 2 * n / _effect(own, alike).effective(n)


def _effect(own: Sequence[Batch], alike: Sequence[Batch]) -> DesignEffect:
    windows = sum(len(batch.windows) for batch in own)
    alone = windows >= OWN_WINDOWS and any(batch.squares > 0 for batch in own)
    n = sum(float(batch.counts.sum()) for batch in own)
    return mean_effect(own if alone else [*own, *alike], n / windows)


def _score(pairs: Pairs, numbers: Floats, equal_noise: bool = False) -> Tested:
    """The mean of `numbers` over its error where nothing changed; the error of the reference is added.

    The statistic is Student's on the degrees of freedom of Satterthwaite (Biometrics Bulletin 2, 1946), by which both
    errors are known, but no more than either has, since both may borrow from the same windows. The normal tail would be
    too small far out, where probabilities adjusted for many tests are read.
    """
    from scipy.special import ndtr, stdtr

    square = float((numbers**2).mean())
    if square == 0:
        return Tested(0.0, 1.0)
    residuals = _finite(pairs.residuals)
    noise = square if equal_noise else float((residuals**2).mean())
    sides = (square, pairs.during.windows(numbers)), (noise, pairs.before.windows(residuals))
    errors = [_error(size, own, pairs.groups) for size, own in sides]
    variance = sum(error for error, _ in errors)
    score = float(numbers.mean()) / math.sqrt(variance)
    spread = sum(error**2 / freedom for error, freedom in errors if freedom)
    most = max(freedom for _, freedom in errors)
    tail = float(stdtr(min(variance**2 / spread, most), -abs(score)) if spread else ndtr(-abs(score)))
    return Tested(score, min(1.0, 2 * tail))


def _error(square: float, own: Sequence[Batch], alike: Sequence[Batch]) -> tuple[float, int]:
    """The variance of the mean of values whose mean square is `square`, and its degrees of freedom; 0 where exact."""
    effect = _effect(own, alike)
    return square / sum(float(batch.counts.sum()) for batch in own) * effect.value, effect.freedom


def _finite(values: Floats) -> Floats:
    """Infinite values as the largest finite one: how values cluster is asked, and one infinite would hide the rest."""
    known = np.abs(values[np.isfinite(values)])
    most = float(known.max()) if len(known) else 1.0
    return np.clip(np.nan_to_num(values, nan=0.0), -most, most)


def _normal() -> float:
    from scipy.special import ndtri

    return float(ndtri(1 - TAIL))
