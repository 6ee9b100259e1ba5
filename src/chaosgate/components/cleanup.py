"""cleanup: revert and stop whatever a run left, prove it, and seal the run. Needs the run id alone; may run again."""

from __future__ import annotations

import asyncio
import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chaosgate.artifacts import (
    ENDPOINT,
    RECORDING,
    SEAL,
    SPEC,
    Identity,
    read_document,
    read_if_there,
    write_document,
)
from chaosgate.components.definition import Context
from chaosgate.components.places import own_dir, own_state, spec_digest, spec_file, step_file
from chaosgate.components.recording import record_again, record_digest, recording_file
from chaosgate.deploy.processes import alive, elsewhere, registered, stop, strays
from chaosgate.errors import ChaosgateError, GatewayError, UsageError
from chaosgate.inject.http import GatewayAdmin, read_token
from chaosgate.model.plan import CLEANUP, DEPLOY
from chaosgate.model.result import Cleanup, Process
from chaosgate.tracking.mlflow_record import seal_run

SURVIVORS = ("runner", "sweeper", f"step-{CLEANUP}")
"""Roles cleanup leaves alone: the runner waits for it, the sweeper and another cleanup end once a clean seal holds."""


def run(context: Context) -> int:
    """0 when nothing is left and that is proved, 4 otherwise."""
    return (seal_on_cluster(context) if context.state is None else seal(context)).exit_code


def seal_on_cluster(context: Context) -> Cleanup:
    """Clean up what the run made on the cluster this pod belongs to; may be repeated."""
    from chaosgate.components import on_cluster

    cleanup, digest = on_cluster.clean_up(context.run)
    write_document(context.outputs["cleanup"], SEAL, Identity(context.run, digest), cleanup)
    tell(cleanup)
    return cleanup


def seal(context: Context) -> Cleanup:
    """Clean up unless a seal holds already, and say on standard error what was done; the seal in force."""
    folder = own_dir(context)
    with only_one(folder):
        cleanup = sealed(context.outputs["cleanup"], folder, context.run)
        if cleanup is None:
            cleanup = clean_up(folder, context.run)
            identity = Identity(context.run, spec_digest(spec_file(folder)))
            write_document(context.outputs["cleanup"], SEAL, identity, cleanup)
    tell(cleanup)
    record_seal(own_state(context), folder, context.run, cleanup)
    if cleanup.clean:
        end_sweeper(folder)
    return cleanup


def tell(cleanup: Cleanup) -> None:
    """What was done and what is left, on standard error."""
    for line in (*cleanup.actions, *(f"left behind: {thing}" for thing in cleanup.left)):
        print(f"cleanup: {line}", file=sys.stderr)


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Keep the runner's and the sweeper's cleanup apart: the second one finds the first one's seal.

    A UsageError where there is no such run.
    """
    # The folder itself is locked: a lock file could not be made where the disk is full.
    try:
        handle = os.open(folder, os.O_RDONLY)
    except FileNotFoundError as error:
        raise UsageError(
            f"{folder}: no run is there; name one with --run, and its state directory with --state"
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def sealed(file: Path, folder: Path, run_id: str) -> Cleanup | None:
    """The seal of the run while it holds: all was clean, and the record is still the one that it sealed."""
    found = read_if_there(file, SEAL, Identity(run_id, None))
    holds = found is not None and found.clean and found.record_digest == record_digest(folder, run_id)
    return found if holds else None


def clean_up(folder: Path, run_id: str) -> Cleanup:
    """Halt the gateway, stop every process of the run, and say what could not be proved gone."""
    actions, unproved = asyncio.run(halt_gateway(folder, run_id))
    stopped, left = stop_all(folder)
    # A wire fault lives in its gateway: with that process gone, so is the fault, whatever the gateway last said.
    if gateway_gone(folder):
        unproved = []
    unproved += out_of_reach(folder)
    return Cleanup(
        clean=not left and not unproved,
        actions=(*actions, *(f"stopped {describe(process)}" for process in stopped)),
        left=(*map(describe, left), *unproved),
        record_digest=record_digest(folder, run_id),
    )


def stop_all(folder: Path) -> tuple[list[Process], list[Process]]:
    """Stop every process of the run; those that are gone now, and those that would not go."""
    stopped: list[Process] = []
    left: list[Process] = []
    # A step may have started another process just before it was stopped, so one look is not enough.
    while found := [process for process in running(folder) if process not in left]:
        for process in found:
            (stopped if stop(process) else left).append(process)
    return stopped, left


def running(folder: Path) -> list[Process]:
    """The processes of the run that run now and may be stopped; its steps first, as they may start others."""
    known = registered(folder)
    spared = {process.pid for process in known if process.role in SURVIVORS and alive(process)} | {os.getpid()}
    named = {process.pid: process for process in known if process.pid not in spared and alive(process)}
    unnamed = [process for process in strays(folder) if process.pid not in spared | named.keys()]
    return [*sorted(named.values(), key=lambda process: not process.role.startswith("step-")), *unnamed]


async def halt_gateway(folder: Path, run_id: str, why: str = "cleanup") -> tuple[list[str], list[str]]:
    """Remove every fault at the run's gateway. Returns what was done and what is not proved."""
    endpoint = read_if_there(step_file(folder, DEPLOY, ENDPOINT.file), ENDPOINT, Identity(run_id, None))
    if endpoint is None:
        return ["no gateway was deployed"], []
    try:
        async with GatewayAdmin(endpoint.admin, read_token(endpoint.token)) as admin:
            before = await admin.active()
            await admin.halt(why)
            active = await admin.active()
    except GatewayError:
        return ["the gateway does not answer"], ["the gateway's faults could not be read"]
    done = [f"removed fault {fault.name}" for fault in before]
    return [*done, "halted the gateway"], [f"fault {fault.name} is still on" for fault in active]


def gateway_gone(folder: Path) -> bool:
    """Whether no gateway process of the run is left, here or where nobody can look."""
    gateways = (process for process in registered(folder) if process.role == "gateway")
    return not any(alive(gateway) or elsewhere(gateway) for gateway in gateways)


def out_of_reach(folder: Path) -> list[str]:
    """Where cleanup has to run instead, one sentence each: what runs on another machine cannot be seen from here."""
    hosts = {process.place.host for process in registered(folder) if elsewhere(process)}
    return [f"the run's processes belong to {host}; run cleanup there" for host in sorted(hosts)]


def record_seal(state: Path, folder: Path, run_id: str, cleanup: Cleanup) -> None:
    """Seal the run in MLflow too; one that died before it was recorded is recorded now, as the error it is."""
    identity = Identity(run_id, None)
    recording = read_if_there(recording_file(folder), RECORDING, identity)
    try:
        if recording is None:
            record_again(run_id, state, folder)
        elif recording.mlflow_run is not None:
            spec = read_document(spec_file(folder), SPEC)
            seal_run(run_id, spec, state, cleanup.clean)
    except ChaosgateError as error:
        print(f"cleanup: the seal is not in MLflow: {error}", file=sys.stderr)


def end_sweeper(folder: Path) -> None:
    """The run is sealed clean: the sweeper has nothing left to guard."""
    for process in registered(folder):
        if process.role == "sweeper" and process.pid != os.getpid():
            stop(process)


def describe(process: Process) -> str:
    """`engine (process 4711)`."""
    return f"{process.role} (process {process.pid})"
