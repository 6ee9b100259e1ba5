"""What conclude gathers: every file of the run that can be read, and one sentence for each thing that went wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeVar

from chaosgate.artifacts import INJECTION, RECORD, Identity, read_document
from chaosgate.artifacts.files import is_written
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
        self.statuses = dict(read_statuses(context.gathered["status"], identity))
        failed = {step for step, status in self.statuses.items() if status.status == "failed"}
        declined = {step for step, status in self.statuses.items() if status.status == "declined"}
        # What a step did not write because an earlier one failed is that one's fault alone.
        self.excused = failed | declined if failed else set()
        # A failed inject step is named by judge, from its injection.
        injecting = context.gathered["injection"].keys()
        self.problems = [sentence(step, self.statuses[step]) for step in self.statuses if step in failed - injecting]

    def gather(self) -> Gathered:
        """Everything that could be read."""
        inputs, gathered = self.context.inputs, self.context.gathered
        endpoint = self.attempt(DEPLOY, inputs["endpoint"], partial(read_endpoint, self.context, self.identity))
        opened = self.attempt(DEPLOY, inputs["record"], partial(self.read_record, inputs["record"]))
        phases = {phase_of(step): self.phase(step) for step in gathered["observations"]}
        injections = {phase_of(step): self.injection(step, file) for step, file in gathered["injection"].items()}
        return Gathered(endpoint, opened, present(phases), present(injections), tuple(self.problems))

    def attempt(self, step: str, file: Path, read: Callable[[], Item]) -> Item | None:
        """What `read` returns; None, and a problem unless `step` is excused and wrote no `file`, when it cannot."""
        try:
            return read()
        except ArtifactError as error:
            if step not in self.excused or is_written(file):
                self.problems.append(str(error))
            return None

    def phase(self, step: str) -> PhaseData | None:
        """What one measure step saw."""
        files = {port: found[step] for port, found in self.context.gathered.items() if step in found}
        read = partial(read_phase, phase_of(step), files, self.identity)
        return self.attempt(step, files["observations"], read)

    def injection(self, step: str, file: Path) -> Injection | None:
        """What was injected; the status of the step wins over the one in its file, written before the step ended."""
        found = self.attempt(step, file, partial(self.read_injection, file))
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
