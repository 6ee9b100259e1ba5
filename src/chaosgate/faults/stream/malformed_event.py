"""stream.malformed-event: some streams have an event in them that is no JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from chaosgate.draws import Draw
from chaosgate.model.fault import FAULTS, Sweep, WireFault, Witness
from chaosgate.model.observation import Observation
from chaosgate.model.stream_edit import Step, StreamEditor, StreamEvent
from chaosgate.units import Share

Form = Literal["truncated-json", "not-json", "empty"]

DATA: Final[Mapping[Form, str]] = MappingProxyType(
    {
        "truncated-json": '{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"',
        "not-json": "upstream connect error or disconnect/reset before headers",
        "empty": "",
    }
)
"""The data of each form: a chunk that breaks off, what Envoy says in place of an answer, and nothing at all.

The last is an event too: an SSE parser hands on an empty string for a line `data:` (WHATWG HTML, section 9.2.6).
"""


@FAULTS.register("stream.malformed-event")
class StreamMalformedEvent(WireFault):
    """A proxy or server that writes rubbish into its streams: a share of them has one event more, which is no JSON.

    All events of the answer still come, so a client that passes over the bad one loses nothing. The client of a run
    does not: it counts such a stream as an error.
    """

    kind: Literal["stream.malformed-event"]
    after: Annotated[int, Field(ge=1, le=100_000)] = 2
    """Data events before the malformed one."""
    form: Form = "truncated-json"
    """Its data: the beginning of a chunk, a plain sentence, or an empty string."""
    dose: Sweep[Literal["probability"], Share]

    max_dose: ClassVar[float] = 1.0

    def editor(self, dose: float, draw: Draw) -> StreamEditor | None:
        """One malformed event for the share `dose` of streams; those hit at a low dose are hit at a higher one too."""
        return InsertAfter(self.after, self.form) if draw.at("hit") < dose else None

    def witness(self, dose: float) -> Witness:
        """The client cannot read more of the streams that began well; half of the planned share must show."""
        return Witness("share of streams with an error", "share", self.least_rise(dose), _broken)


class InsertAfter(StreamEditor):
    """Passes everything on, and sends one malformed event behind so many data events."""

    def __init__(self, after: int, form: Form) -> None:
        self._after = after
        self._form: Form = form

    def event(self, event: StreamEvent) -> Sequence[Step]:
        """The event as it is; behind the last of those `after` the malformed one."""
        if not event.counts or event.number + 1 != self._after:
            return (event.raw,)
        self.effect = f"{self._form} after {self._after} events"
        return event.raw, f"data: {DATA[self._form]}\n\n".encode()


def _broken(seen: Observation) -> float:
    return float(seen.status == 200 and seen.outcome == "error")
