"""Prompts as JSON Lines: one object a line, read strictly and written back as it was read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from chaosgate.errors import UsageError, dotted, one_line
from chaosgate.model.base import Frozen
from chaosgate.model.lengths import MAX_ANSWER_TOKENS
from chaosgate.model.source import yaml_type
from chaosgate.model.utf8 import utf8_text
from chaosgate.model.validation import validate
from chaosgate.prompts.grading import AnswerForm, is_right
from chaosgate.prompts.prompt import Message, Prompt, Role, Suggestion
from chaosgate.strict_json import parse_json
from chaosgate.texts import words

MAX_BYTES = 4 << 20
"""The largest file that is read, in bytes: some ten thousand prompts."""
_SHOWN = 10
"""As many problems of one file are told as a reader mends at a time."""
Placed = tuple[str, Any]
"""`file:line`, and what was read there: an exception where it could not be."""


def _with_words(entity: str) -> str:
    if not words(entity):
        raise ValueError(f"read {entity!r}; an entity has a word, by which it is found in an answer")
    return entity


class _Turn(Frozen):
    role: Role
    content: str


class _Line(Frozen):
    """One line. `messages` is a conversation that ends with what is asked; `prompt` is one without earlier turns."""

    prompt: str | None = None
    messages: tuple[_Turn, ...] | None = None
    answer: str | None = None
    form: AnswerForm = "text"
    tenant: str | None = None
    session: str | None = None
    max_tokens: Annotated[int, Field(ge=1, le=MAX_ANSWER_TOKENS)] | None = None
    suggestion: str | None = None
    accepted: bool | None = None
    entities: tuple[Annotated[str, AfterValidator(_with_words)], ...] = ()

    @model_validator(mode="after")
    def _whole(self) -> _Line:
        if (self.prompt is None) == (self.messages is None):
            raise ValueError("write one of `prompt` and `messages`")
        if self.messages is not None and (not self.messages or self.messages[-1].role != "user"):
            raise ValueError("`messages` ends with what is asked, a message of the role `user`")
        if not self.turns()[-1].content.strip():
            raise ValueError("what is asked is empty")
        if self.session is not None and self.messages is not None:
            raise ValueError("`session` goes with `prompt`; `messages` hold their history themselves")
        if (self.suggestion is None) != (self.accepted is None):
            raise ValueError("`suggestion` and `accepted` go together")
        if self.form == "json" and self.answer is not None and not is_right(self.answer, self.answer, "json"):
            raise ValueError("with `form: json` the `answer` is JSON")
        return self

    def turns(self) -> tuple[Message, ...]:
        if self.messages is None:
            return (Message("user", self.prompt or ""),)
        return tuple(Message(turn.role, turn.content) for turn in self.messages)

    def to_prompt(self, before: Sequence[Message]) -> Prompt:
        *own, asked = self.turns()
        history = (*before, *own)
        suggestion = None
        if self.suggestion is not None and self.accepted is not None:
            suggestion = Suggestion(self.suggestion, self.accepted)
        return Prompt(
            asked.content, self.answer, self.form, history, self.tenant, suggestion, self.max_tokens, self.entities
        )


def read_prompts(data: bytes, file: str) -> tuple[Prompt, ...]:
    """The prompts in `data`, in order; `file` names it in a UsageError, which lists what is wrong line by line.

    Keys of a line: `prompt` (text) or `messages` (as OpenAI's API takes them, the last one the user's), and where they
    are known `answer`, its `form` (text or json), `entities` (what a right answer names), `tenant`, `maxTokens`, and of
    a log `suggestion` with `accepted`.
    Lines with one `session` are the turns of a conversation, in their order: each is asked with the earlier ones and
    their answers. Empty lines count as lines and hold no prompt.
    """
    if len(data) > MAX_BYTES:
        raise UsageError(f"{file}: is larger than {MAX_BYTES} bytes, the most that is read; split the file")
    text = utf8_text(data, file)
    # Only a line feed ends a line: JSON text may hold what else Python takes for the end of one.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return prompts_of_rows([(f"{file}:{number}", _parsed(line)) for number, line in lines], file)


def prompts_of_rows(rows: Sequence[Placed], file: str) -> tuple[Prompt, ...]:
    """The prompts of `rows`, each a line's values with its place; a UsageError lists what is wrong with them."""
    sessions: dict[str, tuple[Message, ...]] = {}
    found = [one for place, row in rows for one in _read(row, place, sessions)]
    problems = [one for one in found if isinstance(one, str)]
    if problems:
        raise UsageError("\n".join(_first(problems)))
    prompts = tuple(one for one in found if isinstance(one, Prompt))
    if not prompts:
        raise UsageError(f'{file}: holds no prompt; write lines such as {{"prompt": "2 + 2 =", "answer": "4"}}')
    return prompts


def write_prompts(prompts: Iterable[Prompt]) -> str:
    """The lines from which `read_prompts` reads `prompts` again; keys without a value are left out."""
    return "".join(json.dumps(_row(prompt), ensure_ascii=True) + "\n" for prompt in prompts)


def _parsed(line: str) -> Any:
    try:
        return parse_json(line)
    except (ValueError, RecursionError) as error:
        return error


def _read(data: Any, place: str, sessions: dict[str, tuple[Message, ...]]) -> list[Prompt | str]:
    """The prompt of a line, or what is wrong with it. `sessions` are the conversations so far; this turn joins its."""
    if isinstance(data, Exception):
        return [f"{place}: is no JSON: {one_line(str(data))}"]
    if not isinstance(data, dict):
        return [f'{place}: read {yaml_type(data)}; a line is an object such as {{"prompt": "2 + 2 =", "answer": "4"}}']
    row, problems = validate(_Line, data)
    if row is None:
        return [f"{place}: {f'{dotted(one.path)}: ' if one.path else ''}{one_line(one.message)}" for one in problems]
    before = sessions.get(row.session or "", ())
    if before and before[-1].role == "user":
        return [f"{place}: session {row.session!r} goes on after a turn without an `answer`; write that answer"]
    prompt = row.to_prompt(before)
    if row.session is not None:
        said = (Message("assistant", row.answer),) if row.answer is not None else ()
        sessions[row.session] = (*before, Message("user", prompt.text), *said)
    return [prompt]


def _first(problems: list[str]) -> Iterator[str]:
    yield from problems[:_SHOWN]
    if len(problems) > _SHOWN:
        yield f"and {len(problems) - _SHOWN} more"


def _row(prompt: Prompt) -> dict[str, Any]:
    asked: dict[str, Any] = {"messages": prompt.messages()} if prompt.history else {"prompt": prompt.text}
    suggestion = prompt.suggestion
    optional = {
        "answer": prompt.answer,
        "form": None if prompt.form == "text" else prompt.form,
        "tenant": prompt.tenant,
        "suggestion": suggestion.text if suggestion else None,
        "accepted": suggestion.accepted if suggestion else None,
        "maxTokens": prompt.max_tokens,
        "entities": list(prompt.entities) or None,
    }
    return {**asked, **{key: value for key, value in optional.items() if value is not None}}
