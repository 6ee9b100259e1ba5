"""A run on Argo from the command line: submitted, followed as a run of this machine is, brought to its outcome."""

from __future__ import annotations

import contextlib
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from chaosgate.artifacts import SEAL
from chaosgate.artifacts.files import is_written
from chaosgate.cli.there import There
from chaosgate.components.aborting import write_abort
from chaosgate.components.places import step_file
from chaosgate.deploy.processes import log_file
from chaosgate.errors import ArtifactError, ClusterError
from chaosgate.model.carrier import Carrier
from chaosgate.model.plan import CLEANUP, GATE, Step
from chaosgate.model.spec import ChaosSpec
from chaosgate.run.journal import JournalPage, StepEntry, write_journal
from chaosgate.run.outcome import Outcome, read_outcome
from chaosgate.submit.argo.collect import collect, seal_from_here
from chaosgate.submit.argo.follow import Follower, Listener
from chaosgate.submit.argo.preflight import check_cluster
from chaosgate.submit.argo.requests import find, submit
from chaosgate.submit.argo.workflow import Workflow
from chaosgate.submit.interrupts import Interrupts

Say = Callable[[str], None]


def start(there: There, spec: ChaosSpec, carrier: Carrier, text: str) -> None:
    """Submit the compiled workflow `text`, after a look whether the cluster can run it.

    The folder is there first, so that a run whose submission is cut short can be found. A ClusterError says what the
    cluster lacks or refused; nothing is left here then, unless nobody can tell whether the run was made.
    """
    check_cluster(there.cluster, carrier)
    there.open(spec)
    try:
        submit(there.cluster, text, there.run)
    except ClusterError:
        # It may be the answer that was lost, and not the request.
        if find(there.cluster, there.run) is None:
            shutil.rmtree(there.folder, ignore_errors=True)
            raise


def follow(there: There, spec: ChaosSpec, listener: Listener, say: Say) -> Outcome:
    """The outcome of a run once it is over, with its files in its folder.

    The first Ctrl-C or SIGTERM has the cluster end the run, and this waits for its cleanup; the second leaves it to
    the cluster.
    """
    with Interrupts() as interrupts:
        follower = Follower(there.cluster, there.run, listener, say, KeptLogs(there.folder), interrupts)
        lost: tuple[str, ...] = ()
        try:
            is_over = follower.follow()
        except ClusterError as error:
            is_over, lost = False, (f"{error}; the run may go on by itself: chaosgate attach {there.run}",)
        missing = collect(there.run, spec, follower.workflow, there.folder) if is_over else None
        if is_over:
            _seal(there, spec, interrupts, say)
        elif not lost:
            say(f"left the run to the cluster; it goes on by itself: chaosgate attach {there.run}")
    problems = (*follower.problems(), *lost)
    return replace(settle(there, follower.workflow, interrupts.signal, problems), missing=missing)


def _seal(there: There, spec: ChaosSpec, interrupts: Interrupts, say: Say) -> None:
    """Look for ourselves whether a run that is over left anything, where its own cleanup has not said so."""
    if is_written(step_file(there.folder, CLEANUP, SEAL.file)):
        return
    say("the run ended without its own cleanup; waiting for its sweeper, and looking what is left")
    try:
        seal_from_here(there.cluster, there.run, spec, there.folder, interrupts)
    except ClusterError as error:
        say(f"nothing is proved: {error}")


def settle(there: There, workflow: Workflow | None, number: int | None, problems: tuple[str, ...] = ()) -> Outcome:
    """The outcome by what lies in the run's folder, which then has the journal that a local runner would have written.

    `number` is the signal that ended the run; an abort counts as one, as for a run of this machine.
    """
    if workflow is not None and workflow.abort is not None:
        write_abort(there.folder, workflow.abort)
        number = number or signal.SIGTERM
    outcome = read_outcome(there.run, there.folder, gate_of(workflow), number, problems)
    steps = tuple(entry(workflow, step) for step in workflow.steps) if workflow is not None else ()
    # Without room for it the run is over all the same.
    with contextlib.suppress(ArtifactError):
        write_journal(there.folder, JournalPage(steps=steps, signal=outcome.signal, exit_code=outcome.exit_code))
    return outcome


def gate_of(workflow: Workflow | None) -> int | None:
    """The exit code of the gate, None when it did not run."""
    gates = [step for step in workflow.steps if step.id == GATE] if workflow is not None else []
    return workflow.node(gates[0]).exit_code if workflow is not None and gates else None


def entry(workflow: Workflow, step: Step) -> StepEntry:
    """A step as a journal has it."""
    node = workflow.node(step)
    running = node.phase in ("running", "ended")
    return StepEntry(
        step=step.id,
        component=step.component,
        started=node.started if running else None,
        ended=node.ended if node.phase == "ended" else None,
        exit_code=node.exit_code,
    )


class KeptLogs:
    """Writes what pods print into the run's folder, each from its beginning: what an earlier look wrote is replaced."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._begun: set[str] = set()

    def __call__(self, role: str, line: str) -> None:
        """One line of a step or server."""
        file = log_file(self._folder, role)
        # A full disk must not end the following.
        with contextlib.suppress(OSError):
            file.parent.mkdir(exist_ok=True)
            with file.open("a" if role in self._begun else "w", encoding="utf-8") as log:
                log.write(f"{line}\n")
        self._begun.add(role)
