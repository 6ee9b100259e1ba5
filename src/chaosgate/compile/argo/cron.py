"""A spec with a schedule as the object by which Argo runs it again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from chaosgate.compile.argo.build import build_workflow
from chaosgate.compile.argo.guards import argo_problems
from chaosgate.compile.argo.text import generated, workflow_text
from chaosgate.compile.argo.view import Data, workflow_in
from chaosgate.errors import PlanError, UsageError
from chaosgate.model.carrier import Carrier
from chaosgate.model.cron import check_cron
from chaosgate.model.plan import Plan
from chaosgate.model.spec import ChaosSpec

NAME_LIMIT = 52
"""Characters of a CronWorkflow's name: Argo puts a hyphen and ten digits behind it to name each workflow."""
LATE = 300
"""Seconds by which a run may start late, as after a restart of the controller: at another hour it is another drill."""
KEPT = 5
"""Workflows that stay to be looked at, of those that succeeded and of those that did not."""

CronGuard = Callable[[Data], Iterator[str]]


def compile_argo_cron(plan: Plan, spec: ChaosSpec, carrier: Carrier) -> str:
    """The YAML of an Argo `CronWorkflow` (argoproj.io/v1alpha1, Argo 3.6) that runs `plan` as the spec's schedule says.

    What it runs is what `compile_argo` makes, and errors are as there; a UsageError, too, for a spec without a
    schedule and for a name that is too long for one.
    """
    cron = _cron(build_workflow(plan, spec, carrier), spec)
    problems = argo_cron_problems(cron)
    if problems:
        raise PlanError(f"{plan.name} cannot be scheduled on Argo: {'; '.join(problems)}")
    return workflow_text(generated(plan), cron)


def _cron(workflow: Data, spec: ChaosSpec) -> Data:
    name, schedule = spec.metadata.name, spec.spec.schedule
    if schedule is None:
        raise UsageError(f"{name}: has no schedule; write `schedule: {{cron: 0 3 * * *}}` into the spec")
    if len(name) > NAME_LIMIT:
        raise UsageError(f"{name}: has {len(name)} characters; Argo schedules names of at most {NAME_LIMIT}; rename it")
    metadata = {key: value for key, value in workflow["metadata"].items() if key != "generateName"}
    return {
        "apiVersion": workflow["apiVersion"],
        "kind": "CronWorkflow",
        "metadata": {"name": name, **metadata},
        "spec": {
            "schedules": [schedule.cron],
            "timezone": "UTC",
            "suspend": schedule.suspend,
            "concurrencyPolicy": "Forbid",
            "startingDeadlineSeconds": LATE,
            "successfulJobsHistoryLimit": KEPT,
            "failedJobsHistoryLimit": KEPT,
            "workflowMetadata": {"labels": metadata["labels"]},
            "workflowSpec": workflow["spec"],
        },
    }


def argo_cron_problems(cron: Data) -> list[str]:
    """What keeps `cron` (the data of a compiled YAML) from being scheduled, and its workflow from being run."""
    found = [f"{name}: {problem}" for name, guard in CRON_GUARDS.items() for problem in guard(cron)]
    return [*found, *argo_problems(workflow_in(cron))]


def schedules(cron: Data) -> Iterator[str]:
    """One schedule, in a time zone that every cluster has and no summer moves."""
    found, zone = _spec(cron).get("schedules"), _spec(cron).get("timezone")
    if not isinstance(found, list) or len(found) != 1:
        yield f"schedules are {found!r}; give one"
    else:
        try:
            check_cron(str(found[0]))
        except ValueError as error:
            yield str(error)
    if zone != "UTC":
        yield f"the timezone is {zone!r}; give UTC"


def one_at_a_time(cron: Data) -> Iterator[str]:
    """Two runs at once on one target measure each other."""
    policy = _spec(cron).get("concurrencyPolicy")
    if policy != "Forbid":
        yield f"concurrencyPolicy is {policy!r}; give Forbid"


def punctual(cron: Data) -> Iterator[str]:
    """A run that was missed is not made up for at any hour."""
    late = _spec(cron).get("startingDeadlineSeconds")
    if not isinstance(late, int) or not 0 < late <= LATE:
        yield f"startingDeadlineSeconds is {late!r}; give 1 to {LATE}"


def history(cron: Data) -> Iterator[str]:
    """The last workflows stay, and not all of them."""
    for key in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        kept = _spec(cron).get(key)
        if not isinstance(kept, int) or kept < 1:
            yield f"{key} is {kept!r}; keep at least one"


def names(cron: Data) -> Iterator[str]:
    """Argo refuses to schedule a name that leaves no room for the time."""
    name = cron.get("metadata", {}).get("name", "")
    if not 0 < len(name) <= NAME_LIMIT:
        yield f"the name is {name!r}; give 1 to {NAME_LIMIT} characters"


CRON_GUARDS: dict[str, CronGuard] = {
    "schedules": schedules,
    "one at a time": one_at_a_time,
    "punctual": punctual,
    "history": history,
    "name": names,
}
"""Each by the name that its problems begin with."""


def _spec(cron: Data) -> dict[str, Any]:
    found: dict[str, Any] = cron.get("spec", {})
    return found
