"""inject: run the sweep of one block beside measure, or decline: no steady state, or nobody who guards the run."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

from chaosgate.artifacts import INJECTION, Identity, write_document
from chaosgate.components.definition import Context
from chaosgate.components.inputs import problem_before, read_endpoint, read_phase, read_spec
from chaosgate.components.progress import tell
from chaosgate.deploy.processes import alive
from chaosgate.errors import ClusterError, GatewayError
from chaosgate.estimate import estimate_steady_state, semantic_state
from chaosgate.inject.cluster.switch import ClusterSwitch
from chaosgate.inject.http import GatewayAdmin, read_token
from chaosgate.inject.sweep import FaultSwitch, Refused, refuse_again, run_sweep, wait_for
from chaosgate.judge import semantic_reasons, steady_state_reasons
from chaosgate.model.blocks import BASELINE, make_blocks
from chaosgate.model.plan import Block, PlannedWindow
from chaosgate.model.result import Endpoint, Injection, Status
from chaosgate.model.spec import ChaosSpec


def run(context: Context) -> Status:
    """The status of the sweep, which injection.json carries too; declines when an earlier step is not ok."""
    spec, identity = read_spec(context)
    block = next(block for block in make_blocks(spec) if block.phase == context.arguments["phase"])
    before = problem_before(context, identity)
    if before is not None:
        injection = declined(block, before)
    else:
        endpoint = read_endpoint(context, identity)
        admin = GatewayAdmin(endpoint.admin, read_token(endpoint.token))
        start = float(context.arguments["start"])
        switch = switch_of(context.run, spec, block, endpoint, admin)

        def objection() -> str | None:
            return why_not(context, spec, endpoint) or why_unsafe(switch, block)

        injection = asyncio.run(inject(admin, switch, spec, block, objection, start))
    write_document(context.outputs["injection"], INJECTION, identity, injection)
    return injection.status


def declined(block: Block, reason: str) -> Injection:
    """Nothing was injected, and why."""
    return Injection(phase=block.phase, status=Status(status="declined", reason=reason))


def switch_of(run: str, spec: ChaosSpec, block: Block, endpoint: Endpoint, admin: GatewayAdmin) -> FaultSwitch:
    """Who switches the faults of `block`: the gateway, and on a cluster what changes its objects, too."""
    if endpoint.namespace is None:
        return admin
    from chaosgate.components import on_cluster

    return on_cluster.fault_switch(run, spec, block.phase, endpoint, admin)


def why_not(context: Context, spec: ChaosSpec, endpoint: Endpoint) -> str | None:
    """Why nothing may be injected; None when all is as it must be."""
    return why_unguarded(context.run, endpoint) or why_unsteady(context, spec)


def why_unsafe(switch: FaultSwitch, block: Block) -> str | None:
    """Why nothing may be changed on the cluster for `block`; None where nothing is, or all of it may."""
    return "; ".join(switch.obstacles(block.windows)) or None if isinstance(switch, ClusterSwitch) else None


def why_unguarded(run: str, endpoint: Endpoint) -> str | None:
    """Why nobody would clean up after this run if its runner were killed; None when the sweeper lives."""
    if endpoint.namespace is not None:
        from chaosgate.components import on_cluster

        return on_cluster.why_unguarded(run)
    guarded = any(process.role == "sweeper" and alive(process) for process in endpoint.processes)
    return None if guarded else "the sweeper is gone; nothing is injected without it"


def why_unsteady(context: Context, spec: ChaosSpec) -> str | None:
    """Why the steady state does not hold in the baseline; None when it does."""
    baseline = read_phase(BASELINE, context.inputs, Identity(context.run, spec.digest()))
    reasons = [
        *steady_state_reasons(spec, estimate_steady_state(spec, baseline)),
        *semantic_reasons(spec, semantic_state(spec, baseline)),
    ]
    unsteady = [reason.text for reason in reasons if reason.verdict != "pass"]
    return "; ".join(unsteady) or None


async def inject(
    gateway: GatewayAdmin,
    switch: FaultSwitch,
    spec: ChaosSpec,
    block: Block,
    objection: Callable[[], str | None],
    start: float,
) -> Injection:
    """Sweep, or not; either way, and after a SIGTERM too, measure is told that nothing more comes."""
    task = asyncio.current_task()
    assert task is not None  # a coroutine that runs has one
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    async with gateway as admin:
        try:
            reason = objection()
            return await sweep(switch, spec, block, start) if reason is None else declined(block, reason)
        except asyncio.CancelledError:
            why = "it was ended by SIGTERM before its sweep was over"
            return Injection(phase=block.phase, status=Status(status="failed", reason=why))
        finally:
            await admin.post("injected", phase=block.phase)


async def sweep(switch: FaultSwitch, spec: ChaosSpec, block: Block, start: float) -> Injection:
    """What was injected; a gateway or a cluster that fails leaves the windows unproved and the status `failed`.

    A window that is refused, as what it would change is not safe, ends the sweep as `declined`.
    """

    def report(window: PlannedWindow | None) -> None:
        if window is None:
            tell("recovery", seconds=block.recovery)
            return
        axis = spec.fault(window.fault).axis()
        tell(
            "window",
            fault=window.fault,
            dose=window.dose,
            dimension=axis.dimension,
            window=window.index,
            of=len(block.windows),
        )

    try:
        await wait_for(switch, block.phase, "started", start)
        await refuse_again(switch, block.phase, "on", "injected", "done")
        windows, halted = await run_sweep(switch, spec, block, report)
    except Refused as refused:
        status = Status(status="declined", reason=str(refused))
        return Injection(phase=block.phase, status=status, windows=refused.done)
    except (GatewayError, ClusterError) as error:
        return Injection(phase=block.phase, status=Status(status="failed", reason=str(error)))
    return Injection(phase=block.phase, status=Status(status="ok"), windows=tuple(windows), halted=halted)
