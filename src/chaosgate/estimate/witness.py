"""What the client saw of each fault: before it, at its largest dose, and after it was gone."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from chaosgate.estimate.data import RunData
from chaosgate.estimate.windows import RunWindows
from chaosgate.model.blocks import CONTROLS, longest_within
from chaosgate.model.fault import Fault, Witness
from chaosgate.model.observation import Window
from chaosgate.model.result import WitnessReading
from chaosgate.units import format_value

CONFIDENCE = 0.95
"""One-sided, of the test that tells an effect from the weather between windows."""


def read_witness(run: RunData, windows: RunWindows, fault: Fault) -> WitnessReading:
    """The reading of one fault.

    The effect is seen when the mean at the largest dose exceeds that of the first controls by `moved` and, by Welch's
    test on window means (all controls give the undisturbed spread), more than the weather between windows explains. It
    is gone when the mean after it is less than `moved` of the smallest dose above that of the first controls: what is
    left of a large dose would be an effect of a small one.
    """
    doses = [float(value) for value in fault.dose.values]
    dose, least = max(doses), fault.witness(min(doses))
    witness = fault.witness(dose)
    controls, hit = windows.controls(fault.name), windows.at_doses(fault.name, lambda other: other == dose)
    before, during = _mean(witness, controls[:CONTROLS]), _mean(witness, hit)
    where, later = _afterwards(run, windows, fault)
    after = _mean(witness, later)
    applied = _applied(run, fault.name)
    moved = before is not None and during is not None and during - before >= witness.moved
    bitten = applied > 0 and moved and _significant(_window_means(witness, hit), _window_means(witness, controls))
    gone = before is not None and after is not None and after - before < least.moved
    return WitnessReading(
        fault=fault.name,
        what=witness.what,
        dimension=witness.dimension,
        dose=dose,
        applied=applied,
        before=before,
        during=during,
        after=after,
        bitten=bitten,
        gone=gone,
        reason=_reason(witness, applied, before, during, after, bitten, gone, where),
    )


def _afterwards(run: RunData, windows: RunWindows, fault: Fault) -> tuple[str, Sequence[Window]]:
    """Where a fault must be gone: in the recovery once every `within` has passed, for the last fault of its block.

    The sweeps of others lie between an earlier fault and the recovery; its own last controls follow it directly.
    """
    if any(recovery.faults[-1:] == (fault.name,) for recovery in windows.recoveries):
        return "the recovery", windows.recovered(fault.name, longest_within(run.spec))
    controls = windows.controls(fault.name)
    return "its last controls", controls[-CONTROLS:] if len(controls) >= 2 * CONTROLS else ()


def _applied(run: RunData, fault: str) -> int:
    rows = (row for phase in run.phases.values() for row in phase.ledger)
    return len({row.request for row in rows if row.fault == fault and row.applied and row.dose and row.dose > 0})


def _mean(witness: Witness, windows: Sequence[Window]) -> float | None:
    values = [value for window in windows for value in _values(witness, window)]
    mean = math.fsum(values) / len(values) if values else math.nan
    return mean if math.isfinite(mean) else None


def _values(witness: Witness, window: Window) -> list[float]:
    found = (witness.value(sample.observation) for sample in window.samples)
    return [value for value in found if value is not None]


def _window_means(witness: Witness, windows: Sequence[Window]) -> list[float]:
    return [mean for window in windows if (mean := _mean(witness, [window])) is not None]


def _significant(during: Sequence[float], controls: Sequence[float]) -> bool:
    """Welch's unequal-variances t-test (Biometrika 34, 1947), one-sided: is the mean of `during` the larger one?"""
    from scipy.special import stdtrit

    if len(during) < 2 or len(controls) < 2:
        return False
    rise = float(np.mean(during) - np.mean(controls))
    parts = [float(np.var(means, ddof=1)) / len(means) for means in (during, controls)]
    variance = sum(parts)
    if variance == 0:
        return rise > 0
    freedom = variance**2 / (parts[0] ** 2 / (len(during) - 1) + parts[1] ** 2 / (len(controls) - 1))
    return rise > float(stdtrit(freedom, CONFIDENCE)) * math.sqrt(variance)


def _reason(
    witness: Witness,
    applied: int,
    before: float | None,
    during: float | None,
    after: float | None,
    bitten: bool,
    gone: bool,
    where: str,
) -> str | None:
    """Why the fault cannot be said to have come and gone, None when it can."""

    def said(number: float | None) -> str:
        return format_value(number, witness.dimension)

    if applied == 0:
        return "touched nothing: no request of the ledger was changed at a dose above 0"
    if before is None or during is None or after is None:
        missing = "before" if before is None else "during" if during is None else "after"
        return f"the {witness.what} {missing} the fault is unknown: no request shows it"
    if not bitten:
        return (
            f"was not seen by the client: the {witness.what} went from {said(before)} to {said(during)}; "
            f"a rise of {said(witness.moved)}, above the variation between windows, was expected"
        )
    if not gone:
        return f"is not gone: the {witness.what} was {said(before)} before and is {said(after)} in {where}"
    return None
