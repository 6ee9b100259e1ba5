"""A run as test cases: what a consumer that knows nothing but tests is told of each thing that was judged.

passed   it holds
failure  it was measured and is broken: a gate objective's `fail`
error    it is not known whether it holds: `inconclusive` or `error`, or the cleanup is not proved
skipped  it does not gate: a warning, or something that was never judged because the run ended before

Consumers count `skipped` as good, so an inconclusive gate objective must be an error. Among errors and failures the
last case, `verdict`, is one exactly when the run's exit code is not 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from chaosgate.estimate.objectives import objective_fault
from chaosgate.model.result import EXIT_UNCLEAN, Reason, VerdictName, worst
from chaosgate.model.spec import ChaosSpec, DoseRange, Objective
from chaosgate.report.advice import cleanup_sentence
from chaosgate.report.sections import MEANING, sorted_reasons
from chaosgate.report.view import ReportView

Result = Literal["passed", "failure", "error", "skipped"]
RESULTS: dict[VerdictName, Result] = {
    "pass": "passed",
    "warn": "skipped",
    "fail": "failure",
    "inconclusive": "error",
    "error": "error",
}


@dataclass(frozen=True)
class Case:
    """One test case. `group` says what kind of thing was judged; `kind` is the verdict, or why there is none."""

    group: str
    name: str
    result: Result
    kind: str
    lines: tuple[str, ...]
    """What was found, the worst first."""


def cases_of(view: ReportView) -> tuple[Case, ...]:
    """Every case of a run: steady state, objectives, measurement, cleanup, and the verdict last."""
    steady = [case for where in ("baseline", "recovery") for case in _steady_cases(view, where)]
    objectives = [case for objective in view.spec.spec.objectives for case in _objective_cases(view, objective)]
    return (*steady, *objectives, *_other_cases(view), _cleanup_case(view), _verdict_case(view))


def _case(group: str, name: str, reasons: Sequence[Reason]) -> Case:
    if not reasons:
        return Case(group, name, "skipped", "not judged", ("not judged: the verdict says nothing about it",))
    verdict = worst(reasons)
    lines = tuple(f"{reason.verdict}: {reason.text}" for reason in sorted_reasons(tuple(reasons)))
    return Case(group, name, RESULTS[verdict], verdict, lines)


def _steady_cases(view: ReportView, where: str) -> Iterator[Case]:
    """A case for each objective of the steady state: its reasons come in the spec's order or not at all."""
    wanted, reasons = view.spec.spec.steady_state.objectives, _steady_reasons(view, where)
    for index, steady in enumerate(wanted):
        yield _case("steady-state", f"{steady.sli} {steady.bound} at {where}", reasons[index : index + 1])


def _steady_reasons(view: ReportView, where: str) -> list[Reason]:
    found = [reason for reason in view.verdict.reasons if _is_steady(reason) and reason.at == where]
    return found if len(found) == len(view.spec.spec.steady_state.objectives) else []


def _is_steady(reason: Reason) -> bool:
    """Whether it holds a number against a bound of no objective."""
    return reason.objective is None and reason.bound is not None


def _objective_cases(view: ReportView, objective: Objective) -> Iterator[Case]:
    """One case, or one for each dose where the objective judges `each`."""
    group = objective_group(view.spec, objective)
    reasons = [reason for reason in view.verdict.reasons if reason.objective == objective.name]
    if not objective.each or not reasons:
        yield _case(group, objective.name, reasons)
        return
    for at in dict.fromkeys(reason.at for reason in reasons):
        here = [reason for reason in reasons if reason.at == at]
        yield _case(group, objective.name if at is None else f"{objective.name} at {at}", here)


def objective_group(spec: ChaosSpec, objective: Objective) -> str:
    """`fault.NAME` for the fault whose doses or recovery it judges, else where it judges: baseline, recovery or fit."""
    if objective.fit is not None:
        return "fit"
    if isinstance(objective.at, DoseRange) or objective.fault is not None:
        return f"fault.{objective_fault(spec, objective).name}"
    return str(objective.at)


def _other_cases(view: ReportView) -> Iterator[Case]:
    """What rests on no objective: whether the measurement can be trusted, and what stopped the injection of a block."""
    steady = [reason for where in ("baseline", "recovery") for reason in _steady_reasons(view, where)]
    known = {objective.name for objective in view.spec.spec.objectives}
    rest = [reason for reason in view.verdict.reasons if reason.objective not in known and reason not in steady]
    yield _case("run", "measurement", [reason for reason in rest if reason.at is None])
    for at in dict.fromkeys(reason.at for reason in rest if reason.at is not None):
        yield _case("run", f"phase {at}", [reason for reason in rest if reason.at == at])


def _cleanup_case(view: ReportView) -> Case:
    result: Result = "passed" if view.sealed_clean else "error"
    return Case("run", "cleanup", result, "pass" if view.sealed_clean else "unclean", (cleanup_sentence(view),))


def _verdict_case(view: ReportView) -> Case:
    """Red exactly when the exit code is not 0."""
    verdict, code = view.verdict.verdict, view.exit_code
    unclean = code == EXIT_UNCLEAN
    meaning = f"the cleanup is not proved: {cleanup_sentence(view)}" if unclean else MEANING[verdict]
    lines = [f"{verdict}, exit code {code}: {meaning}"]
    lines += [f"{reason.verdict}: {reason.text}" for reason in sorted_reasons(view.verdict.reasons)]
    result: Result = "passed" if code == 0 else "error" if unclean else RESULTS[verdict]
    return Case("run", "verdict", result, "unclean" if unclean else verdict, tuple(lines))
