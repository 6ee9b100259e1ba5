"""The chain of faults a request walks: a link that does nothing, then one link a fault that is on.

The links stand in the order of the spec. What a fault of the wire does is decided by its own pure `effects`; the links
carry it out. Delays add up and count from the request's arrival; a reply ends the walk; a cut waits for the response. A
fault inside the engine is laid on the request, which takes it there if no reply comes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from chaosgate.draws import Draw
from chaosgate.gateway.clock import Clock
from chaosgate.gateway.ledger import Touch
from chaosgate.gateway.sleepers import Sleepers
from chaosgate.gateway.windows import ActiveWindow, Windows
from chaosgate.model.fault import Cut, Delay, Effect, EngineFault, Fault, Reply, WireFault


@dataclass(frozen=True)
class PlannedCut:
    """A cut that the response has to carry out, and whose it is."""

    cut: Cut
    touch: Touch


@dataclass(frozen=True)
class PlannedLoad:
    """A fault that the engine has to carry out at `dose`, of which the request gets `received`, and whose it is."""

    draw: Draw
    dose: float
    received: float
    touch: Touch


@dataclass(frozen=True)
class SharedWindow:
    """A window in which a fault is on that shares what it leaves in the engine's cache, and the request's draw."""

    draw: Draw
    window: ActiveWindow

    @property
    def salt(self) -> str:
        """What no other window has: a fault's windows open one after the other."""
        return f"{self.window.fault}.{self.window.window}.{self.window.on:.6f}"


@dataclass(eq=False)
class Passage:
    """What the chain has decided for one request so far."""

    due: float
    """When the request may go on; the arrival plus all delays."""
    slept: float = 0.0
    """Seconds it was held."""
    reply: Reply | None = None
    answered_by: str | None = None
    cuts: list[PlannedCut] = field(default_factory=list)
    loads: list[PlannedLoad] = field(default_factory=list)
    shared: list[SharedWindow] = field(default_factory=list)

    @property
    def planned(self) -> list[PlannedCut | PlannedLoad]:
        """What is still to come: cuts of the response and what the engine has to carry out."""
        return [*self.cuts, *self.loads]


class Link(Protocol):
    """One link of the chain."""

    async def pass_through(self, passage: Passage) -> None:
        """Do to the request what this link is there for."""


class Head:
    """The first link: it does nothing, so that a run without a fault takes the same way as one with faults."""

    async def pass_through(self, passage: Passage) -> None:
        """Nothing happens here."""


class FaultLink:
    """One fault for one request: carries out its effects and says in the ledger what became of them."""

    def __init__(self, fault: WireFault, draw: Draw, touch: Touch, chain: Chain) -> None:
        self._fault = fault
        self._draw = draw
        self._touch = touch
        self._chain = chain

    async def pass_through(self, passage: Passage) -> None:
        """Apply the fault's effects in their order; none once the request is answered or the run halted."""
        for effect in self._effects(passage):
            if self._chain.halted:
                # While an effect before this one was held.
                return
            match effect:
                case Delay():
                    await self._delay(effect, passage)
                case Reply():
                    passage.reply, passage.answered_by = effect, self._fault.name
                    self._touch.apply(f"reply {effect.status}")
                case Cut():
                    passage.cuts.append(PlannedCut(effect, self._touch))

    def _effects(self, passage: Passage) -> Sequence[Effect]:
        window = self._chain.window(self._touch, passage)
        if window is None:
            return ()
        effects = self._fault.effects(window.dose, self._draw)
        if not effects:
            self._touch.bypass("dose 0" if window.dose == 0 else "spared by the draw")
        return effects

    async def _delay(self, delay: Delay, passage: Passage) -> None:
        passage.due += delay.seconds
        self._touch.apply(f"delay {delay.seconds:.3f} s")
        before = self._chain.clock.now()
        in_full = await self._chain.sleepers.until(passage.due)
        held = self._chain.clock.now() - before
        passage.slept += held
        if not in_full:
            self._touch.effect = f"{self._touch.effect}, halted after {held:.3f} s"


class EngineLink:
    """One fault inside the engine for one request: lays it on the request, dose 0 as every other."""

    def __init__(self, fault: EngineFault, draw: Draw, touch: Touch, chain: Chain) -> None:
        self._fault = fault
        self._draw = draw
        self._touch = touch
        self._chain = chain

    async def pass_through(self, passage: Passage) -> None:
        """Lay the fault on the request unless that is answered or the run halted."""
        window = self._chain.window(self._touch, passage)
        if window is not None:
            received = self._fault.received(window.dose, self._draw)
            passage.loads.append(PlannedLoad(self._draw, window.dose, received, self._touch))


class SharedLink:
    """A window that parts the engine's prefix cache, for every request of its phase, also those the draw spares."""

    def __init__(self, shared: SharedWindow) -> None:
        self._shared = shared

    async def pass_through(self, passage: Passage) -> None:
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

    def links(self, faults: Sequence[Fault], request: str, path: str) -> tuple[list[Link], list[Touch]]:
        """The links a request walks, and for the ledger one Touch for each of `faults`, on or not."""
        links: list[Link] = [HEAD]
        touches = []
        for fault in faults:
            draw = fault.draw(self._seed, request)
            touch = self._touch(fault, draw, path)
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

    def window(self, touch: Touch, passage: Passage) -> ActiveWindow | None:
        """The window in which `touch` acts; None, and the reason in `touch`, once answered or halted."""
        if passage.answered_by is not None:
            touch.bypass(f"answered by {passage.answered_by}")
            return None
        if self.halted:
            touch.bypass("halted")
            return None
        return touch.window

    async def walk(self, links: Sequence[Link], arrival: float) -> Passage:
        """Walk `links` to the end or to the first reply; what a reply keeps from happening is told who answered."""
        passage = Passage(due=arrival)
        for link in links:
            await link.pass_through(passage)
        if passage.answered_by is not None:
            for planned in passage.planned:
                planned.touch.bypass(f"answered by {passage.answered_by}")
        return passage

    def _touch(self, fault: Fault, draw: Draw, path: str) -> Touch:
        planned = fault.planned(draw, path)
        window = self._windows.get(fault.name)
        return Touch(
            fault=fault.name,
            kind=fault.kind,
            draw=draw.at("select"),
            planned=planned,
            window=window,
            bypassed=self._first_reason(fault, window is not None) if planned else None,
        )

    def _first_reason(self, fault: Fault, on: bool) -> str:
        if not on:
            return "halted" if self.halted else "no window"
        return "not reached" if isinstance(fault, WireFault | EngineFault) else f"carried by the {fault.surface}"
