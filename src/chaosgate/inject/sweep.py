"""Run one sweep at the gateway: hold each dose for its window, prove what it touched, and end it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Protocol

from chaosgate.errors import ChaosgateError, ClusterError, GatewayError
from chaosgate.model.observation import TimelineEvent
from chaosgate.model.plan import Block, PlannedWindow
from chaosgate.model.result import InjectedWindow
from chaosgate.model.spec import ChaosSpec

TTL = 5.0
"""Seconds a fault lives at the gateway unless it is renewed: so long it outlives an injector that was killed."""
RENEW_EVERY = 1.0
"""Seconds between two renewals; several may come late before the fault is lost."""
POLL = 0.1
"""Seconds between two looks at the timeline."""


class Refused(ChaosgateError):
    """A window that may not begin: what it would change is not safe. Nothing was changed for it."""

    done: tuple[InjectedWindow, ...] = ()
    """The windows before it."""


class Timeline(Protocol):
    """Whoever knows what happened in a phase."""

    async def timeline(self, phase: str) -> list[TimelineEvent]: ...


class FaultSwitch(Timeline, Protocol):
    """What a sweep needs of the gateway's admin interface, or of whoever carries faults besides it."""

    async def on(self, fault: str, dose: float, window: int, ttl: float) -> float: ...
    async def off(self, fault: str) -> tuple[float, int]: ...
    async def post(self, event: str, **fields: object) -> float: ...
    async def halted(self) -> str | None: ...


async def wait_for(switch: FaultSwitch, phase: str, event: str, seconds: float) -> None:
    """Return once `event` of `phase` stands in the timeline; a GatewayError after `seconds`."""
    deadline = asyncio.get_running_loop().time() + seconds
    while asyncio.get_running_loop().time() < deadline:
        if any(seen.event == event for seen in await switch.timeline(phase)):
            return
        await asyncio.sleep(POLL)
    raise GatewayError(f"{phase}: no {event!r} in the timeline within {seconds:.0f} s; did the other step start?")


async def refuse_again(switch: Timeline, phase: str, *events: str) -> None:
    """A GatewayError where one of `events` of `phase` stands in the timeline already.

    Argo makes the pod of a step anew when it is lost. What was measured or injected before could not be told from what
    would come now.
    """
    known = {event.event for event in await switch.timeline(phase)}
    seen = [event for event in events if event in known]
    if seen:
        raise GatewayError(
            f"{phase}: {' and '.join(seen)} stands in the timeline: this step comes too late, or was run before and "
            "lost its pod; nothing is measured or injected twice, so start the run anew"
        )


async def run_sweep(
    switch: FaultSwitch, spec: ChaosSpec, block: Block, report: Callable[[PlannedWindow | None], None]
) -> tuple[list[InjectedWindow], str | None]:
    """Inject every window of `block`, then watch the recovery.

    `report` is told of each window before it begins, and of the recovery by None.
    Returns the windows as injected and, when the gateway halted the run, why; nothing follows a halt. A window that is
    Refused ends the sweep.
    """
    done: list[InjectedWindow] = []
    halted: str | None = None
    for window in block.windows:
        report(window)
        try:
            injected, halted = await _run_window(switch, spec, block.phase, window)
        except Refused as refused:
            refused.done = tuple(done)
            raise
        done += injected
        if halted is not None:
            return done, halted
    report(None)
    await asyncio.sleep(block.recovery)
    return done, None


async def _run_window(
    switch: FaultSwitch, spec: ChaosSpec, phase: str, window: PlannedWindow
) -> tuple[list[InjectedWindow], str | None]:
    dose = spec.fault(window.fault).dose
    try:
        on = await _hold(switch, window, dose.hold)
        off, applied = await switch.off(window.fault)
        await switch.post("proof", phase=phase, fault=window.fault, window=window.index, detail={"applied": applied})
        await asyncio.sleep(dose.washout)
    except GatewayError:
        # A halted gateway refuses the next window; every other refusal is a failure of this step.
        halted = await switch.halted()
        if halted is None:
            raise
        return [], halted
    injected = InjectedWindow(
        fault=window.fault, window=window.index, dose=window.dose, on=on, off=off, applied=applied
    )
    return [injected], await switch.halted()


async def _hold(switch: FaultSwitch, window: PlannedWindow, seconds: float) -> float:
    """Put the fault on and keep it for `seconds` or up to a halt; returns when it went on. A failure takes it off."""
    try:
        on = await switch.on(window.fault, window.dose, window.index, TTL)
        await _keep(switch, window, on, seconds)
    except (asyncio.CancelledError, GatewayError, ClusterError):
        with contextlib.suppress(GatewayError, ClusterError):
            await switch.off(window.fault)
        raise
    return on


async def _keep(switch: FaultSwitch, window: PlannedWindow, on: float, seconds: float) -> None:
    clock = asyncio.get_running_loop().time
    end = clock() + seconds
    while True:
        await asyncio.sleep(max(0.0, min(RENEW_EVERY, end - clock())))
        if clock() >= end:
            return
        try:
            since = await switch.on(window.fault, window.dose, window.index, TTL)
        except GatewayError:
            # A halt ends the window, which is as good as proved; every other refusal is a failure.
            if await switch.halted() is None:
                raise
            return
        if since != on:
            raise GatewayError(
                f"{window.fault}: window {window.index} was not renewed within {TTL:g} s, so the gateway ended it; "
                "the machine may be overloaded"
            )
