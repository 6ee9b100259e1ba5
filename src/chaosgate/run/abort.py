"""Abort a local run: every fault off at once, then its steps end, and it is cleaned up and sealed with the reason."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaosgate.artifacts import SEAL, SPEC, VERDICT, Identity, read_document, read_if_there
from chaosgate.artifacts.files import is_written
from chaosgate.components import cleanup
from chaosgate.components.aborting import Abort, write_abort
from chaosgate.components.definition import Context
from chaosgate.components.places import run_dir, spec_file, step_file
from chaosgate.components.recording import record_file
from chaosgate.components.sweeper import runner_of
from chaosgate.deploy.processes import alive, ask_to_end, elsewhere
from chaosgate.errors import ArtifactError, ChaosgateError, UsageError
from chaosgate.model.plan import CLEANUP, CONCLUDE
from chaosgate.model.result import EXIT_UNCLEAN, Cleanup, Process, Verdict
from chaosgate.planner import make_plan
from chaosgate.run.journal import read_journal
from chaosgate.run.local import Listeners, LocalCarrier

WAIT = 180.0
"""Seconds a runner has to end: those that its steps, conclude and cleanup may take together."""
POLL = 0.1
"""Seconds between two looks at the runner."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Aborted:
    """How an abort ended. `abort` is None for a run that was over before, `seal` where none can be read."""

    run: str
    abort: Abort | None
    verdict: Verdict | None
    seal: Cleanup | None

    @property
    def exit_code(self) -> int:
        """0 when the run is over and nothing is left, EXIT_UNCLEAN when that is not proved."""
        return 0 if self.seal is not None and self.seal.clean else EXIT_UNCLEAN

    def to_json(self) -> dict[str, Any]:
        """The same for machines."""
        return {
            "run": self.run,
            "abort": self.abort.to_json() if self.abort else None,
            "verdict": self.verdict.verdict if self.verdict else None,
            "cleanup": self.seal.to_json() if self.seal else None,
            "exitCode": self.exit_code,
        }


def abort_run(state: Path, run: str, abort: Abort, say: Say, wait: float = WAIT) -> Aborted:
    """End the run and return once it is sealed, `wait` seconds after its runner was asked to end at the latest.

    `say` is told what happens. May be called again, and for a run that is over: then it changes nothing. A run whose
    runner is gone is cleaned up from here. A UsageError for a run that belongs to another machine.
    """
    state = state.resolve()
    folder = run_dir(state, run)
    if _sealed(folder, run) is not None:
        return _result(folder, run, None)
    runner = runner_of(folder)
    if runner is not None and elsewhere(runner):
        raise UsageError(f"{run}: runs on {runner.place.host}; abort it there")
    noted = _note(folder, abort, say)
    say(noted.sentence())
    for line in _halt(folder, run, noted):
        say(line)
    if runner is not None and ask_to_end(runner):
        say(f"asked the runner (process {runner.pid}) to end")
        _watch(folder, runner, say, wait)
    if runner is None or not alive(runner):
        _finish(state, folder, run, say)
    return _result(folder, run, noted)


def _note(folder: Path, abort: Abort, say: Say) -> Abort:
    """The abort that stands. Where it cannot be written, as on a full disk, the run is ended all the same."""
    try:
        return write_abort(folder, abort)
    except ArtifactError as error:
        say(str(error))
        return abort


def _sealed(folder: Path, run: str) -> Cleanup | None:
    return cleanup.sealed(_seal_file(folder), folder, run)


def _seal_file(folder: Path) -> Path:
    return step_file(folder, CLEANUP, SEAL.file)


def _result(folder: Path, run: str, abort: Abort | None) -> Aborted:
    identity = Identity(run, None)
    verdict = read_if_there(step_file(folder, CONCLUDE, VERDICT.file), VERDICT, identity)
    return Aborted(run, abort, verdict, _sealed(folder, run) or _unclean(folder, identity))


def _unclean(folder: Path, identity: Identity) -> Cleanup | None:
    """The seal that says what is left; one that calls clean what it no longer covers proves nothing."""
    found = read_if_there(_seal_file(folder), SEAL, identity)
    return found if found is not None and not found.clean else None


def _halt(folder: Path, run: str, abort: Abort) -> list[str]:
    """Take every fault off before anything else; what is not proved here is for cleanup to prove."""
    done, unproved = asyncio.run(cleanup.halt_gateway(folder, run, abort.sentence()))
    return [*done, *unproved]


def _watch(folder: Path, runner: Process, say: Say, wait: float) -> None:
    """Say how each step ends until the runner has ended."""
    deadline = time.monotonic() + wait
    said = {entry.step for entry in read_journal(folder).steps if entry.ended is not None}
    while True:
        gone = not alive(runner)
        for entry in read_journal(folder).steps:
            if entry.ended is not None and entry.step not in said:
                said.add(entry.step)
                say(f"{entry.step} ended")
        if gone:
            return
        if time.monotonic() >= deadline:
            say(f"the runner (process {runner.pid}) has not ended within {wait:.0f} s")
            return
        time.sleep(POLL)


def _finish(state: Path, folder: Path, run: str, say: Say) -> None:
    """Do what no runner is left to do: clean up, conclude, and seal the record that says who aborted the run."""
    if _sealed(folder, run) is None:
        say("the runner is gone; cleaning up")
        cleanup.seal(_context(state, folder, run))
    if _sealed(folder, run) is not None and not _has_verdict(folder):
        if record_file(folder) is not None:
            conclude_aborted(state, folder, run, say)
        cleanup.seal(_context(state, folder, run))


def _context(state: Path, folder: Path, run: str) -> Context:
    return Context(run, state, {}, {}, {"cleanup": _seal_file(folder)})


def _has_verdict(folder: Path) -> bool:
    return is_written(step_file(folder, CONCLUDE, VERDICT.file))


def conclude_aborted(state: Path, folder: Path, run: str, say: Say) -> None:
    """Give an aborted run its verdict, unless it has one. Where its spec cannot be read there is none, and the record
    stays as it was opened."""
    try:
        spec = read_document(spec_file(folder), SPEC)
        plan = make_plan(spec)
    except ChaosgateError as error:
        say(f"no verdict: {error}")
        return
    LocalCarrier(plan, Identity(run, spec.digest()), state, folder, Listeners()).conclude_aborted()
