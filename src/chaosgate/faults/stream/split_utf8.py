"""stream.split-utf8: text events are cut inside a character of several bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator

from chaosgate.draws import Draw
from chaosgate.faults.stream.finish import with_finish
from chaosgate.model.fault import FAULTS, AnswerWitness, Sweep, WireFault
from chaosgate.model.stream_edit import Pause, Step, StreamEditor, StreamEvent, with_text
from chaosgate.units import Share


def _of_several_bytes(text: str) -> str:
    if len(text) != 1 or _bytes_before_cut(text) is None:
        raise ValueError(f"read {text!r}; write one character outside ASCII, such as é")
    return text


Between = Literal["events", "writes"]
Character = Annotated[str, AfterValidator(_of_several_bytes)]


@FAULTS.register("stream.split-utf8")
class StreamSplitUtf8(WireFault):
    """A server that streams bytes without regard to characters: text events are cut behind the first byte of one.

    It hits text events that have a character of several UTF-8 bytes, each by itself.
    """

    kind: Literal["stream.split-utf8"]
    between: Between = "events"
    """`events` cuts one event into two, each decoded by itself, so that U+FFFD stands for the halves: what a server
    sends that decodes token by token. `writes` sends the bytes unchanged in two writes; a client that decodes as the
    standard says, with a state (WHATWG HTML, section 9.2.5), sees nothing of that, and a run's own client is one."""
    character: Character | None = None
    """A character outside ASCII that is put behind the text of events that have none, and is cut there. It makes the
    fault bite on a model that answers in ASCII, such as the embedded one; left out, such events pass untouched. With
    `writes` a client that decodes rightly reads it whole."""
    dose: Sweep[Literal["share"], Share]

    max_dose: ClassVar[float] = 1.0

    def editor(self, dose: float, draw: Draw) -> StreamEditor | None:
        """Cuts the share `dose` of such events; those cut at a low dose are cut at a higher one too."""
        return SplitCharacters(dose, draw, self.between, self.character or "")

    def witness(self, dose: float) -> AnswerWitness:
        """The client gets other answers than in the baseline: as many as have one such event, at least."""
        unless = "an answer stays the same where no event has a character of several bytes"
        if self.between == "writes":
            unless = "a client that decodes with a state, such as that of a run, loses nothing between two writes"
        return AnswerWitness(self.least_rise(dose), unless)


class SplitCharacters(StreamEditor):
    """Cuts a share of the text events that have a character of several bytes, behind the first byte of the first one.

    An event without one is given `character` first, unless that is empty.
    """

    missed = "no text event had a character of several bytes"

    def __init__(self, share: float, draw: Draw, between: Between, character: str) -> None:
        self._share = share
        self._draw = draw
        self._between = between
        self._character = character
        self._cut = 0

    def event(self, event: StreamEvent) -> Sequence[Step]:
        """The event as it is, or its two parts."""
        text = self._text(event)
        before = _bytes_before_cut(text)
        if before is None:
            return (event.raw,)
        if self._draw.at(f"event {event.number}") >= self._share:
            self.missed = "spared by the draw"
            return (event.raw,)
        self._cut += 1
        self.effect = f"{self._cut} events cut inside a character, between {self._between}"
        return _between_events(event, text, before) if self._between == "events" else _between_writes(event, text)

    def _text(self, event: StreamEvent) -> str:
        plain = bool(event.text) and _bytes_before_cut(event.text) is None
        return event.text + self._character if plain else event.text


def _bytes_before_cut(text: str) -> int | None:
    """How many of the UTF-8 bytes of `text` end with the first byte of a character of several; None without one."""
    return next((index for index, byte in enumerate(_utf8(text)) if byte & 0xC0 == 0x80), None)


def _utf8(text: str) -> bytes:
    # A lone surrogate, which JSON can carry, has no UTF-8.
    return text.encode(errors="replace")


def _between_events(event: StreamEvent, text: str, before: int) -> Sequence[Step]:
    halves = (part.decode(errors="replace") for part in (_utf8(text)[:before], _utf8(text)[before:]))
    first, second = (with_text(event, half) for half in halves)
    # A choice ends once, with its last text.
    return with_finish(StreamEvent(first, event.number), None), second


def _between_writes(event: StreamEvent, text: str) -> Sequence[Step]:
    raw = with_text(event, text)
    cut = next(index for index, byte in enumerate(raw) if byte & 0xC0 == 0x80)
    return raw[:cut], Pause(0), raw[cut:]
