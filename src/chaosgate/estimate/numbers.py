"""One SLI over a set of windows, as a value with its 95 % interval or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chaosgate.estimate.measured import Measured, level_of, measure, pooled_values, whole_answers
from chaosgate.model.observation import MIN_WINDOWS, Window
from chaosgate.model.result import finite
from chaosgate.model.scorer import why_unscored
from chaosgate.model.sli import SliRef
from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.intervals import OWN_WINDOWS, Group, needed, share_interval
from chaosgate.statistics.quantiles import RankedValues
from chaosgate.statistics.ranks import percentile, quantile_rank


@dataclass(frozen=True)
class Numbers:
    """An SLI's value with its 95 % interval, in base units.

    `n` values count, of requests in `windows` windows that hold any; of most SLIs a request has one. None stands for a
    number that does not exist or is infinite; `reason` then says why. Only an upper or only a lower end may be missing:
    the interval is open on that side. `unbounded` says that even the lower end is infinite: so many requests failed
    that no bound from above is kept.
    """

    value: float | None
    lower: float | None
    upper: float | None
    n: int
    windows: int
    reason: str | None = None
    unbounded: bool = False
    paired: bool = False
    """Of a change: whether it was taken prompt by prompt."""
    freedom: int | None = None
    """Degrees of freedom behind the interval: 0 where it is that of independent requests, None where there is none."""


def estimate(ref: SliRef, windows: Sequence[Window], alike: Sequence[Sequence[Window]] = (), seed: int = 0) -> Numbers:
    """The estimate of `ref` over all of `windows` together; the same for the same arguments.

    A quantile is that of the adjusted view: a request that failed is infinitely slow, so that a service which gives up
    on its slow requests looks no faster for it. Requests that do not count at all must not hide either: a window in
    which none counts leaves no interval.
    Windows at different doses are different strata: what differs between doses is no noise between windows.
    `alike` are groups of windows within which nothing was changed on purpose (baseline, controls, other doses); the
    design effect is pooled with theirs, for shares where `windows` are fewer than 6. A window that is judged is left
    out of them.
    A rate is taken over the windows' length: a request counts in the window in which it arrived, whenever it ended, and
    a window in which nothing arrived is no gap in the data but a rate of 0.
    Of an SLI of the statistic `set`, `n` counts the whole answers of the windows that have a number.
    """
    measured = measure(ref.kind, windows)
    if ref.kind.statistic == "rate":
        return _rate(ref, measured, alike)
    measured = [(window, values) for window, values in measured if len(values)]
    pooled = pooled_values(measured)
    blocker = _blocker(ref, pooled, len(measured), len(windows))
    if blocker is None:
        lent = _lent(ref, windows, alike)
        found = _with_interval(ref, measured, pooled, lent, seed)
        return replace(found, freedom=_freedom(ref, _strata(measured), lent))
    value = _value(ref, pooled)
    if value is None and len(pooled) and _are_numbers(ref, pooled):
        blocker = f"{_failures(ref, pooled)}; {blocker}"
    return Numbers(value, None, None, _counted(ref, measured), len(measured), blocker)


def _with_interval(ref: SliRef, measured: Measured, pooled: Floats, lent: Sequence[Measured], seed: int) -> Numbers:
    strata = _strata(measured)
    if ref.kind.statistic in ("mean", "set"):
        value, lower, upper = level_of(ref.kind, strata, lent)
        return Numbers(value, lower, upper, _counted(ref, measured), len(measured))
    own, borrowed = ([[values for _, values in group] for group in groups] for groups in (strata, lent))
    if ref.quantile is not None:
        return _quantile(ref, ref.quantile, pooled, own, borrowed)
    lower, upper = share_interval([_hits(stratum) for stratum in own], [_hits(group) for group in borrowed], seed)
    return Numbers(_value(ref, pooled), lower, upper, len(pooled), len(measured))


def _freedom(ref: SliRef, strata: Sequence[Measured], lent: Sequence[Measured]) -> int:
    """The windows less the groups that tell of the variance between windows; those lent, where they are counted in.

    A group whose values are all the same tells nothing, unless windows are compared by how much is in them.
    """
    own, borrowed = (
        sum(len(group) - 1 for group in groups if ref.kind.statistic in ("rate", "set") or _varies(group))
        for groups in (strata, lent)
    )
    alone = ref.quantile is None and sum(map(len, strata)) >= OWN_WINDOWS and own > 0
    return own if alone else own + borrowed


def _varies(group: Measured) -> bool:
    values = pooled_values(group)
    return bool(values[0] < values[-1])


def _counted(ref: SliRef, measured: Measured) -> int:
    """How many values there are; of a kind with one a window, how many whole answers are behind them."""
    if ref.kind.statistic == "set":
        return sum(whole_answers(window) for window, _ in measured)
    return sum(len(values) for _, values in measured)


def _strata(measured: Measured) -> Sequence[Measured]:
    """The windows by condition; all in one when a condition has a single window, which has no variance of its own."""
    strata: dict[Hashable, list[tuple[Window, Floats]]] = {}
    for window, values in measured:
        strata.setdefault((window.phase, window.place, window.fault, window.dose), []).append((window, values))
    return list(strata.values()) if all(len(stratum) > 1 for stratum in strata.values()) else [measured]


def _lent(ref: SliRef, judged: Sequence[Window], alike: Sequence[Sequence[Window]]) -> list[Measured]:
    """The windows alike in which any request counts, by group."""
    groups = [[(window, values) for window, values in each if len(values)] for each in _others(ref, judged, alike)]
    return [group for group in groups if group]


def _others(ref: SliRef, judged: Sequence[Window], alike: Sequence[Sequence[Window]]) -> Iterator[Measured]:
    """The windows alike that are not judged themselves and whose values can be counted with, by group."""
    known = {_identity(window) for window in judged}
    for group in alike:
        others = measure(ref.kind, (window for window in group if _identity(window) not in known))
        yield [(window, values) for window, values in others if _are_numbers(ref, values)]


def _identity(window: Window) -> Hashable:
    return window.phase, window.place, window.fault, window.index, window.start


def _are_numbers(ref: SliRef, values: Floats) -> bool:
    """Whether all `values` can be: finite, or +inf for the requests that failed where a quantile is asked for."""
    return bool((np.isfinite(values) if ref.quantile is None else values > -np.inf).all())


def _value(ref: SliRef, pooled: Floats) -> float | None:
    """The quantile or the mean of the sorted values; None when there are none, some are no numbers, or it is inf."""
    if not len(pooled) or not _are_numbers(ref, pooled):
        return None
    if ref.quantile is None:
        return float(pooled.mean())
    return finite(float(pooled[quantile_rank(ref.quantile, len(pooled)) - 1]))


def _blocker(ref: SliRef, pooled: Floats, filled: int, windows: int) -> str | None:
    """Why `pooled` has no interval at all, None when it has one."""
    wrong = _wrong_values(ref, pooled)
    if wrong is not None:
        return wrong
    if not len(pooled) or filled < max(MIN_WINDOWS, windows):
        return _missing(ref, filled, windows)
    if ref.quantile is not None and len(pooled) < needed(ref.quantile):
        return f"n = {len(pooled)} of {needed(ref.quantile)} needed for a {percentile(ref.quantile)}"
    return None


def _wrong_values(ref: SliRef, pooled: Floats) -> str | None:
    """Which values no SLI of its statistic may give, None where there are none."""
    if not _are_numbers(ref, pooled):
        return f"{ref.name} gave a value that is not finite; an SLI gives a number or None"
    if ref.kind.statistic == "share" and not np.isin(pooled, (0.0, 1.0)).all():
        return f"{ref.name} gave a value other than 0 and 1; a share is the mean of zeros and ones"
    if ref.kind.statistic in ("mean", "set") and ref.dimension == "share" and not _within_one(pooled):
        return f"{ref.name} gave a value outside 0 to 1; a share lies between them"
    return None


def _within_one(values: Floats) -> bool:
    return bool(((values >= 0) & (values <= 1)).all())


def _missing(ref: SliRef, filled: int, windows: int) -> str:
    """In which windows nothing counts."""
    of_set = ref.kind.statistic == "set"
    if not filled and (unscored := why_unscored(ref.kind.scorer)):
        return unscored
    if not filled and not of_set:
        return f"no request counts for {ref.name} in {windows} windows"
    if filled < MIN_WINDOWS:
        what = f"hold answers enough for {ref.name}" if of_set else f"hold a request that counts for {ref.name}"
        return f"{filled} of {MIN_WINDOWS} windows needed {what}"
    what = f"hold too few answers for {ref.name}" if of_set else f"hold no request that counts for {ref.name}"
    return f"{windows - filled} of {windows} windows {what}"


def _hits(group: Sequence[Floats]) -> Group:
    """How many values of each window are 1."""
    return Group(
        np.array([float(values.sum()) for values in group]), np.array([float(len(values)) for values in group])
    )


def _quantile(
    ref: SliRef,
    quantile: float,
    pooled: Floats,
    strata: Sequence[Sequence[Floats]],
    borrowed: Sequence[Sequence[Floats]],
) -> Numbers:
    ranked = RankedValues(strata, borrowed, pooled)
    lower, upper = ranked.lower(quantile), ranked.upper(quantile)
    windows = sum(len(stratum) for stratum in strata)
    value, unbounded = ranked.value(quantile), lower == math.inf
    said = [
        _failures(ref, pooled) if math.inf in (value, lower, upper) else None,
        _open_end(quantile, ranked, lower, upper),
    ]
    reason = "; ".join(each for each in said if each is not None) or None
    return Numbers(finite(value), finite(lower), finite(upper), ranked.n, windows, reason, unbounded)


def _rate(ref: SliRef, measured: Measured, alike: Sequence[Sequence[Window]]) -> Numbers:
    pooled = pooled_values(measured)
    filled = sum(len(values) > 0 for _, values in measured)
    blocker = _rate_blocker(ref, pooled, len(measured))
    if blocker is not None:
        return Numbers(None, None, None, len(pooled), filled, blocker)
    borrowed = [group for group in _others(ref, [window for window, _ in measured], alike) if group]
    strata = _strata(measured)
    value, lower, upper = level_of(ref.kind, strata, borrowed)
    return Numbers(value, lower, upper, len(pooled), filled, freedom=_freedom(ref, strata, borrowed))


def _rate_blocker(ref: SliRef, pooled: Floats, windows: int) -> str | None:
    """Why there is no rate, None when there is one."""
    if not len(pooled):
        return f"no request counts for {ref.name} in {windows} windows"
    if not (np.isfinite(pooled) & (pooled >= 0)).all():
        return f"{ref.name} gave a value that is negative or not finite; a rate adds up amounts"
    if windows < MIN_WINDOWS:
        return f"{windows} of {MIN_WINDOWS} windows needed for {ref.name}"
    return None


def _failures(ref: SliRef, pooled: Floats) -> str:
    counted, failed = ref.kind.counted, f"{np.isinf(pooled).sum()} of {len(pooled)}"
    if counted == "requests":
        return f"{failed} requests failed and count as infinitely slow"
    return f"{failed} {counted} are of requests that failed and count as infinitely slow"


def _open_end(quantile: float, ranked: RankedValues, lower: float | None, upper: float | None) -> str | None:
    """Why an end was not found; an end that was found and is infinite is none of these."""
    missing = [name for name, end in (("lower", lower), ("upper", upper)) if end is None]
    if not missing:
        return None
    effect = ranked.effect(1 if missing == ["lower"] else ranked.n)
    return (
        f"n_eff = {math.floor(effect.effective(ranked.n))} of {needed(quantile)} needed for the "
        f"{' and '.join(missing)} end of a {percentile(quantile)}: n = {ranked.n}, design effect {effect.value:.2f} "
        f"on {effect.freedom} degrees of freedom"
    )
