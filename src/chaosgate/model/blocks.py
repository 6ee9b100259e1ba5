"""The blocks of load a spec asks for: baseline, sweeps with controls, recovery. The same for every carrier."""

from __future__ import annotations

import math
from collections.abc import Sequence

from chaosgate.draws import shuffled
from chaosgate.model.fault import Fault
from chaosgate.model.observation import MIN_WINDOWS
from chaosgate.model.plan import Block, PlannedWindow
from chaosgate.model.spec import ChaosSpec

BASELINE = "baseline"
"""The phase before anything is injected."""
CONTROLS = 2
"""Control windows first, between and last of each sweep."""
SETTLE = 0.2
"""Seconds after a change in which requests in flight still show the state before it."""
RECOVERY_WINDOWS = MIN_WINDOWS + 1
"""Windows of recovery that are judged once `within` has passed: one to spare, so that no single noisy one decides."""


def make_blocks(spec: ChaosSpec) -> tuple[Block, ...]:
    """The blocks of `spec`, in order: one for all of its faults, with unbroken load."""
    return (make_block(spec, "block1", spec.spec.faults),)


def planned_length(spec: ChaosSpec) -> float:
    """Seconds of load over all phases."""
    return baseline_length(spec) + sum(block.length for block in make_blocks(spec))


def baseline_length(spec: ChaosSpec) -> float:
    """Seconds of load in the baseline, warm-up and settling included."""
    return baseline_warmup(spec) + spec.spec.steady_state.windows * spec.spec.steady_state.hold


def baseline_warmup(spec: ChaosSpec) -> float:
    """Seconds of the baseline before its windows: the warm-up, and the time that answers have to become steady."""
    semantic = spec.spec.steady_state.semantic
    return spec.spec.workload.warmup + (semantic.within if semantic is not None else 0.0)


def make_block(spec: ChaosSpec, phase: str, faults: Sequence[Fault]) -> Block:
    """One block with the sweeps of `faults` one after the other, and the recovery after the last."""
    windows: list[PlannedWindow] = []
    for fault in faults:
        windows += sweep_windows(fault, spec.spec.workload.seed, len(windows))
    hold = faults[-1].dose.hold
    recovered = recovery_windows(spec, hold)
    recovery = SETTLE + recovered * hold
    injected = sum(_window_length(spec, window) for window in windows)
    return Block(
        phase=phase,
        faults=tuple(fault.name for fault in faults),
        windows=tuple(windows),
        recovery=recovery,
        recovery_windows=recovered,
        length=injected + recovery,
    )


def sweep_windows(fault: Fault, seed: int, first: int) -> list[PlannedWindow]:
    """The windows of one sweep in the order they are injected, numbered from `first`.

    Each dose has its replicates in seeded random order, so that a slow drift of the target does not look like a dose
    effect; controls at dose 0 stand first, between and last.
    """
    doses = [float(dose) for dose in fault.dose.values for _ in range(fault.dose.windows)]
    order = [doses[index] for index in shuffled(list(range(len(doses))), seed, fault.name)]
    half = (len(order) + 1) // 2
    controls = [0.0] * CONTROLS
    sequence = [*controls, *order[:half], *controls, *order[half:], *controls]
    return [PlannedWindow(fault=fault.name, index=first + number, dose=dose) for number, dose in enumerate(sequence)]


def recovery_windows(spec: ChaosSpec, hold: float) -> int:
    """How many windows of `hold` seconds are observed after the sweep: the longest `within`, then those to judge."""
    return math.ceil(longest_within(spec) / hold - 1e-9) + RECOVERY_WINDOWS


def longest_within(spec: ChaosSpec) -> float:
    """Seconds after the last `off` from which on everything must be back: the longest `within`, 0 without any."""
    return max((objective.within or 0.0 for objective in spec.spec.objectives), default=0.0)


def _window_length(spec: ChaosSpec, window: PlannedWindow) -> float:
    dose = spec.fault(window.fault).dose
    return dose.hold + dose.washout
