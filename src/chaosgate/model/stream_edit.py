"""What a fault may do to a streamed answer: an editor is given one event after the other and says what is sent instead.

An editor belongs to one stream and may remember what it saw of it. It opens no socket and reads no clock: the same
events, dose and draw give the same steps, however the stream was chunked on its way.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chaosgate.model.json_splice import Step as PathStep
from chaosgate.model.json_splice import replaced, written
from chaosgate.sse import DONE, event_data, with_data


@dataclass(frozen=True)
class Pause:
    """Send nothing for so many seconds. What was sent before it is on its way first, also with 0."""

    seconds: float


@dataclass(frozen=True)
class Finish:
    """End the response here, as if it were whole."""


@dataclass(frozen=True)
class Break:
    """Close the connection here, so that the client sees that something is missing."""


Step = bytes | Pause | Finish | Break
"""Bytes are sent as they are; nothing is sent after Finish or Break."""


@dataclass(frozen=True)
class StreamEvent:
    """One event of a stream: its bytes, and how many events with data came before it.

    Comments and the final `[DONE]` do not count.
    """

    raw: bytes
    number: int

    @cached_property
    def data(self) -> str | None:
        """Its data; None for a comment, such as a keep-alive."""
        return event_data(self.raw)

    @property
    def counts(self) -> bool:
        """Whether it is one of those that are numbered."""
        return self.data not in (None, DONE)

    @property
    def done(self) -> bool:
        """Whether it is the final `[DONE]`."""
        return self.data == DONE

    @cached_property
    def chunk(self) -> dict[str, Any] | None:
        """Its data as the JSON object of a completion chunk; None where it is none."""
        try:
            value = json.loads(self.data or "")
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None

    @cached_property
    def text(self) -> str:
        """The text it adds to the first choice, of chat and of plain completions; empty where it adds none."""
        choice = first_choice(self.chunk)
        delta = choice.get("delta")
        text = delta.get("content") if isinstance(delta, Mapping) else choice.get("text")
        return text if isinstance(text, str) else ""


class StreamEditor(ABC):
    """Edits one stream. `effect` says for the ledger what was done so far, None while that is nothing."""

    effect: str | None = None
    missed: str = "the stream ended first"
    """Why nothing was done, when the stream is over and `effect` is None."""

    @abstractmethod
    def event(self, event: StreamEvent) -> Sequence[Step]:
        """What is sent in the place of `event`; `(event.raw,)` leaves it as it is."""

    def end(self) -> Sequence[Step]:
        """What is still sent when the stream has ended, or is no longer edited: what was held back, no more."""
        return ()


def first_choice(chunk: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The first of a chunk's choices, empty where it has none."""
    choices = (chunk or {}).get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, Mapping) else {}


def with_text(event: StreamEvent, text: str) -> bytes:
    """`event` with another text in its first choice; the same bytes where it has no text to replace."""
    if not event.text:
        return event.raw
    chat = isinstance(first_choice(event.chunk).get("delta"), Mapping)
    return with_json(event, ("choices", 0, *(("delta", "content") if chat else ("text",))), written(text))


def with_json(event: StreamEvent, path: Sequence[PathStep], value: str) -> bytes:
    """`event`, which has a chunk, with the JSON `value` at `path` of that; all else of it stays as it is written."""
    return with_data(event.raw, replaced(event.data or "", path, value))


def encode(chunk: Mapping[str, Any]) -> bytes:
    """A chunk as an event of its own."""
    return b"data: " + json.dumps(chunk, ensure_ascii=False, separators=(",", ":")).encode(errors="replace") + b"\n\n"
