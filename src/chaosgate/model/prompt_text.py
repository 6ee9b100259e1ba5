"""The text of a request to an OpenAI-compatible server, taken out of its body and put back, for faults to rewrite."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from chaosgate.model.json_splice import elements, replaced, written

PLAIN = "prompt"
"""The role of a turn that is a plain completion's prompt."""


@dataclass(frozen=True)
class Turn:
    """One message: who speaks and what is said. `message` is what it was read from; None for one that is new."""

    role: str
    text: str
    message: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class PromptText:
    """A request's turns in their order, at least one; of a plain completion one turn a prompt."""

    turns: tuple[Turn, ...]

    @property
    def size(self) -> int:
        """Characters of all turns."""
        return sum(len(turn.text) for turn in self.turns)

    @cached_property
    def last(self) -> int:
        """The index of the last turn that asks: the last of the user, else the last of all."""
        asking = [index for index, turn in enumerate(self.turns) if turn.role == "user"]
        return asking[-1] if asking else len(self.turns) - 1

    def with_text(self, index: int, text: str) -> PromptText:
        """The same turns, with another text at `index`."""
        turns = list(self.turns)
        turns[index] = replace(turns[index], text=text)
        return PromptText(tuple(turns))


def read_prompt(body: Mapping[str, Any]) -> PromptText | None:
    """The text of a chat (`messages`) or plain completion (`prompt`); None where the body has none that can be read."""
    messages, prompt = body.get("messages"), body.get("prompt")
    if isinstance(messages, list):
        return _of(messages, _chat_turn)
    if isinstance(prompt, str):
        return PromptText((Turn(PLAIN, prompt),))
    return _of(prompt, _plain_turn) if isinstance(prompt, list) else None


def write_prompt(text: str, body: Mapping[str, Any], prompt: PromptText) -> str:
    """The JSON `text`, which was read as `body`, with the turns of `prompt`; all else stays as it is written."""
    if isinstance(messages := body.get("messages"), list):
        as_written = dict(zip(map(id, messages), elements(text, "messages"), strict=True))
        turns = (_message(turn, as_written.get(id(turn.message), "{}")) for turn in prompt.turns)
        return replaced(text, ("messages",), f"[{','.join(turns)}]")
    texts = [turn.text for turn in prompt.turns]
    return replaced(text, ("prompt",), written(texts[0] if isinstance(body.get("prompt"), str) else texts))


def _of(items: Sequence[Any], read: Callable[[Any], Turn | None]) -> PromptText | None:
    """The turns that `read` makes of `items`; None where it makes none of one of them, or there are no items."""
    turns = [turn for turn in map(read, items) if turn is not None]
    return PromptText(tuple(turns)) if 0 < len(turns) == len(items) else None


def _plain_turn(item: Any) -> Turn | None:
    return Turn(PLAIN, item) if isinstance(item, str) else None


def _chat_turn(item: Any) -> Turn | None:
    if not isinstance(item, Mapping) or not isinstance(item.get("role"), str):
        return None
    content = item.get("content")
    if isinstance(content, list):
        return Turn(item["role"], "".join(_text(part) or "" for part in content), item)
    return Turn(item["role"], content if isinstance(content, str) else "", item)


def _text(part: Any) -> str | None:
    """The text of a part of a message; None for an image and what else is no text."""
    text = part.get("text") if isinstance(part, Mapping) and part.get("type") == "text" else None
    return text if isinstance(text, str) else None


def _message(turn: Turn, text: str) -> str:
    """The message of a turn, in JSON; `text` is the one that it was read from."""
    if turn.message is None:
        return written({"role": turn.role, "content": turn.text})
    before = _chat_turn(turn.message)
    if before is None or (before.role, before.text) == (turn.role, turn.text):
        return text
    if before.role != turn.role:
        text = replaced(text, ("role",), written(turn.role))
    if before.text == turn.text:
        return text
    content = turn.message.get("content")
    if not isinstance(content, list):
        return replaced(text, ("content",), written(turn.text))
    return replaced(text, ("content",), f"[{','.join(_parts(content, elements(text, 'content'), turn.text))}]")


def _parts(content: Sequence[Any], as_written: Sequence[str], text: str) -> list[str]:
    """The parts of a message, in JSON, with `text` where its first text was, and its other texts gone."""
    texts = [index for index, part in enumerate(content) if _text(part) is not None]
    first = texts[0] if texts else len(content)
    others = [part for index, part in enumerate(as_written) if index not in frozenset(texts)]
    return [*others[:first], written({"type": "text", "text": text}), *others[first:]]
