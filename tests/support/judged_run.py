"""Verdicts on the estimates of a passing run with one thing changed: what the rules of judge are tested with."""

from __future__ import annotations

from functools import cache
from typing import Any

from simulated_run import OBJECTIVES, SUBJECT, passing_fits, passing_run, stream_spec

from chaosgate.estimate import estimate_run
from chaosgate.judge import judge
from chaosgate.model.result import Estimates, Fits, Verdict
from chaosgate.model.spec import ChaosSpec

RUN = passing_run()


@cache
def passing() -> Estimates:
    return estimate_run(RUN)


def verdict(estimates: Estimates | None = None, **other: Any) -> Verdict:
    given: dict[str, Any] = {
        "spec": RUN.spec,
        "estimates": estimates or passing(),
        "injections": RUN.injections,
        "fits": passing_fits(),
        "subject": SUBJECT,
        "problems": (),
    }
    return judge(**{**given, **other})


def texts(found: Verdict, name: str) -> list[str]:
    return [reason.text for reason in found.reasons if reason.verdict == name]


def objective(name: str, spec: ChaosSpec | None = None, **update: Any) -> Verdict:
    """The verdict when the estimates of one objective are changed."""
    objectives = tuple(
        each.model_copy(update={"estimates": tuple(e.model_copy(update=update) for e in each.estimates)})
        if each.objective == name
        else each
        for each in passing().objectives
    )
    return verdict(passing().model_copy(update={"objectives": objectives}), spec=spec or RUN.spec)


def health(**update: Any) -> Verdict:
    return verdict(passing().model_copy(update={"health": passing().health.model_copy(update=update)}))


def witness(**update: Any) -> Verdict:
    (reading,) = passing().witnesses
    return verdict(passing().model_copy(update={"witnesses": (reading.model_copy(update=update),)}))


def steady(**update: Any) -> Verdict:
    first, *rest = passing().steady_state
    return verdict(passing().model_copy(update={"steady_state": (first.model_copy(update=update), *rest)}))


def injection(**update: Any) -> Verdict:
    return verdict(injections={"block1": RUN.injections["block1"].model_copy(update=update)})


def knee(spec: ChaosSpec | None = None, **update: Any) -> Verdict:
    (fit,) = passing_fits().fits
    changed = fit.model_copy(update={"threshold": fit.threshold.model_copy(update=update)})
    return verdict(fits=Fits(fits=(changed,)), spec=spec or RUN.spec)


def severity(name: str, level: str, on_uncertain: str = "inconclusive", **update: Any) -> ChaosSpec:
    """The spec with one objective at another severity."""
    objectives = tuple({**o, "severity": level, **update} if o["name"] == name else o for o in OBJECTIVES)
    return stream_spec(objectives=objectives, on_uncertain=on_uncertain)
