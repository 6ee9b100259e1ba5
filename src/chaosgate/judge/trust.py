"""The rules that say whether a run can be judged at all: they can only take a verdict down."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from chaosgate.judge.reasons import plain
from chaosgate.model.blocks import sweep_windows
from chaosgate.model.fault import ClusterFault, Fault
from chaosgate.model.observation import MAX_SCHEDULE_DELAY
from chaosgate.model.result import Health, Injection, Reason, WitnessReading
from chaosgate.model.spec import ChaosSpec
from chaosgate.units import format_value


def injection_reasons(spec: ChaosSpec, injections: Mapping[str, Injection]) -> Iterator[Reason]:
    """What became of the injections: failed is an error; declined, halted or with fewer windows is inconclusive."""
    if not injections:
        yield plain("error", "nothing says what was injected; the inject step left no injection.json")
    for phase, injection in injections.items():
        why = injection.status.reason or "no reason was given"
        if injection.status.status == "failed":
            yield plain("error", f"injection failed in {phase}: {why}", at=phase)
        elif injection.status.status == "declined":
            begun = "nothing was injected" if not injection.windows else "not everything was injected"
            yield plain("inconclusive", f"{begun} in {phase}: {why}", at=phase)
        if injection.halted is not None:
            yield plain("inconclusive", f"the run was halted in {phase}: {injection.halted}", at=phase)
    if all(injection.status.status == "ok" for injection in injections.values()):
        yield from _short_sweeps(spec, injections)


def _short_sweeps(spec: ChaosSpec, injections: Mapping[str, Injection]) -> Iterator[Reason]:
    done = Counter((w.fault, w.dose) for injection in injections.values() for w in injection.windows)
    for fault in spec.spec.faults:
        planned = Counter(window.dose for window in sweep_windows(fault, spec.spec.workload.seed, 0))
        short = [
            f"{done[fault.name, dose]} of {windows} at {format_value(dose, fault.axis().dimension)}"
            for dose, windows in sorted(planned.items())
            if done[fault.name, dose] < windows
        ]
        if short:
            yield plain("inconclusive", f"{fault.name}: not every planned window was injected: {', '.join(short)}")


def health_reasons(health: Health) -> Iterator[Reason]:
    """What is wrong with the measurement; one reason says that the client kept its schedule when it did."""
    for problem in health.problems:
        yield plain("error", problem)
    if health.subject_changed is not None:
        yield plain("error", f"the subject changed during the run: {health.subject_changed}")
    for gap in health.gaps:
        yield plain("inconclusive", gap)
    for drift in health.drift:
        yield plain("inconclusive", drift)
    yield _schedule_reason(health.schedule_delay_p99)


def _schedule_reason(delay: float | None) -> Reason:
    limit = format_value(MAX_SCHEDULE_DELAY, "duration")
    if delay is None or not math.isfinite(delay):
        return plain("inconclusive", "the load generator's delay is unknown: no request was measured")
    said = format_value(delay, "duration")
    if delay > MAX_SCHEDULE_DELAY:
        text = (
            f"late load generator: its P99 schedule delay is {said}, {limit} is allowed; give it more CPU or less load"
        )
        return plain("inconclusive", text)
    return plain("pass", f"the load generator kept its schedule: its P99 delay is {said}, {limit} is allowed")


def witness_reasons(spec: ChaosSpec, witnesses: Sequence[WitnessReading]) -> Iterator[Reason]:
    """Each fault must have touched something, been seen by client or API server, and be gone."""
    for fault in spec.spec.faults:
        readings = [reading for reading in witnesses if reading.fault == fault.name]
        if len(readings) != 1:
            yield plain("error", f"{fault.name}: {len(readings)} witness readings; 1 is needed: estimate the run again")
            continue
        yield _witness_reason(spec, fault, readings[0])


def _witness_reason(spec: ChaosSpec, fault: Fault, reading: WitnessReading) -> Reason:
    numbers = (reading.before, reading.during, reading.after)
    before, during, after = (format_value(number, reading.dimension) for number in numbers)
    known = all(number is not None and math.isfinite(number) for number in numbers)
    seen = f"the {reading.what} was {before} before, {during} during and {after} after it"
    if reading.applied > 0 and reading.bitten and reading.gone and known:
        touched = f"{counted(spec, reading)} {'changed' if isinstance(fault, ClusterFault) else 'touched'}"
        more = (*_received(fault, reading), *healing(reading))
        return plain("pass", f"{reading.fault} came and went: {seen} ({'; '.join((touched, *more))})")
    return plain("inconclusive", f"{reading.fault} {reading.reason or f'was not shown to come and go: {seen}'}")


def counted(spec: ChaosSpec, reading: WitnessReading) -> str:
    """How much a fault touched, of what its witness reads: `148 requests`."""
    if isinstance(spec.fault(reading.fault), ClusterFault):
        return f"{reading.applied} objects"
    return f"{reading.applied} {'unguarded ' if spec.spec.unguarded else ''}requests"


def _received(fault: Fault, reading: WitnessReading) -> Iterator[str]:
    """Of a fault that gives each request another part of its dose: the root mean square of what they got."""
    if reading.rms_dose is not None and reading.rms_dose != reading.dose:
        yield f"at an RMS dose of {format_value(reading.rms_dose, fault.axis().dimension)}"


def healing(reading: WitnessReading) -> Iterator[str]:
    """Of a fault of the cluster: how soon its target was whole again, and what broke off meanwhile."""
    if reading.whole_after is not None:
        yield f"as many pods were ready again within {format_value(reading.whole_after, 'duration')}"
    if reading.cut:
        yield f"{reading.cut} answer{'' if reading.cut == 1 else 's'} broke off"
