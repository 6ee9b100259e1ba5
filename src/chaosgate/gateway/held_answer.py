"""A whole answer that is held back: its text, and the same answer with another text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chaosgate.model.json_splice import replaced, written
from chaosgate.model.stream_edit import StreamEvent, with_text
from chaosgate.sse import EventSplitter


@dataclass(frozen=True)
class HeldAnswer:
    """The body of a response, of a stream of events or one JSON object."""

    body: bytes
    streamed: bool

    @property
    def text(self) -> str | None:
        """The text of its choice; None where it has none that can be read, or several choices."""
        if self.streamed:
            return self._streamed_text()
        choice = _choice(self._object)
        said = choice.get("message")
        text = said.get("content") if isinstance(said, Mapping) else choice.get("text")
        return text if isinstance(text, str) else None

    def _streamed_text(self) -> str | None:
        try:
            events = self._events
        except ValueError:
            return None
        single = all(_single(event.chunk) for event in events if event.counts)
        return "".join(event.text for event in events) if single else None

    def with_text(self, text: str) -> bytes:
        """The body with `text` in the place of its own: of a stream in its first event that has some."""
        if self.streamed:
            return b"".join(self._replaced(text))
        chat = isinstance(_choice(self._object).get("message"), Mapping)
        path = ("choices", 0, *(("message", "content") if chat else ("text",)))
        return replaced(self.body.decode(json.detect_encoding(self.body)), path, written(text)).encode()

    def _replaced(self, text: str) -> Iterator[bytes]:
        left = text
        for event in self._events:
            if not event.text:
                yield event.raw
            elif left or _finishes(event):
                yield with_text(event, left)
                left = ""

    @cached_property
    def _events(self) -> list[StreamEvent]:
        splitter = EventSplitter()
        raws = [*splitter.feed(self.body), *splitter.close()]
        return [StreamEvent(raw, number) for number, raw in enumerate((*raws, splitter.rest)) if raw]

    @cached_property
    def _object(self) -> Mapping[str, Any] | None:
        try:
            data = json.loads(self.body)
        except (ValueError, RecursionError):
            return None
        return data if isinstance(data, dict) else None


def _choice(data: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The only choice of a completion; empty where there are more or none."""
    choices = (data or {}).get("choices")
    choice = choices[0] if isinstance(choices, list) and len(choices) == 1 else None
    return choice if isinstance(choice, Mapping) else {}


def _single(chunk: Mapping[str, Any] | None) -> bool:
    """Whether a chunk adds to the first choice alone; an event that is no chunk cannot be judged."""
    choices = chunk.get("choices") if chunk is not None else None
    return isinstance(choices, list) and all(
        isinstance(choice, Mapping) and choice.get("index", 0) == 0 for choice in choices
    )


def _finishes(event: StreamEvent) -> bool:
    return _choice(event.chunk).get("finish_reason") is not None
