"""The change of an SLI from the baseline: prompt by prompt where values pair, else as a difference of two estimates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from chaosgate.estimate.known import Asked as Prompt
from chaosgate.estimate.measured import by_prompt
from chaosgate.estimate.numbers import Numbers, estimate
from chaosgate.model.observation import MIN_WINDOWS, Window
from chaosgate.model.result import finite
from chaosgate.model.sli import Sli, SliRef
from chaosgate.statistics.difference import Arm, Difference, difference, relative_difference
from chaosgate.statistics.paired import Asked, Pairs, paired_difference
from chaosgate.units import Bound, Dimension, Margin

Change = Literal["absolute", "relative"]


@dataclass(frozen=True)
class Side:
    """The windows of one side of a comparison, with groups of windows within which nothing was changed on purpose."""

    windows: Sequence[Window]
    alike: Sequence[Sequence[Window]]


def change_of(margin: Margin, dimension: Dimension) -> Change:
    """What a margin limits: `%` of anything but a share are relative to the baseline."""
    return "relative" if margin.dimension == "share" != dimension else "absolute"


def margin_bound(margin: Margin, dimension: Dimension, baseline: float) -> Bound:
    """The bound on the SLI itself that `margin` comes to at a value of the baseline."""
    relative = change_of(margin, dimension) == "relative"
    value = baseline * (1 + margin.value) if relative else baseline + margin.value
    # A baseline is measured: more digits than people read would only be noise in the reports.
    return Bound(margin.op, max(0.0, float(f"{value:.4g}")), dimension)


def change_numbers(ref: SliRef, before: Side, during: Side, change: Change, seed: int) -> Numbers:
    """How `ref` changed from `before`, with its 95 % interval; `n` and `windows` are those of `during`."""
    first, second = (estimate(ref, side.windows, side.alike, seed) for side in (before, during))
    known = change == "absolute" and first.value is not None and second.value is not None
    pairs = pairs_of(ref.kind, before, during) if known and ref.kind.statistic in ("share", "mean") else None
    return changed(ref, first, second, pairs, change, seed)


def changed(ref: SliRef, first: Numbers, second: Numbers, pairs: Pairs | None, change: Change, seed: int) -> Numbers:
    """How `ref` changed from `first` to `second`, of which `pairs` are the values by prompt, where they pair.

    The mean of one number a request changes prompt by prompt, where `paired.Pairs.usable` says so. Whatever else has an
    interval of its own on either side changes by their difference (MOVER, `statistics.difference`).
    """
    pairs = pairs if _has_ends(first) and _has_ends(second) else None
    if pairs is not None:
        found = paired_difference(pairs, ref.kind.statistic == "share", seed)
        ends, freedom = (found.value, found.lower, found.upper), _freedom(first, second)
        return Numbers(*ends, second.n, second.windows, paired=True, freedom=freedom)
    found = (difference if change == "absolute" else relative_difference)(_arm(first), _arm(second))
    return Numbers(
        finite(found.value),
        finite(found.lower),
        finite(found.upper),
        n=second.n,
        windows=second.windows,
        reason=_reason(ref, first, second, found, change),
        unbounded=second.unbounded and not first.unbounded,
        freedom=_freedom(first, second),
    )


def pairs_of(kind: type[Sli], before: Side, during: Side) -> Pairs | None:
    """The values of `kind` by prompt; None where they do not pair, or either side has fewer windows than it needs."""
    numbers: dict[Prompt, int] = {}
    first, second = (_asked(kind, side.windows, numbers) for side in (before, during))
    if first is None or second is None:
        return None
    if min(len(first.values), len(second.values)) < MIN_WINDOWS:
        return None
    judged = {id(window) for window in (*before.windows, *during.windows)}
    groups = ([window for window in group if id(window) not in judged] for group in during.alike)
    # A prompt that was not asked before has nothing to be held against.
    before_too = set(first.all_prompts.tolist())
    known = {prompt: at for prompt, at in numbers.items() if at in before_too}
    alike = [found for group in groups if (found := _asked(kind, group, known, add=False)) is not None]
    pairs = Pairs(first, second, alike)
    return pairs if pairs.usable else None


def _asked(kind: type[Sli], windows: Sequence[Window], numbers: dict[Prompt, int], add: bool = True) -> Asked | None:
    """The prompts, by number, and the values of those of `windows` in which a request counts; None without any."""
    found = [list(_counted(kind, window, numbers, add)) for window in windows]
    filled = [pairs for pairs in found if pairs]
    if not filled:
        return None
    return Asked(
        [np.array([prompt for prompt, _ in pairs]) for pairs in filled],
        [np.array([value for _, value in pairs]) for pairs in filled],
        [window.dose for window, pairs in zip(windows, found, strict=True) if pairs],
    )


def _counted(kind: type[Sli], window: Window, numbers: dict[Prompt, int], add: bool) -> Iterator[tuple[int, float]]:
    for prompt, value in by_prompt(kind, window):
        if add or prompt in numbers:
            yield numbers.setdefault(prompt, len(numbers)), value


def _freedom(first: Numbers, second: Numbers) -> int | None:
    """The fewer degrees of freedom of both sides, of those that have any: they may borrow from the same windows."""
    known = [each.freedom for each in (first, second) if each.freedom]
    return min(known) if known else second.freedom


def _has_ends(numbers: Numbers) -> bool:
    return numbers.value is not None and numbers.lower is not None and numbers.upper is not None


def _arm(numbers: Numbers) -> Arm:
    if numbers.unbounded:
        return Arm(None, math.inf, None)
    return Arm(numbers.value, numbers.lower, numbers.upper)


def _reason(ref: SliRef, first: Numbers, second: Numbers, found: Difference, change: Change) -> str | None:
    """Why a number of the change is missing; None where all are there."""
    if None not in (found.value, found.lower, found.upper):
        return None
    if change == "relative" and first.value is not None and first.value <= 0:
        return f"{ref.name} of the baseline is {first.value:g}: no change is relative to that"
    said: Mapping[str, str | None] = {"baseline": first.reason, "then": second.reason}
    return "; ".join(f"{side}: {reason}" for side, reason in said.items() if reason is not None) or None
