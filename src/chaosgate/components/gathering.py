"""What conclude gathers: every file of the run that can be read, and one sentence for each thing that went wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeVar

from chaosgate.artifacts import INJECTION, RECORD, Identity, read_document
from chaosgate.components.definition import Context
from chaosgate.components.inputs import read_endpoint, read_phase, read_statuses, sentence
from chaosgate.errors import ArtifactError
from chaosgate.estimate import PhaseData
from chaosgate.model.observation import TimelineEvent
from chaosgate.model.plan import DEPLOY, phase_of
from chaosgate.model.result import Endpoint, Injection, Record, Status

Item = TypeVar("Item")


@dataclass(frozen=True)
class Gathered:
    """What could be read of a run, and a sentence for each thing that could not."""

    endpoint: Endpoint | None
    opened: Record | None
    """The record as deploy opened it."""
    phases: Mapping[str, PhaseData]
    injections: Mapping[str, Injection]
    problems: tuple[str, ...]

    @property
    def timeline(self) -> tuple[TimelineEvent, ...]:
        """The events of all phases."""
        return tuple(chain.from_iterable(phase.timeline for phase in self.phases.values()))


def gather(context: Context, identity: Identity) -> Gathered:
    """Read every input; what is missing, cut or altered becomes a problem, and so does a step that failed."""
    return Gatherer(context, identity).gather()


class Gatherer:
    """Reads the inputs of conclude. A step that failed is named once: what it did not write is no second problem."""

    def __init__(self, context: Context, identity: Identity) -> None:
        self.context, self.identity = context, identity
        self.statuses = dict(read_statuses(context.inputs["status"], identity))
        failed = {step for step, status in self.statuses.items() if status.status == "failed"}
        declined = {step for step, status in self.statuses.items() if status.status == "declined"}
        # What a step did not write because an earlier one failed is that one's fault alone.
        self.excused = failed | declined if failed else set()
        # A failed inject step is named by judge, from its injection.
        injecting = context.inputs["injection"].keys()
        self.problems = [sentence(step, self.statuses[step]) for step in self.statuses if step in failed - injecting]

    def gather(self) -> Gathered:
        """Everything that could be read."""
        endpoint = self.attempt(DEPLOY, "endpoint", partial(read_endpoint, self.context, self.identity))
        opened = self.attempt(DEPLOY, "record", partial(self.read_record, self.context.input("record")))
        phases = {
            phase_of(step): self.attempt(step, "observations", partial(read_phase, self.context, step, self.identity))
            for step in self.context.inputs["observations"]
        }
        injections = {phase_of(step): self.injection(step) for step in self.context.inputs["injection"]}
        return Gathered(endpoint, opened, present(phases), present(injections), tuple(self.problems))

    def attempt(self, step: str, port: str, read: Callable[[], Item]) -> Item | None:
        """What `read` returns; None, and a problem unless the step is excused, when it cannot be read."""
        try:
            return read()
        except ArtifactError as error:
            if step not in self.excused or self.context.inputs[port][step].exists():
                self.problems.append(str(error))
            return None

    def injection(self, step: str) -> Injection | None:
        """What was injected; the status of the step wins over the one in its file, written before the step ended."""
        found = self.attempt(step, "injection", partial(self.read_injection, self.context.inputs["injection"][step]))
        status = self.statuses.get(step, Status(status="failed", reason=f"{step} left no status behind"))
        if status.status == "ok":
            return found
        return (found or Injection(phase=phase_of(step), status=status)).model_copy(update={"status": status})

    def read_record(self, file: Path) -> Record:
        """The record at `file`."""
        return read_document(file, RECORD, self.identity)

    def read_injection(self, file: Path) -> Injection:
        """The injection at `file`."""
        return read_document(file, INJECTION, self.identity)


def present(found: Mapping[str, Item | None]) -> dict[str, Item]:
    """The entries that are there."""
    return {key: value for key, value in found.items() if value is not None}
