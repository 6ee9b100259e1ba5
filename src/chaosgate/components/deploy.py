"""deploy: bring up the target and its gateway, arm the sweeper, and open the record as `error: not finished`."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from chaosgate.artifacts import ENDPOINT, RECORD, write_document
from chaosgate.components.definition import Context
from chaosgate.components.environment import environment
from chaosgate.components.inputs import read_spec
from chaosgate.components.places import own_dir, own_state
from chaosgate.components.recording import place_of
from chaosgate.deploy.local import arm_sweeper, new_token, start_engine, start_gateway, unsupported
from chaosgate.deploy.subject import read_subject
from chaosgate.errors import DeployError, UsageError
from chaosgate.model.blocks import BASELINE, make_blocks
from chaosgate.model.named_slis import named_kinds
from chaosgate.model.result import Endpoint, Process, Reason, Record, Status, Subject
from chaosgate.model.scorer import why_unmeasured
from chaosgate.model.spec import ChaosSpec

LIFETIME_GRACE = 60.0
"""Seconds that engine and gateway outlive the sweeper's deadline: by then they end even if it was killed too."""


def run(context: Context) -> Status:
    """Record first, sweeper second: whatever is started after them is accounted for."""
    spec, identity = read_spec(context)
    check_plan(context, spec)
    opened = open_record(spec, context.state)
    write_document(context.outputs["record"], RECORD, identity, opened)
    check_packages(spec)
    deadline = float(context.arguments["seconds"]) + spec.spec.safety.sweep_after
    endpoint = bring_up_here(context, spec, deadline) if context.state else bring_up_there(context, spec, deadline)
    write_document(context.outputs["endpoint"], ENDPOINT, identity, endpoint)
    return Status(status="ok")


def bring_up_here(context: Context, spec: ChaosSpec, deadline: float) -> Endpoint:
    """As processes of this machine, guarded for `deadline` seconds."""
    folder = own_dir(context)
    sweeper = arm_sweeper(context.run, own_state(context), folder, deadline)
    return bring_up(spec, context.run, folder, sweeper, deadline + LIFETIME_GRACE)


def bring_up_there(context: Context, spec: ChaosSpec, deadline: float) -> Endpoint:
    """As objects of the cluster this pod belongs to, guarded for `deadline` seconds."""
    from chaosgate.components import on_cluster

    on_cluster.guard(context.run, spec, deadline)
    on_cluster.record_opened(context, spec)
    return on_cluster.bring_up(context.run, spec, deadline)


def check_plan(context: Context, spec: ChaosSpec) -> None:
    """A UsageError when the plan was made from another spec: its steps would measure and inject something else."""
    planned = context.arguments["digest"]
    if spec.digest() != planned:
        raise UsageError(
            f"{context.inputs['spec']}: read the spec {spec.digest()}, the plan was made from {planned}; "
            "compile the spec again, or hand over the one that was compiled"
        )


def check_packages(spec: ChaosSpec) -> None:
    """A DeployError where a package that the spec's SLIs need is missing: conclude runs in the same image."""
    for kind in named_kinds(spec):
        if unmeasured := why_unmeasured(kind):
            raise DeployError(f"{unmeasured}; on a cluster, into the image that runs the steps")


def open_record(spec: ChaosSpec, state: Path | None) -> Record:
    """The pessimistic record: it stays in force unless conclude replaces it."""
    return Record(
        name=spec.metadata.name,
        verdict="error",
        reasons=(Reason(verdict="error", text="not finished"),),
        subject=None,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        finished=None,
        environment=environment(),
        recorded=place_of(spec, state),
        overrides=spec.spec.safety.overrides,
    )


def bring_up(spec: ChaosSpec, run: str, folder: Path, sweeper: Process, lifetime: float) -> Endpoint:
    """Target, gateway and the subject as read back through the gateway; what is started lives `lifetime` seconds."""
    token = new_token(folder)
    upstream, processes = start_target(spec, folder, lifetime)
    # Asked at its own address first: behind the gateway a server that is down is only a bad gateway.
    asyncio.run(subject_at(upstream, spec))
    gateway = start_gateway(spec, run, folder, upstream, declared_phases(spec), lifetime)
    url = str(gateway.addresses["url"])
    return Endpoint(
        url=url,
        admin=str(gateway.addresses["admin"]),
        token=token,
        upstream=upstream,
        subject=asyncio.run(subject_at(url, spec)),
        processes=(sweeper, *processes, gateway.process),
    )


def start_target(spec: ChaosSpec, folder: Path, lifetime: float) -> tuple[str, tuple[Process, ...]]:
    """The address of the server under test and the processes started for it."""
    target = spec.spec.target
    if target.endpoint is not None:
        return target.endpoint.rstrip("/"), ()
    for problem in unsupported(spec):
        raise DeployError(problem.render(spec.metadata.name))
    engine = start_engine(spec, folder, lifetime)
    return str(engine.addresses["url"]), (engine.process,)


def declared_phases(spec: ChaosSpec) -> dict[str, list[str]]:
    """Which faults each phase may see; the gateway refuses every other."""
    return {BASELINE: []} | {block.phase: list(block.faults) for block in make_blocks(spec)}


async def subject_at(url: str, spec: ChaosSpec) -> Subject:
    """What answers behind the gateway."""
    return await read_subject(url, spec.spec.target.model)
