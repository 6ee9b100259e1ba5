"""Abort a run on Argo, and clean up after one."""

from __future__ import annotations

import signal
from collections.abc import Callable

from chaosgate.artifacts import SEAL, VERDICT, Identity, read_if_there
from chaosgate.cli.argo_run import KeptLogs, settle
from chaosgate.cli.there import There
from chaosgate.components.aborting import Abort, write_abort
from chaosgate.components.places import step_file
from chaosgate.components.recording import record_digest
from chaosgate.errors import ClusterError, TrackingError
from chaosgate.model.plan import CLEANUP, CONCLUDE
from chaosgate.model.result import Cleanup
from chaosgate.model.spec import ChaosSpec
from chaosgate.run.abort import Aborted, conclude_aborted
from chaosgate.submit.argo.collect import collect, keep_seal, seal_from_here
from chaosgate.submit.argo.ending import clean_from_here, stop_and_wait
from chaosgate.submit.argo.requests import find, must_find, note_abort
from chaosgate.submit.argo.told import read_told
from chaosgate.submit.argo.workflow import Workflow
from chaosgate.submit.interrupts import Interrupts
from chaosgate.tracking.mlflow_record import seal_run

Say = Callable[[str], None]


def abort(there: There, asked: Abort, say: Say) -> Aborted:
    """End the run and return once it has cleaned up after itself, with the reason in its verdict, record and report.

    The pods conclude nothing after a stop, so that this is done here. May be called again, and for a run that is over:
    then it changes nothing.
    """
    workflow = must_find(there.cluster, there.run)
    spec = there.open(workflow.spec_text)
    if workflow.is_over and workflow.abort is None:
        collect(there.run, spec, workflow, there.folder)
        return _aborted(there, None)
    noted = write_abort(there.folder, note_abort(there.cluster, workflow, asked))
    say(noted.sentence())
    with Interrupts() as interrupts:
        over = _ended(there, workflow, say, interrupts)
        missing = collect(there.run, spec, over, there.folder)
        if missing is not None:
            say(f"not all files of the run are here: {missing}")
        seal = _seal(there, spec, over, interrupts)
    _conclude(there, spec, seal, say)
    settle(there, over, signal.SIGTERM)
    return _aborted(there, noted)


def _ended(there: There, workflow: Workflow, say: Say, interrupts: Interrupts) -> Workflow | None:
    """The workflow once it is over, None when it was deleted; as it was where the cluster is lost meanwhile."""
    try:
        return stop_and_wait(there.cluster, workflow, say, KeptLogs(there.folder), interrupts)
    except ClusterError as error:
        say(str(error))
        return workflow


def _seal(there: There, spec: ChaosSpec, workflow: Workflow | None, interrupts: Interrupts) -> Cleanup | None:
    """The seal of the run's own cleanup, else what can be seen from here; None while it is not over."""
    if workflow is not None and not workflow.is_over:
        return None
    told = read_told(workflow, CLEANUP, SEAL) if workflow is not None else None
    return told or seal_from_here(there.cluster, there.run, spec, there.folder, interrupts)


def _conclude(there: There, spec: ChaosSpec, seal: Cleanup | None, say: Say) -> None:
    """Give the run its verdict, and seal the record that now holds it, here and in MLflow."""
    conclude_aborted(there.state.resolve(), there.folder, there.run, say)
    if seal is None:
        return
    keep_seal(there.run, spec, there.folder, _over_record(there, seal))
    try:
        seal_run(there.run, spec, there.state.resolve(), seal.clean)
    except TrackingError as error:
        say(f"the seal is not in MLflow: {error}")


def _over_record(there: There, seal: Cleanup) -> Cleanup:
    """`seal` over the record that is in force here."""
    return seal.model_copy(update={"record_digest": record_digest(there.folder, there.run)})


def _aborted(there: There, noted: Abort | None) -> Aborted:
    identity = Identity(there.run, None)
    verdict = read_if_there(step_file(there.folder, CONCLUDE, VERDICT.file), VERDICT, identity)
    seal = read_if_there(step_file(there.folder, CLEANUP, SEAL.file), SEAL, identity)
    return Aborted(there.run, noted, verdict, seal)


def clean(there: There, say: Say) -> Cleanup:
    """Clean up after the run from here, end it first where it still goes on, and write its seal into its folder."""
    workflow = find(there.cluster, there.run)
    spec = there.open(workflow.spec_text) if workflow is not None else there.spec
    with Interrupts() as interrupts:
        seal = clean_from_here(there.cluster, workflow, there.run, say, KeptLogs(there.folder), interrupts)
    if spec is None:
        return seal
    over = find(there.cluster, there.run)
    collect(there.run, spec, over, there.folder)
    seal = _over_record(there, seal)
    keep_seal(there.run, spec, there.folder, seal)
    settle(there, over, None)
    return seal
