"""Whether the target changed by itself during a sweep: the last controls against the first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from chaosgate.estimate.breaks import broken_by_window
from chaosgate.estimate.changes import margin_bound
from chaosgate.estimate.measured import Measured, level_of, measure
from chaosgate.estimate.objectives import baseline_estimate, objective_fault
from chaosgate.estimate.windows import RunWindows
from chaosgate.model.blocks import CONTROLS
from chaosgate.model.fit import BreakResponse
from chaosgate.model.observation import Window
from chaosgate.model.sli import SLIS, Sli, resolve_sli
from chaosgate.model.spec import ChaosSpec, DoseRange
from chaosgate.statistics.binomial import clopper_pearson
from chaosgate.statistics.intervals import Group, common_effect
from chaosgate.units import Bound, Dimension, format_value


@dataclass(frozen=True)
class Criterion:
    """Something a sweep of `fault` is judged by: the share of requests that break `bound`, or the SLI itself."""

    fault: str
    name: str
    kind: type[Sli]
    bound: Bound | None
    """None where a fit reads a rate, which is compared itself."""
    by_request: bool = False
    """Whether each request is judged by itself, as a fit does."""

    @property
    def level(self) -> bool:
        """Whether the SLI itself is compared: a rate, or a mean that an objective judges as such."""
        return self.kind.statistic in ("rate", "set") or (self.kind.statistic == "mean" and not self.by_request)


def criteria(spec: ChaosSpec) -> list[Criterion]:
    """What is judged at a dose, by objectives and by fits; each once."""
    found: dict[tuple[str, str, str, bool], Criterion] = {}
    for objective in spec.spec.objectives:
        if objective.sli is not None and objective.bound is not None and isinstance(objective.at, DoseRange):
            fault = objective_fault(spec, objective).name
            kind = resolve_sli(objective.sli).kind
            one = Criterion(fault, objective.sli, kind, objective.bound)
            found[fault, one.name, str(one.bound), one.level] = one
    for fit in spec.spec.fits:
        sli = fit.response.sli
        bound = fit.response.bound if isinstance(fit.response, BreakResponse) else None
        one = Criterion(fit.fault, sli, SLIS.get(sli), bound, by_request=True)
        found[fit.fault, sli, str(bound), one.level] = one
    return list(found.values())


def _changes(spec: ChaosSpec, windows: RunWindows) -> Iterator[Criterion]:
    """What objectives on a change judge at a dose: the bound that it comes to at the baseline's value."""
    for objective in spec.spec.objectives:
        if objective.sli is None or objective.change is None or not isinstance(objective.at, DoseRange):
            continue
        ref, seed = resolve_sli(objective.sli), spec.spec.workload.seed
        baseline = baseline_estimate(objective.sli, windows.baseline, windows.undisturbed, seed).value
        if baseline is not None:
            bound = margin_bound(objective.change, ref.dimension, baseline)
            yield Criterion(objective_fault(spec, objective).name, objective.sli, ref.kind, bound)


def find_drift(spec: ChaosSpec, windows: RunWindows) -> Iterator[str]:
    """One sentence for each criterion by which the share among the last controls differs from that among the first.

    One, too, where the first or the last hold no request that counts: then nobody can tell.
    A rate is compared itself, and so is a mean. They differ when their 95 % intervals do not meet. The design effect is
    pooled over the baseline, the first and the last controls, each with its own mean, so that a drift does not widen
    its own yardstick; the controls between are left out, in which a drift under way would do that. Shares are held to
    have the same variance, that of the share of first and last together: so it is where nothing drifted, and controls
    of which none or all broke the bound, which show no variance by themselves, count as well.
    """
    for criterion in (*criteria(spec), *_changes(spec, windows)):
        controls = windows.controls(criterion.fault)
        if len(controls) < 2 * CONTROLS:
            continue
        ends = (controls[:CONTROLS], controls[-CONTROLS:])
        first, last = _ends(criterion, windows.baseline, ends)
        if first is None or last is None:
            ends_without = " and ".join(name for name, share in (("first", first), ("last", last)) if share is None)
            yield (
                f"{criterion.fault}: nothing tells whether the controls drifted: no request of the {ends_without} "
                f"counts for {criterion.name}"
            )
        elif first[1] > last[2] or last[1] > first[2]:
            yield f"{criterion.fault}: the controls drifted: {_drift(criterion, first, last)}"


_Share = tuple[float, float, float]


def _ends(
    criterion: Criterion, baseline: Sequence[Window], ends: tuple[Sequence[Window], Sequence[Window]]
) -> tuple[_Share | None, _Share | None]:
    """Share, rate or mean of either end, with lower and upper end; None where no request counts."""
    if criterion.level:
        first, last = (_level(criterion.kind, pair, [baseline, *ends]) for pair in ends)
        return first, last
    one, other = (_group(criterion, pair) for pair in ends)
    if one is None or other is None:
        return _alone(one), _alone(other)
    before = _group(criterion, baseline)
    together = Group(np.concatenate([one.hits, other.hits]), np.concatenate([one.counts, other.counts])).share
    groups = [one, other, *([] if before is None else [before])]
    return _interval(one, groups, together), _interval(other, groups, together)


def _alone(group: Group | None) -> _Share | None:
    return None if group is None else _interval(group, [group], group.share)


def _interval(group: Group, groups: Sequence[Group], share: float) -> _Share:
    """The share of `group`, its interval by the design effect of `groups` where all have the same `share`."""
    n = float(group.counts.sum())
    effective = common_effect(groups, share, n / len(group.counts)).effective(n)
    return group.share, *clopper_pearson(group.share * effective, effective)


def _group(criterion: Criterion, windows: Sequence[Window]) -> Group | None:
    assert criterion.bound is not None, "only a rate has no bound, and no share is had of it"
    counts = broken_by_window(criterion.kind, criterion.bound, windows)
    if not counts:
        return None
    hits, n = zip(*counts, strict=True)
    return Group(np.array(hits, dtype=float), np.array(n, dtype=float))


def _level(kind: type[Sli], pair: Sequence[Window], undisturbed: Sequence[Sequence[Window]]) -> _Share | None:
    groups = [_counted(kind, group) for group in (pair, *(group for group in undisturbed if group is not pair))]
    own, *others = groups
    if not any(len(values) for _, values in own):
        return None
    # One window alone has no variance of its own, and says nothing of a mean of one number a window.
    if kind.statistic == "set" and len(own) < 2:
        return None
    return level_of(kind, [own], others)


def _counted(kind: type[Sli], windows: Sequence[Window]) -> Measured:
    """The windows with their values: of a rate all of them, of a mean those in which a request counts."""
    measured = measure(kind, windows)
    return measured if kind.statistic == "rate" else [(window, values) for window, values in measured if len(values)]


def _drift(criterion: Criterion, first: _Share, last: _Share) -> str:
    if criterion.level:
        first_said, last_said = (_said(end, criterion.kind.dimension) for end in (first, last))
        return f"{criterion.name} was {first_said} in the first, {last_said} in the last"
    shares = _said(first, "share"), _said(last, "share")
    return f"{shares[0]} of requests broke {criterion.name} {criterion.bound} in the first, {shares[1]} in the last"


def _said(share: _Share, dimension: Dimension) -> str:
    value, lower, upper = (format_value(number, dimension) for number in share)
    return f"{value} ({lower} to {upper})"
