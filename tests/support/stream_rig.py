"""Streams and editors for tests without a network: chat events, and what comes out of an `Editing` of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chaosgate.gateway.editing import Editing
from chaosgate.gateway.ledger import Touch
from chaosgate.gateway.passage import PlannedEdit
from chaosgate.model.stream_edit import Break, Finish, Step, StreamEditor
from chaosgate.sse import EventSplitter, event_data

DONE = b"data: [DONE]\n\n"


def event(chunk: Any) -> bytes:
    """`chunk` as one event."""
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()


def chat(text: str | None, finish: str | None = None, **delta: Any) -> bytes:
    """One event of a chat stream; without text only its role or finish reason."""
    content = {} if text is None else {"content": text}
    return event({"choices": [{"index": 0, "delta": {**delta, **content}, "finish_reason": finish}]})


def answer(*words: str) -> list[bytes]:
    """A whole chat stream: role, one event a word, finish reason, usage and `[DONE]`."""
    usage = event({"choices": [], "usage": {"completion_tokens": len(words)}})
    return [chat("", role="assistant"), *map(chat, words), chat(None, "stop"), usage, DONE]


def touch(fault: str) -> Touch:
    """The ledger's note of a fault that has done nothing yet."""
    return Touch(fault, "stream.test", 0.0, True, None, "not reached")


def editing_of(*editors: StreamEditor | None) -> tuple[Editing, list[Touch]]:
    """The editing of a stream by `editors`, called first, second and so on, and what the ledger says of each."""
    present = [editor for editor in editors if editor is not None]
    touches = [touch(name) for name, _ in zip(("first", "second", "third", *"456789"), present, strict=False)]
    return Editing([PlannedEdit(*pair) for pair in zip(present, touches, strict=True)]), touches


def sent(editing: Editing, chunks: Iterable[bytes]) -> list[Step]:
    """What a client is sent of a stream that came in `chunks`, up to its end; bytes in a row are joined."""
    steps: list[Step] = []
    for step in _steps(editing, chunks):
        if isinstance(step, bytes) and steps and isinstance(steps[-1], bytes):
            steps[-1] += step
        elif step != b"":
            steps.append(step)
        if isinstance(step, Finish | Break):
            break
    editing.close()
    return steps


def edited(editor: StreamEditor | None, stream: Sequence[bytes]) -> list[Step]:
    """What a client is sent of `stream` through one editor."""
    return sent(editing_of(editor)[0], stream)


def texts(steps: Sequence[Step]) -> list[str]:
    """The text of each event that adds some."""
    chunks = [json.loads(data) for data in datas(steps) if data != "[DONE]"]
    found = (choice["delta"].get("content") for chunk in chunks for choice in chunk["choices"])
    return [text for text in found if text]


def datas(steps: Sequence[Step]) -> list[str]:
    """The data of each event."""
    splitter = EventSplitter()
    events = splitter.feed(b"".join(step for step in steps if isinstance(step, bytes))) + splitter.close()
    assert splitter.rest == b""
    return [data for one in events if (data := event_data(one)) is not None]


def _steps(editing: Editing, chunks: Iterable[bytes]) -> Iterator[Step]:
    for chunk in chunks:
        yield from editing.feed(chunk)
    yield from editing.end()
