"""A workflow as its API object: which steps it has, how each stands, and what they told.

The names of nodes and phases are those of Argo Workflows 3.7 (`pkg/apis/workflow/v1alpha1/workflow_types.go`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

from pydantic import ValidationError

from chaosgate.components.aborting import Abort
from chaosgate.errors import ClusterError, one_line
from chaosgate.model.plan import Step

Json = dict[str, Any]
StepPhase = Literal["waiting", "starting", "running", "ended", "omitted"]

ABORT = "chaosgate/abort"
"""The annotation that says who aborted the run and why."""
SPEC_LABEL = "chaosgate/spec"
SPEC = "spec"
"""The artifact in the workflow's arguments that carries the spec."""
OVER = ("Succeeded", "Failed", "Error")
"""Phases in which a workflow does nothing more: its exit handler has run, or never will."""
_PHASES: Mapping[str, StepPhase] = {
    "Pending": "starting",
    "Running": "running",
    "Skipped": "omitted",
    "Omitted": "omitted",
    **dict.fromkeys(OVER, "ended"),
}
CRASHED = 1
"""Stands for the exit code of a step that ended badly and told none, such as one whose pod was evicted."""


@dataclass(frozen=True)
class Node:
    """How a step stands. Times are seconds since the epoch; None is what has not happened."""

    phase: StepPhase
    failed: bool = False
    message: str = ""
    started: float | None = None
    ended: float | None = None
    exit_code: int | None = None
    told: Mapping[str, str] | None = None
    """Its output parameters: text by name."""


WAITING = Node("waiting")


class Workflow:
    """A workflow that `compile --to argo` made, as the API server tells it."""

    def __init__(self, data: Json) -> None:
        self.data = data
        self._spec: Json = data.get("spec", {})
        self._status: Json = data.get("status", {})

    @property
    def run(self) -> str:
        """The run that it carries."""
        return str(self.data["metadata"]["name"])

    @property
    def spec_name(self) -> str | None:
        """The name of the spec it runs."""
        found = self.data["metadata"].get("labels", {}).get(SPEC_LABEL)
        return None if found is None else str(found)

    @property
    def created(self) -> float:
        """When it was submitted, in seconds since the epoch."""
        return _time(self.data["metadata"].get("creationTimestamp")) or 0.0

    @property
    def is_seen(self) -> bool:
        """Whether Argo's controller has taken it up."""
        return bool(self._status.get("phase"))

    @property
    def is_over(self) -> bool:
        """Whether it does nothing more."""
        return self._status.get("phase") in OVER

    @property
    def is_stopping(self) -> bool:
        """Whether somebody asked it to end early."""
        return bool(self._spec.get("shutdown"))

    @property
    def message(self) -> str:
        """What Argo says of the whole, in one line."""
        return one_line(str(self._status.get("message", "")))

    @property
    def abort(self) -> Abort | None:
        """Who aborted it and why; an annotation that cannot be read is an abort, too."""
        text = self.data["metadata"].get("annotations", {}).get(ABORT)
        if text is None:
            return None
        try:
            return Abort.model_validate_json(text)
        except ValidationError:
            return Abort(by="somebody", reason=f"the annotation {ABORT} cannot be read", at="unknown")

    @property
    def spec_text(self) -> str:
        """The spec's document that it carries; a ClusterError where there is none."""
        for artifact in self._spec.get("arguments", {}).get("artifacts", []):
            if artifact.get("name") == SPEC and "raw" in artifact:
                return str(artifact["raw"]["data"])
        raise ClusterError(f"workflow {self.run} carries no spec: `chaosgate run --on argo` did not make it")

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Its steps in the order of the plan, the exit handler last; their inputs and arguments are left out."""
        templates = {one["name"]: one for one in self._spec.get("templates", [])}
        graph = templates.get(self._spec.get("entrypoint"), {}).get("dag", {})
        steps = [_step(task["name"], templates.get(task.get("template"), {})) for task in graph.get("tasks", [])]
        handler = str(self._spec.get("onExit"))
        return (*steps, *([_step(handler, templates[handler])] if handler in templates else []))

    def node(self, step: Step) -> Node:
        """How `step` stands."""
        is_last = bool(self.steps) and step.id == self.steps[-1].id
        name = f"{self.run}.{'onExit' if is_last else step.id}"
        found = next((node for node in self._nodes if node.get("name") == name), None)
        return WAITING if found is None else _node(found)

    def told(self) -> Iterator[tuple[str, str, str]]:
        """(step, output, text) of every output parameter that a step has told."""
        for step in self.steps:
            for name, text in (self.node(step).told or {}).items():
                yield step.id, name, text

    @cached_property
    def _nodes(self) -> list[Json]:
        found: dict[str, Json] = self._status.get("nodes") or {}
        return list(found.values())


def _step(name: str, template: Json) -> Step:
    """A step by its template, whose command line names the component; the deadline is Argo's to keep."""
    words = template.get("container", {}).get("args", [])
    return Step(id=name, component=next(iter(words[2:3]), name), deadline=0.0)


def _node(data: Json) -> Node:
    outputs = data.get("outputs", {})
    failed = data.get("phase") in ("Failed", "Error")
    return Node(
        phase=_PHASES.get(data.get("phase", ""), "waiting"),
        failed=failed,
        message=one_line(str(data.get("message", ""))),
        started=_time(data.get("startedAt")),
        ended=_time(data.get("finishedAt")),
        exit_code=_exit_code(outputs.get("exitCode"), failed, data.get("phase") in OVER),
        told={one["name"]: str(one["value"]) for one in outputs.get("parameters", []) if one.get("value")},
    )


def _exit_code(text: Any, failed: bool, ended: bool) -> int | None:
    """The container's exit code; a step that ended badly never counts as 0."""
    code = int(text) if str(text).isdecimal() else None
    if not ended:
        return None
    return (code or CRASHED) if failed else (code or 0)


def _time(text: Any) -> float | None:
    return datetime.fromisoformat(text).timestamp() if text else None
