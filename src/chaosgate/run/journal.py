"""The journal of a run: which step runs since when, how each ended and what it last told, for who looks on.

It is one small file in the run's folder that only who carries or follows the run writes. It is no result: nothing is
judged by it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from chaosgate.artifacts.files import read_whole, write_whole
from chaosgate.errors import ArtifactError
from chaosgate.model.base import Frozen, Line
from chaosgate.model.plan import Plan, Step
from chaosgate.units import Dimension

FILE = "journal.json"
EVERY = 1.0
"""Seconds between two writings of what the steps tell; their starts and ends are written at once."""

Model = TypeVar("Model", bound=Frozen)


class Load(Frozen):
    """The live numbers of a phase, as its measure step tells them; TTFT and errors are those of the last seconds.

    A number that is missing is not known yet.
    """

    elapsed: float
    requests: int
    ttft_p99: float | None
    error_rate: float | None


class SweepPlace(Frozen):
    """Where a sweep is, as its inject step tells it: window `window` (from 0) of `of`; dose 0 is a control."""

    fault: Line
    dose: float
    dimension: Dimension
    window: int
    of: int


class StepEntry(Frozen):
    """What is known of one step. Times are seconds since the epoch; None is what has not happened."""

    step: str
    component: str
    started: float | None = None
    ended: float | None = None
    exit_code: int | None = None
    load: Load | None = None
    sweep: SweepPlace | None = None
    recovering: bool = False
    """Whether its sweep is over and the recovery is watched."""


class JournalPage(Frozen):
    """The whole file: the steps in the order of the plan, and at the end how the runner ended."""

    steps: tuple[StepEntry, ...]
    signal: int | None = None
    """The signal that ended the run early."""
    exit_code: int | None = None
    """The runner's exit code, None while it runs, and for ever where it was killed."""


class Journal:
    """A listener that keeps the journal of `plan` in the run's `folder`.

    Where it cannot be written, as on a full disk, the run goes on without it.
    """

    def __init__(self, folder: Path, plan: Plan, clock: Callable[[], float] = time.time) -> None:
        self._file = folder / FILE
        self._clock = clock
        self._entries = {
            step.id: StepEntry(step=step.id, component=step.component) for step in (*plan.steps, plan.finally_)
        }
        self._written = 0.0

    def started(self, step: Step) -> None:
        """Note when the step started."""
        self._change(step, started=self._clock())
        self._write()

    def progress(self, step: Step, told: Mapping[str, Any]) -> None:
        """Note the last numbers and window the step told; what cannot be read is left out."""
        self._change(step, **news(told))
        # A clock that somebody sets back does not silence the journal.
        if not 0 <= self._clock() - self._written < EVERY:
            self._write()

    def ended(self, step: Step, exit_code: int) -> None:
        """Note when and how the step ended."""
        self._change(step, ended=self._clock(), exit_code=exit_code)
        self._write()

    def close(self, signal: int | None, exit_code: int) -> None:
        """Note how the runner ends."""
        self._write(signal=signal, exit_code=exit_code)

    def _change(self, step: Step, **fields: Any) -> None:
        known = self._entries.get(step.id, StepEntry(step=step.id, component=step.component))
        self._entries[step.id] = known.model_copy(update=fields)

    def _write(self, **end: Any) -> None:
        self._written = self._clock()
        with contextlib.suppress(ArtifactError):
            write_journal(self._file.parent, JournalPage(steps=tuple(self._entries.values()), **end))


def write_journal(folder: Path, page: JournalPage) -> None:
    """Replace the journal of the run in `folder`; an ArtifactError when it cannot be written."""
    write_whole(folder / FILE, page.model_dump_json(indent=1).encode())


def read_journal(folder: Path) -> JournalPage:
    """The journal of the run in `folder`; an empty one where there is none that can be read."""
    try:
        return JournalPage.model_validate_json(read_whole(folder / FILE))
    except (ArtifactError, ValidationError):
        return JournalPage(steps=())


def news(told: Mapping[str, Any]) -> dict[str, Any]:
    """What a progress line changes in the entry of its step, by field; nothing for one that tells nothing kept."""
    match told.get("event"):
        case "load":
            return {"load": _read(Load, told)}
        case "window":
            return {"sweep": _read(SweepPlace, told)}
        case "recovery":
            return {"recovering": True}
    return {}


def _read(model: type[Model], told: Mapping[str, Any]) -> Model | None:
    """What a step told as `model`; a stranger's component may tell anything."""
    try:
        return model.model_validate({name: told.get(name) for name in model.model_fields})
    except ValidationError:
        return None
