"""The objectives table as text, printed by page and terminal: baseline, judged dose, recovery of each objective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from chaosgate.model.result import (
    Estimate,
    Estimates,
    FitResult,
    Fits,
    ObjectiveEstimate,
    Reason,
    Verdict,
    VerdictName,
    worst,
)
from chaosgate.model.spec import ChaosSpec, DoseRange, Objective
from chaosgate.units import Dimension, format_value

Judged = Literal["baseline", "dose", "recovery"]
MISSING = "-"


@dataclass(frozen=True)
class Cell:
    """A value with its 95 % interval, formatted with units; `note` says what it rests on or why it is missing."""

    value: str
    interval: str = ""
    note: str = ""

    def __str__(self) -> str:
        return f"{self.value} {self.interval}".strip()


@dataclass(frozen=True)
class ObjectiveRow:
    """One line of the table. `judged` names the cell that was held against `bound`; `verdict` is None if none was."""

    objective: str
    severity: str
    sli: str
    at: str
    baseline: Cell
    dose: Cell
    recovery: Cell
    judged: Judged
    n: str
    bound: str
    verdict: VerdictName | None

    def cell(self) -> Cell:
        """The cell that was judged."""
        cells = {"baseline": self.baseline, "dose": self.dose, "recovery": self.recovery}
        return cells[self.judged]


def objective_rows(
    spec: ChaosSpec, verdict: Verdict, estimates: Estimates | None, fits: Fits | None
) -> tuple[ObjectiveRow, ...]:
    """A row for each objective in the spec's order, or one for each dose where an objective judges `each`."""
    rows: list[ObjectiveRow] = []
    for objective in spec.spec.objectives:
        reasons = [reason for reason in verdict.reasons if reason.objective == objective.name]
        if objective.fit is not None:
            rows.append(_fit_row(objective, fits, reasons))
        else:
            rows.extend(_sli_rows(objective, _estimate_of(objective, estimates), reasons))
    return tuple(rows)


def format_interval(lower: float | None, upper: float | None, dimension: Dimension) -> str:
    """`[98ms, 120ms]`; an end that is open reads `(-inf` or `inf)`, and no ends at all are the empty text."""
    if lower is None and upper is None:
        return ""
    left = "(-inf" if lower is None else f"[{format_value(lower, dimension)}"
    right = "inf)" if upper is None else f"{format_value(upper, dimension)}]"
    return f"{left}, {right}"


def estimate_cell(estimate: Estimate | None) -> Cell:
    """The cell of an estimate; `-` with the reason where there is no number."""
    if estimate is None:
        return Cell(MISSING)
    if estimate.value is None:
        return Cell(MISSING, note=estimate.reason or "")
    interval = format_interval(estimate.lower, estimate.upper, estimate.dimension)
    return Cell(format_value(estimate.value, estimate.dimension), interval, estimate.reason or "")


def _estimate_of(objective: Objective, estimates: Estimates | None) -> ObjectiveEstimate | None:
    known = () if estimates is None else estimates.objectives
    return next((item for item in known if item.objective == objective.name), None)


def _sli_rows(objective: Objective, found: ObjectiveEstimate | None, reasons: Sequence[Reason]) -> list[ObjectiveRow]:
    judged = found.estimates if found is not None else ()
    return [_sli_row(objective, found, estimate, reasons) for estimate in judged or (None,)]


def _sli_row(
    objective: Objective, found: ObjectiveEstimate | None, estimate: Estimate | None, reasons: Sequence[Reason]
) -> ObjectiveRow:
    place: Judged = "dose" if isinstance(objective.at, DoseRange) else (objective.at or "dose")
    cells: dict[Judged, Cell] = {
        "baseline": _compared(found.baseline if found else None),
        "dose": Cell(MISSING),
        "recovery": _compared(found.recovery if found else None),
    }
    cells[place] = estimate_cell(estimate)
    at = _place(objective) if estimate is None else estimate.at
    return ObjectiveRow(
        objective=objective.name,
        severity=objective.severity,
        sli=objective.sli or MISSING,
        at=_judged_on(at, found, estimate),
        baseline=cells["baseline"],
        dose=cells["dose"],
        recovery=cells["recovery"],
        judged=place,
        n=_counts(estimate.n, estimate.windows) if estimate else MISSING,
        bound=str(objective.limit) if objective.change is None else f"change {objective.change}",
        verdict=_verdict_at(at, reasons),
    )


def _compared(estimate: Estimate | None) -> Cell:
    """A cell that is not judged: why its interval is as it is does not matter, only why a number is missing."""
    cell = estimate_cell(estimate)
    return cell if cell.value == MISSING else replace(cell, note="")


def _place(objective: Objective) -> str:
    if not isinstance(objective.at, DoseRange):
        return str(objective.at)
    return "all doses" if objective.at.dose == "all" else f"dose {objective.at.dose}"


def _judged_on(at: str, found: ObjectiveEstimate | None, estimate: Estimate | None) -> str:
    """The place with the fault whose doses are meant, or with the moment from which on a recovery was judged."""
    if found is not None and found.after is not None:
        return f"{at}, from {format_value(round(found.after, 3), 'duration')} on"
    return at if estimate is None or estimate.fault is None else f"{at} of {estimate.fault}"


def _counts(n: int, windows: int) -> str:
    return f"{n}, {windows} window{'' if windows == 1 else 's'}"


def _verdict_at(at: str, reasons: Sequence[Reason]) -> VerdictName | None:
    here = [reason for reason in reasons if reason.at == at]
    return _worst(here or reasons)


def _worst(reasons: Sequence[Reason]) -> VerdictName | None:
    """The verdict of the reasons; None without any, which is not the error that a whole run without reasons is."""
    return worst(reasons) if reasons else None


def _fit_row(objective: Objective, fits: Fits | None, reasons: Sequence[Reason]) -> ObjectiveRow:
    end, bound = ("lower", objective.lower) if objective.lower is not None else ("upper", objective.upper)
    known = () if fits is None else fits.fits
    result = next((fit for fit in known if fit.name == objective.fit), None)
    threshold = result.threshold if result else None
    return ObjectiveRow(
        objective=objective.name,
        severity=objective.severity,
        sli=f"threshold {objective.fit}",
        at=f"{end} end of its interval",
        baseline=Cell(MISSING),
        dose=_threshold_cell(result),
        recovery=Cell(MISSING),
        judged="dose",
        n=_counts(threshold.n, threshold.windows) if threshold else MISSING,
        bound=str(bound),
        verdict=_worst(reasons),
    )


def _threshold_cell(result: FitResult | None) -> Cell:
    """A fitted threshold with its interval; a bracket stands for the value, for within it nothing is known."""
    if result is None:
        return Cell(MISSING)
    threshold = result.threshold
    interval = format_interval(threshold.lower, threshold.upper, result.dimension)
    match threshold.outcome:
        case "fitted":
            return Cell(format_value(threshold.value, result.dimension), interval)
        case "bracketed":
            return Cell(interval, note="bracketed: the doses separate")
        case "refused":
            return Cell(MISSING, note=threshold.reason or "refused")
