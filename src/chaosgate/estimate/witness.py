"""What client or API server saw of each fault: before it, at its largest dose, and after it was gone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from chaosgate.estimate.data import RunData
from chaosgate.estimate.gauges import whole_again, window_values
from chaosgate.estimate.in_time import cluster_windows
from chaosgate.estimate.windows import RunWindows
from chaosgate.model.blocks import CONTROLS, longest_within
from chaosgate.model.fault import AnswerWitness, ClusterFault, EngineFault, Fault, GaugeWitness, Witness
from chaosgate.model.observation import LedgerRow, Observation, Sample, Window
from chaosgate.model.result import WitnessReading
from chaosgate.model.spec import ChaosSpec
from chaosgate.units import Dimension, format_value

CONFIDENCE = 0.95
"""One-sided, of the test that tells an effect from the weather between windows."""
READY = GaugeWitness("number of ready pods", "count", 0.5, "ready", falls=True)
"""Half a pod fewer on average: one that was missing for half of the time."""


@dataclass(frozen=True)
class Look:
    """How a witness is looked at: what a window says, and in which direction its effect goes."""

    what: str
    dimension: Dimension
    values: Callable[[Window], list[float]]
    falls: bool
    unless: str
    seen_by: str
    shown_by: str
    """What shows it, one of them: a request, a reading."""

    def change(self, before: float, after: float) -> float:
        """How far the effect goes from `before` to `after`."""
        return before - after if self.falls else after - before


def read_witness(run: RunData, windows: RunWindows, fault: Fault) -> WitnessReading:
    """The reading of one fault.

    The effect is seen when the mean at the largest dose exceeds that of the first controls by `moved` and, by Welch's
    test on window means (all controls give the undisturbed spread), more than the weather between windows explains. It
    is gone when the mean after it is less than `moved` of the smallest dose above that of the first controls: what is
    left of a large dose would be an effect of a small one. Of a target on a cluster as many pods must be ready, too.
    Where the spec leaves requests unguarded, the client's part is read from these alone: a filter may hide the effect.
    """
    doses = [float(value) for value in fault.dose.values]
    dose, least = max(doses), fault.witness(min(doses))
    witness = fault.witness(dose)
    look = _look(run, fault, witness)
    controls, hit = windows.controls(fault.name), windows.at_doses(fault.name, lambda other: other == dose)
    where, later = _afterwards(run, windows, fault)
    before, during, after = (_mean(look, part) for part in (controls[:CONTROLS], hit, later))
    applied = _applied(run, fault)
    moved = before is not None and during is not None and look.change(before, during) >= witness.moved
    bitten = applied > 0 and moved and _significant(look, _window_means(look, hit), _window_means(look, controls))
    gone = before is not None and after is not None and look.change(before, after) < least.moved
    lacking = _lacking(run, fault, controls[:CONTROLS], later) if gone else None
    reading = WitnessReading(
        fault=fault.name,
        what=look.what,
        dimension=look.dimension,
        dose=dose,
        applied=applied,
        before=before,
        during=during,
        after=after,
        bitten=bitten,
        gone=gone and lacking is None,
        whole_after=_whole_after(run, fault, hit),
        cut=_cut(windows, fault),
        rms_dose=_rms_dose(run, fault, dose),
    )
    return reading.model_copy(update={"reason": _reason(fault, look, witness.moved, reading, where, lacking)})


def _look(run: RunData, fault: Fault, witness: Witness | AnswerWitness | GaugeWitness) -> Look:
    if isinstance(witness, GaugeWitness):
        values: Callable[[Window], list[float]] = partial(window_values, run, fault.name, witness)
        return Look(
            witness.what, witness.dimension, values, witness.falls, witness.unless, "at the API server", "reading"
        )
    values = partial(_values, witness, run.spec)
    what, shown_by = witness.what, "request"
    if run.spec.spec.unguarded:
        what, shown_by = f"{what} among the unguarded requests", "unguarded request"
    return Look(what, witness.dimension, values, False, witness.unless, "by the client", shown_by)


def _afterwards(run: RunData, windows: RunWindows, fault: Fault) -> tuple[str, Sequence[Window]]:
    """Where a fault must be gone: in the recovery once every `within` has passed, for the last fault of its block.

    The sweeps of others lie between an earlier fault and the recovery; its own last controls follow it directly.
    """
    if any(recovery.faults[-1:] == (fault.name,) for recovery in windows.recoveries):
        return "the recovery", windows.recovered(fault.name, longest_within(run.spec))
    controls = windows.controls(fault.name)
    return "its last controls", controls[-CONTROLS:] if len(controls) >= 2 * CONTROLS else ()


def _applied(run: RunData, fault: Fault) -> int:
    if isinstance(fault, ClusterFault):
        return sum(window.applied for window in cluster_windows(run) if window.fault == fault.name and window.dose)
    return len({row.request for row in _touched(run, fault) if row.dose and row.dose > 0})


def _touched(run: RunData, fault: Fault) -> Iterator[LedgerRow]:
    """The rows of the requests that `fault` touched, among those that its witness reads."""
    for phase in run.phases.values():
        for row in phase.ledger:
            read = not run.spec.spec.unguarded or run.spec.unguards(row.request)
            if row.fault == fault.name and row.applied and read:
                yield row


def _lacking(run: RunData, fault: Fault, before: Sequence[Window], after: Sequence[Window]) -> str | None:
    """Of a target on a cluster: that fewer of its pods are ready than before; None where as many are."""
    if not isinstance(fault, ClusterFault):
        return None
    was, now = (_mean(_look(run, fault, READY), part) for part in (before, after))
    if was is None or now is None:
        return "nobody read how many pods of the target were ready"
    return None if was - now < READY.moved else f"of {was:g} pods that were ready before it {now:g} are"


def _whole_after(run: RunData, fault: Fault, hit: Sequence[Window]) -> float | None:
    """The longest time that the target needed in the windows of the largest dose; None where it is not whole at last.

    A window after which the next one struck before the target was whole tells nothing.
    """
    if not isinstance(fault, ClusterFault) or not hit:
        return None
    ends = (*(window.start for window in hit[1:]), math.inf)
    found = [whole_again(run, fault, window, until) for window, until in zip(hit, ends, strict=True)]
    known = [seconds for seconds in found if seconds is not None and math.isfinite(seconds)]
    return None if found[-1] == math.inf else max(known, default=None)


def _cut(windows: RunWindows, fault: Fault) -> int | None:
    if not isinstance(fault, ClusterFault):
        return None
    hit = windows.at_doses(fault.name, lambda dose: dose > 0)
    return sum(_broke_off(sample.observation) for window in hit for sample in (*window.samples, *window.unguarded))


def _broke_off(seen: Observation) -> bool:
    """Whether an answer began and did not end: a server that is ended may still say so in the stream."""
    return seen.first is not None and seen.outcome in ("cut", "error")


def _mean(look: Look, windows: Sequence[Window]) -> float | None:
    values = [value for window in windows for value in look.values(window)]
    mean = math.fsum(values) / len(values) if values else math.nan
    return mean if math.isfinite(mean) else None


def _rms_dose(run: RunData, fault: Fault, dose: float) -> float | None:
    if not isinstance(fault, EngineFault):
        return None
    seed = run.spec.spec.workload.seed
    touched = {row.request for row in _touched(run, fault) if row.dose == dose}
    squares = [fault.received(dose, fault.draw(seed, request)) ** 2 for request in sorted(touched)]
    return math.sqrt(math.fsum(squares) / len(squares)) if squares else None


def _values(witness: Witness | AnswerWitness, spec: ChaosSpec, window: Window) -> list[float]:
    found = (_value(witness, sample) for sample in (window.unguarded if spec.spec.unguarded else window.samples))
    return [value for value in found if value is not None]


def _value(witness: Witness | AnswerWitness, sample: Sample) -> float | None:
    return witness.value(sample) if isinstance(witness, AnswerWitness) else witness.value(sample.observation)


def _window_means(look: Look, windows: Sequence[Window]) -> list[float]:
    return [mean for window in windows if (mean := _mean(look, [window])) is not None]


def _significant(look: Look, during: Sequence[float], controls: Sequence[float]) -> bool:
    """Welch's unequal-variances t-test (Biometrika 34, 1947), one-sided: does `during` differ the way it should?"""
    from scipy.special import stdtrit

    if len(during) < 2 or len(controls) < 2:
        return False
    moved = look.change(float(np.mean(controls)), float(np.mean(during)))
    parts = [float(np.var(means, ddof=1)) / len(means) for means in (during, controls)]
    variance = sum(parts)
    if variance == 0:
        return moved > 0
    freedom = variance**2 / (parts[0] ** 2 / (len(during) - 1) + parts[1] ** 2 / (len(controls) - 1))
    return moved > float(stdtrit(freedom, CONFIDENCE)) * math.sqrt(variance)


def _reason(
    fault: Fault, look: Look, least: float, reading: WitnessReading, where: str, lacking: str | None
) -> str | None:
    """Why the fault cannot be said to have come and gone, None when it can."""

    def said(number: float | None) -> str:
        return format_value(number, look.dimension)

    unless = f"; {look.unless}" if look.unless else ""
    before, during, after = reading.before, reading.during, reading.after
    if reading.applied == 0:
        changed = f"{look.shown_by} of the ledger was changed"
        if isinstance(fault, ClusterFault):
            changed = "object was seen to change"
        return f"touched nothing: no {changed} at a dose above 0{unless}"
    if before is None or during is None or after is None:
        missing = "before" if before is None else "during" if during is None else "after"
        return f"the {look.what} {missing} the fault is unknown: no {look.shown_by} shows it"
    if not reading.bitten:
        return (
            f"was not seen {look.seen_by}: the {look.what} went from {said(before)} to {said(during)}; a "
            f"{'fall' if look.falls else 'rise'} of {said(least)}, above the variation between windows, was "
            f"expected{unless}"
        )
    if lacking is not None:
        return f"has not healed: {lacking} in {where}"
    if not reading.gone:
        return f"is not gone: the {look.what} was {said(before)} before and is {said(after)} in {where}"
    return None
