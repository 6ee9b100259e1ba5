"""The chain of faults a request walks: a link that does nothing, then one link a fault that is on.

The links stand in the order of the spec. What a fault of the wire does is decided by its own pure methods; the links
carry it out. Delays add up and count from the request's arrival; a reply or reset ends the walk; each fault rewrites
the prompt that the one before it left; editors wait for the response, which passes them in the order of the spec too. A
fault inside the engine is laid on the request, which takes it there if no reply comes first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from chaosgate.draws import Draw
from chaosgate.gateway.clock import Clock
from chaosgate.gateway.ledger import NOT_REACHED, Touch
from chaosgate.gateway.passage import Passage, PlannedEdit, PlannedLoad, SharedWindow
from chaosgate.gateway.windows import ActiveWindow, Windows
from chaosgate.model.fault import Delay, Effect, EngineFault, Fault, Reply, RequestFault, Reset, WireFault
from chaosgate.model.request_facts import RequestFacts
from chaosgate.sleepers import Sleepers

Carried = TypeVar("Carried", bound=Fault)


class Link(Protocol):
    """One link of the chain."""

    async def act_on(self, passage: Passage) -> None:
        """Do to the request what this link is there for."""


class Head:
    """The first link: it does nothing, so that a run without a fault takes the same way as one with faults."""

    async def act_on(self, passage: Passage) -> None:
        """Nothing happens here."""


class OneFault(Generic[Carried]):
    """What a link of one fault knows: the fault, the request's draws and touch, and the chain that it is part of."""

    def __init__(self, fault: Carried, draw: Draw, touch: Touch, chain: Chain) -> None:
        self._fault = fault
        self._draw = draw
        self._touch = touch
        self._chain = chain


class FaultLink(OneFault[WireFault]):
    """One fault for one request: carries out what it decides and says in the ledger what became of it."""

    async def act_on(self, passage: Passage) -> None:
        """Apply the fault's effects, then its rewriting; none once the request is answered or the run halted."""
        dose = self._chain.dose(self._fault, self._touch, passage)
        if dose is None:
            return
        for effect in self._fault.effects(dose, self._draw):
            if self._chain.halted:
                # While an effect before this one was held.
                return
            await self._carry_out(effect, passage)
        if passage.ending is None and not self._chain.halted:
            self._rewrite(dose, passage)
            self._plan_edit(dose, passage)

    async def _carry_out(self, effect: Effect, passage: Passage) -> None:
        match effect:
            case Delay():
                await self._delay(effect, passage)
            case Reply():
                self._touch.apply(f"reply {effect.status}")
                passage.end(effect, self._fault.name)
            case Reset():
                self._touch.apply("reset")
                passage.end(effect, self._fault.name)

    def _rewrite(self, dose: float, passage: Passage) -> None:
        """Rewrite the prompt; where the fault did nothing so far and does nothing here, say why."""
        self._touch.bypass("dose 0" if dose == 0 else "spared by the draw")
        if not self._fault.rewrites():
            return
        before = passage.prompt
        if before is None:
            self._touch.bypass(passage.unreadable)
            return
        passage.prompt = self._fault.rewrite(before, dose, self._draw)
        if passage.prompt != before:
            self._touch.apply(f"prompt of {before.size} characters rewritten to {passage.prompt.size}")
        elif dose > 0:
            self._touch.bypass("spared by the draw, or nothing to change in its prompt")

    def _plan_edit(self, dose: float, passage: Passage) -> None:
        editor = self._fault.editor(dose, self._draw)
        if editor is not None:
            self._touch.bypass(NOT_REACHED)
            passage.edits.append(PlannedEdit(editor, self._touch))

    async def _delay(self, delay: Delay, passage: Passage) -> None:
        passage.due += delay.seconds
        self._touch.apply(f"delay {delay.seconds:.3f} s")
        before = self._chain.clock.now()
        # Whoever is cancelled here has a client that did not wait.
        ended = "client left"
        try:
            ended = "" if await self._chain.sleepers.until(passage.due) else "halted"
        finally:
            held = self._chain.clock.now() - before
            passage.slept += held
            if ended:
                self._touch.effect = f"{self._touch.effect}, {ended} after {held:.3f} s"


class EngineLink(OneFault[EngineFault]):
    """One fault inside the engine for one request: lays it on the request, dose 0 as every other."""

    async def act_on(self, passage: Passage) -> None:
        """Lay the fault on the request unless that is answered or the run halted."""
        dose = self._chain.dose(self._fault, self._touch, passage)
        if dose is not None:
            received = self._fault.received(dose, self._draw)
            passage.loads.append(PlannedLoad(self._draw, dose, received, self._touch))


class SharedLink:
    """A window that parts the engine's prefix cache, for every request of its phase, also those the draw spares."""

    def __init__(self, shared: SharedWindow) -> None:
        self._shared = shared

    async def act_on(self, passage: Passage) -> None:
        """Note the window on the request."""
        passage.shared.append(self._shared)


HEAD = Head()


class Chain:
    """Builds and walks the chain of each request from the windows that are on when it arrives."""

    def __init__(self, seed: int, windows: Windows, sleepers: Sleepers, clock: Clock) -> None:
        self.clock = clock
        self.sleepers = sleepers
        self._seed = seed
        self._windows = windows

    @property
    def halted(self) -> bool:
        """Whether the run was halted; no effect begins after that."""
        return self._windows.halted is not None

    def open_windows(self, faults: Sequence[Fault]) -> dict[str, ActiveWindow]:
        """Of `faults` those that are on now, by name, with their windows."""
        windows = {fault.name: self._windows.get(fault.name) for fault in faults}
        return {name: window for name, window in windows.items() if window is not None}

    def links(
        self, faults: Sequence[Fault], windows: Mapping[str, ActiveWindow], request: str, facts: RequestFacts
    ) -> tuple[list[Link], list[Touch]]:
        """The links a request walks, and for the ledger one Touch for each of `faults`, on or not.

        `windows` are those that were open when the request arrived.
        """
        links: list[Link] = [HEAD]
        touches = []
        for fault in faults:
            draw = fault.draw(self._seed, request)
            touch = self._touch(fault, draw, windows.get(fault.name), facts)
            touches.append(touch)
            if touch.window is None:
                continue
            if isinstance(fault, EngineFault) and fault.sharing():
                links.append(SharedLink(SharedWindow(draw, touch.window)))
            if touch.planned:
                links += self._link(fault, draw, touch)
        return links, touches

    def _link(self, fault: Fault, draw: Draw, touch: Touch) -> list[Link]:
        """The link of a fault that touches single requests; none of one that does not."""
        match fault:
            case WireFault():
                return [FaultLink(fault, draw, touch, self)]
            case EngineFault():
                return [EngineLink(fault, draw, touch, self)]
            case _:
                return []

    def dose(self, fault: RequestFault, touch: Touch, passage: Passage) -> float | None:
        """The dose at which `touch` acts, by its window and the request's arrival in it.

        None, and the reason in `touch`, once answered or halted, and where the shape leaves nothing of the dose.
        """
        if passage.answered_by is not None:
            touch.bypass(f"answered by {passage.answered_by}")
            return None
        if self.halted:
            touch.bypass("halted")
            return None
        return None if touch.window is None else self._moved(fault, touch, touch.window, passage.arrived)

    def _moved(self, fault: RequestFault, touch: Touch, window: ActiveWindow, arrived: float) -> float | None:
        dose = fault.dose_at(window.dose, arrived - window.on)
        if dose == 0 and window.dose > 0:
            touch.bypass("its shape is at 0")
            return None
        if dose != window.dose:
            touch.prelude = f"at dose {dose:.4g} of {window.dose:g}: "
        return dose

    async def walk(self, links: Sequence[Link], passage: Passage) -> None:
        """Walk `links` to the end, each of which adds to `passage`."""
        for link in links:
            await link.act_on(passage)

    def _touch(self, fault: Fault, draw: Draw, window: ActiveWindow | None, facts: RequestFacts) -> Touch:
        planned = fault.planned(draw, facts)
        return Touch(
            fault=fault.name,
            kind=fault.kind,
            draw=draw.at("select"),
            planned=planned,
            window=window,
            bypassed=self._first_reason(fault, window is not None) if planned else _spared(fault, facts),
        )

    def _first_reason(self, fault: Fault, on: bool) -> str:
        if not on:
            return "halted" if self.halted else "no window"
        return NOT_REACHED if isinstance(fault, WireFault | EngineFault) else f"carried by the {fault.surface}"


def _spared(fault: Fault, facts: RequestFacts) -> str | None:
    """Why a request is not planned, where it could change that itself."""
    return "no opt-in" if isinstance(fault, RequestFault) and fault.unasked(facts) else None
