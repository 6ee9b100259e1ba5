"""What the chain of faults has decided for one request."""

from __future__ import annotations

from dataclasses import dataclass, field

from chaosgate.draws import Draw
from chaosgate.gateway.ledger import Touch
from chaosgate.gateway.windows import ActiveWindow
from chaosgate.model.fault import Reply, Reset
from chaosgate.model.filter import Filter, Finding
from chaosgate.model.prompt_text import PromptText
from chaosgate.model.request_facts import RequestFacts
from chaosgate.model.stream_edit import StreamEditor


@dataclass(frozen=True)
class PlannedEdit:
    """An editor that the response has to pass, and whose it is."""

    editor: StreamEditor
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
    arrived: float = field(init=False)
    """When it came: what `due` is at first."""
    prompt: PromptText | None = None
    """What it asks, as the faults so far have left it; None where its body was not read or is no prompt."""
    unreadable: str = "the body is no prompt"
    """Why `prompt` is None, for the ledger."""
    variant: str | None = None
    """The variant of the server that the request goes to; None for the default."""
    slept: float = 0.0
    """Seconds it was held."""
    ending: Reply | Reset | None = None
    """What the request ends with at the gateway, if it does."""
    answered_by: str | None = None
    edits: list[PlannedEdit] = field(default_factory=list)
    loads: list[PlannedLoad] = field(default_factory=list)
    shared: list[SharedWindow] = field(default_factory=list)
    facts: RequestFacts = field(default_factory=lambda: RequestFacts(""))
    """What is known of the request as it came."""
    found: list[Finding] = field(default_factory=list)
    """What the filters did so far."""
    judges: list[Filter] = field(default_factory=list)
    """The filters that judge its answer."""

    def __post_init__(self) -> None:
        self.arrived = self.due

    def end(self, ending: Reply | Reset, fault: str) -> None:
        """The request ends here; what was still to come of it is told by which fault."""
        self.ending = ending
        self.drop(fault)

    def drop(self, by: str) -> None:
        """The request goes no further; `by` tells the ledger who ended it."""
        self.answered_by = by
        for touch in (*(edit.touch for edit in self.edits), *(load.touch for load in self.loads)):
            touch.bypass(f"answered by {by}")
