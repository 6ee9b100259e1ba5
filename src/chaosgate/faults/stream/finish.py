"""The finish reasons of a chunk, read and replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chaosgate.model.json_splice import elements, replaced, written
from chaosgate.model.stream_edit import StreamEvent, with_json


def finish_reasons(event: StreamEvent) -> Sequence[str]:
    """The finish reasons that an event's choices give, in their order; none of a choice that goes on."""
    return [choice["finish_reason"] for choice in _choices(event) if _ends(choice)]


def with_finish(event: StreamEvent, reason: str | None) -> bytes:
    """`event` with `reason` in the place of each finish reason that it gives; the same bytes where it gives none."""
    if not finish_reasons(event):
        return event.raw
    as_written = elements(event.data or "", "choices")
    choices = [
        replaced(text, ("finish_reason",), written(reason)) if _ends(choice) else text
        for text, choice in zip(as_written, _choices(event), strict=True)
    ]
    return with_json(event, ("choices",), f"[{','.join(choices)}]")


def _choices(event: StreamEvent) -> Sequence[Any]:
    choices = (event.chunk or {}).get("choices")
    return choices if isinstance(choices, list) else ()


def _ends(choice: Any) -> bool:
    return isinstance(choice, Mapping) and isinstance(choice.get("finish_reason"), str)
