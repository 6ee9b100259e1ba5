"""Faults of the cluster as a sweep switches them: the gateway keeps the time, the cluster is changed and restored."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from chaosgate.cluster.api import Cluster
from chaosgate.cluster.targets import as_target, find_pods, target_of
from chaosgate.errors import ClusterError, GatewayError
from chaosgate.inject.cluster.carry import carry_out
from chaosgate.inject.cluster.objections import objections
from chaosgate.inject.cluster.scene import Scene
from chaosgate.inject.cluster.undo import places_of, undo
from chaosgate.inject.sweep import RENEW_EVERY, FaultSwitch, Refused
from chaosgate.model.change import Change
from chaosgate.model.fault import ClusterFault, ClusterTarget
from chaosgate.model.observation import TimelineEvent
from chaosgate.model.plan import PlannedWindow
from chaosgate.model.spec import ChaosSpec

Result = TypeVar("Result")
Check = Callable[[ClusterFault, Sequence[Change]], list[str]]
"""Why changes of a fault may not be made together, one sentence each."""


@dataclass(frozen=True)
class Ready:
    """What a window will change, checked and not begun."""

    scene: Scene
    changes: Sequence[Change]


@dataclass
class ClusterSwitch:
    """Switches faults of the cluster and, through the gateway, every other.

    A window opens at the gateway before the first change and closes there once everything is shown to be restored.
    """

    gateway: FaultSwitch
    cluster: Cluster
    run: str
    spec: ChaosSpec
    phase: str
    target: ClusterTarget | None
    """The pods that serve the run's target, None where they are not known."""
    check: Check
    _on: PlannedWindow | None = None
    _ttl: float = 0.0
    _applied: dict[str, int] = field(default_factory=dict)

    async def on(self, fault: str, dose: float, window: int, ttl: float) -> float:
        """Open a window, or renew the one that is on; when it opened, on the gateway's clock.

        Refused, before anything happens, where what it would change is not safe.
        """
        wanted, found = PlannedWindow(fault=fault, index=window, dose=dose), self.spec.fault(fault)
        if not isinstance(found, ClusterFault) or self._on == wanted:
            return await self.gateway.on(fault, dose, window, ttl)
        ready = await asyncio.to_thread(self._prepare, found, wanted)
        at = await self.gateway.on(fault, dose, window, ttl)
        self._on, self._ttl = wanted, ttl
        self._applied[fault] = await self._meanwhile(lambda: carry_out(ready.scene, ready.changes))
        return at

    async def off(self, fault: str) -> tuple[float, int]:
        """Restore what the fault changed, close its window; when, and how many objects were changed.

        A ClusterError names what could not be restored; the window then ends by itself.
        """
        found = self.spec.fault(fault)
        if not isinstance(found, ClusterFault):
            return await self.gateway.off(fault)
        left = await self._meanwhile(lambda: self._undo(found))
        self._on = None
        if left:
            raise ClusterError(f"{fault}: not undone: {'; '.join(left)}")
        at, _ = await self.gateway.off(fault)
        return at, self._applied.get(fault, 0)

    async def post(self, event: str, **fields: object) -> float:
        """As the gateway does."""
        return await self.gateway.post(event, **fields)

    async def timeline(self, phase: str) -> list[TimelineEvent]:
        """As the gateway has it."""
        return await self.gateway.timeline(phase)

    async def halted(self) -> str | None:
        """As the gateway says."""
        return await self.gateway.halted()

    def obstacles(self, windows: Sequence[PlannedWindow]) -> list[str]:
        """Why these windows may not be injected as the cluster is now: each fault is looked at in its largest dose."""
        largest: dict[str, PlannedWindow] = {}
        for window in windows:
            if window.fault not in largest or window.dose > largest[window.fault].dose:
                largest[window.fault] = window
        faults = [(self.spec.fault(name), window) for name, window in largest.items()]
        found = [self.look(fault, window)[2] for fault, window in faults if isinstance(fault, ClusterFault)]
        return list(dict.fromkeys(reason for reasons in found for reason in reasons))

    def _prepare(self, fault: ClusterFault, window: PlannedWindow) -> Ready:
        scene, changes, reasons = self.look(fault, window)
        if reasons:
            raise Refused(f"window {window.index} of {fault.name} was not begun: {'; '.join(reasons)}")
        return Ready(scene, changes)

    def look(self, fault: ClusterFault, window: PlannedWindow) -> tuple[Scene, Sequence[Change], list[str]]:
        """Where a window acts, what it would change at this moment, and what speaks against it."""
        place = target_of(fault, self.target)
        scene = Scene(self.cluster, self.run, fault.name, place.namespace or self.cluster.namespace)
        pods = [as_target(pod, fault) for pod in find_pods(self.cluster, place)]
        draw = fault.window_draw(self.spec.spec.workload.seed, self.phase, window.index)
        changes = fault.changes(window.dose, pods, draw)
        reasons = [
            *fault.objections(window.dose, pods),
            *objections(scene, changes, pods),
            *self.check(fault, changes),
        ]
        return scene, changes, reasons

    def _undo(self, fault: ClusterFault) -> list[str]:
        home = (self.target.namespace if self.target else None) or self.cluster.namespace
        return undo(self.cluster, self.run, places_of([fault], home))[1]

    async def _meanwhile(self, work: Callable[[], Result]) -> Result:
        """Do `work` in a thread to its end, whoever cancels, and keep the window alive meanwhile."""
        task = asyncio.ensure_future(asyncio.to_thread(work))
        cancelled: asyncio.CancelledError | None = None
        while not task.done():
            try:
                await asyncio.wait({task}, timeout=RENEW_EVERY)
                await self._renew()
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled
        return task.result()

    async def _renew(self) -> None:
        if self._on is not None:
            # After a halt there is nothing to renew; whoever asked for the work looks at that next.
            with contextlib.suppress(GatewayError):
                await self.gateway.on(self._on.fault, self._on.dose, self._on.index, self._ttl)
