"""How a run stands, as plain data: read from its files and from the processes of this machine.

Who shows it need not know where it comes from.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

from chaosgate.artifacts import (
    RECORDING,
    REPORT,
    SEAL,
    SPEC,
    STATUS,
    VERDICT,
    Artifact,
    Identity,
    read_if_there,
)
from chaosgate.artifacts.documents import read_envelope
from chaosgate.artifacts.files import is_written
from chaosgate.components.aborting import Abort, read_abort
from chaosgate.components.cleanup import sealed
from chaosgate.components.places import known_runs, run_dir, spec_file, step_file
from chaosgate.components.recording import recording_file
from chaosgate.components.sweeper import runner_of
from chaosgate.components.where import is_on_cluster, read_place
from chaosgate.deploy.processes import alive, elsewhere, registered, strays
from chaosgate.errors import ArtifactError
from chaosgate.model.base import Frozen, Line
from chaosgate.model.plan import CLEANUP, CONCLUDE
from chaosgate.model.result import Cleanup, Process, Recording, StatusName, Verdict, VerdictName
from chaosgate.run.journal import JournalPage, Load, StepEntry, SweepPlace, read_journal

RunState = Literal["running", "finished", "interrupted", "unsealed", "elsewhere"]
"""`finished`: it has its verdict; `interrupted`: it was ended before or by a signal, and nothing is left; `unsealed`:
nobody runs it and it is not proved that nothing is left; `elsewhere`: it belongs to another machine or to a cluster."""
StepState = Literal["waiting", "running", "skipped", "lost", "ended", StatusName]
"""`skipped`: the run was over before it started; `lost`: its runner was gone before it ended; `ended`: it leaves no
status but its exit code."""


class RunLine(Frozen):
    """A run in a list. What cannot be read is None."""

    run: str
    spec: Line | None
    """The spec's name."""
    state: RunState
    verdict: VerdictName | None
    started: float
    """Seconds since the epoch."""
    exit_code: int | None
    """The runner's; None while it runs and where it was killed."""


class StepView(Frozen):
    """One step of a run: how it stands, for how many seconds it ran or runs, and what it last told."""

    step: str
    component: str
    state: StepState
    reason: Line | None = None
    seconds: float | None = None
    exit_code: int | None = None
    load: Load | None = None
    sweep: SweepPlace | None = None
    recovering: bool = False


class RunStatus(Frozen):
    """Everything that is known of a run; `problems` says what could not be read."""

    line: RunLine
    steps: tuple[StepView, ...]
    """In the order of the plan."""
    processes: tuple[Process, ...]
    """Those that are alive."""
    verdict: Verdict | None
    abort: Abort | None
    seal: Cleanup | None
    seal_holds: bool
    """Whether it is sealed clean, and the record is still the one that was sealed."""
    recording: Recording | None
    report: str | None
    """The path of the report."""
    problems: tuple[Line, ...]
    cluster: Line | None = None
    """Where on which cluster it is carried; None for a run of this machine's processes."""
    pods: tuple[Line, ...] = ()
    """Its pods that have not ended."""
    reached_by: Line = ""
    """The options that a command on it needs besides its id, such as those that name a cluster."""


def is_settled(folder: Path, run: str) -> bool:
    """Whether the folder tells all that can be known of the run: it is sealed clean, and its runner has ended."""
    sealed_clean = sealed(step_file(folder, CLEANUP, SEAL.file), folder, run) is not None
    return sealed_clean and read_journal(folder).exit_code is not None


def list_runs(state: Path) -> list[RunLine]:
    """Every run in the state directory, the newest first."""
    lines = [read_line(state, run) for run in known_runs(state)]
    return sorted(lines, key=lambda line: (line.started, line.run), reverse=True)


def read_line(state: Path, run: str) -> RunLine:
    """One run in short."""
    folder = run_dir(state.resolve(), run)
    journal = read_journal(folder)
    verdict = read_if_there(step_file(folder, CONCLUDE, VERDICT.file), VERDICT, Identity(run, None))
    return RunLine(
        run=run,
        spec=_spec_name(folder),
        state=_state(folder, run, journal),
        verdict=verdict.verdict if verdict else None,
        started=_started(folder, journal),
        exit_code=journal.exit_code,
    )


def read_status(state: Path, run: str, now: Callable[[], float] = time.time) -> RunStatus:
    """The run in full; it must be one of `known_runs`. Files that cannot be read become problems."""
    folder = run_dir(state.resolve(), run)
    line = read_line(state, run)
    journal = read_journal(folder)
    identity = Identity(run, None)
    report = step_file(folder, CONCLUDE, REPORT.file)
    seal_file = step_file(folder, CLEANUP, SEAL.file)
    return RunStatus(
        line=line,
        steps=tuple(_step(folder, run, entry, line.state == "running", now()) for entry in journal.steps),
        processes=tuple(_alive(folder)),
        verdict=read_if_there(step_file(folder, CONCLUDE, VERDICT.file), VERDICT, identity),
        abort=read_abort(folder),
        seal=read_if_there(seal_file, SEAL, identity),
        seal_holds=sealed(seal_file, folder, run) is not None,
        recording=read_if_there(recording_file(folder), RECORDING, identity),
        report=str(report) if is_written(report) else None,
        problems=tuple(_problems(folder, run, journal)),
        cluster=_cluster(folder),
    )


def _state(folder: Path, run: str, journal: JournalPage) -> RunState:
    runner = runner_of(folder)
    if runner is not None and alive(runner) and journal.exit_code is None:
        return "running"
    if sealed(step_file(folder, CLEANUP, SEAL.file), folder, run) is None:
        away = is_on_cluster(folder) or (runner is not None and elsewhere(runner))
        return "elsewhere" if away else "unsealed"
    concluded = is_written(step_file(folder, CONCLUDE, VERDICT.file))
    ended_early = journal.signal is not None or read_abort(folder) is not None
    return "finished" if concluded and not ended_early else "interrupted"


def _cluster(folder: Path) -> str | None:
    place = read_place(folder)
    return None if place is None else place.sentence()


def _started(folder: Path, journal: JournalPage) -> float:
    """When its first step started; before that, when its spec was written, which is the first thing a run does."""
    times = [entry.started for entry in journal.steps if entry.started is not None]
    return min(times) if times else spec_file(folder).stat().st_mtime


def _spec_name(folder: Path) -> str | None:
    try:
        return str(read_envelope(spec_file(folder), SPEC)["content"]["metadata"]["name"])
    except (ArtifactError, KeyError, TypeError):
        return None


def _step(folder: Path, run: str, entry: StepEntry, running: bool, now: float) -> StepView:
    file = step_file(folder, entry.step, STATUS.file)
    left = read_if_there(file, STATUS, Identity(run, None)) if entry.ended is not None else None
    until = entry.ended if entry.ended is not None else now
    state = left.status if left else _state_of(entry, running)
    known = entry.started is not None and state != "lost"
    return StepView(
        step=entry.step,
        component=entry.component,
        state=state,
        reason=left.reason if left else None,
        seconds=max(0.0, until - entry.started) if known and entry.started is not None else None,
        exit_code=entry.exit_code,
        load=entry.load,
        sweep=entry.sweep,
        recovering=entry.recovering,
    )


def _state_of(entry: StepEntry, running: bool) -> StepState:
    """The state of a step that left no status."""
    if entry.ended is not None:
        return "ended"
    if entry.started is not None:
        return "running" if running else "lost"
    return "waiting" if running else "skipped"


def _alive(folder: Path) -> Iterator[Process]:
    named = [process for process in registered(folder) if alive(process)]
    yield from named
    yield from (process for process in strays(folder) if process.pid not in {known.pid for known in named})


def _problems(folder: Path, run: str, journal: JournalPage) -> Iterator[str]:
    """What is there and cannot be read."""
    if not journal.steps:
        yield f"{folder}: no journal can be read, so nothing is known of its steps"
    files: tuple[tuple[Path, Artifact[Any], Identity | None], ...] = (
        (spec_file(folder), SPEC, None),
        (step_file(folder, CONCLUDE, VERDICT.file), VERDICT, Identity(run, None)),
        (step_file(folder, CLEANUP, SEAL.file), SEAL, Identity(run, None)),
    )
    for file, artifact, identity in files:
        try:
            if is_written(file):
                read_envelope(file, artifact, identity)
        except ArtifactError as error:
            yield str(error)
