"""When an answer is right: exactly the known one, but for what its form leaves open."""

from __future__ import annotations

from typing import Any, Literal, get_args

from chaosgate.strict_json import parse_json

AnswerForm = Literal["text", "json"]
"""`text`: the same characters, but for white space around them. `json`: the same JSON value."""
ANSWER_FORMS: tuple[AnswerForm, ...] = get_args(AnswerForm)


def is_right(text: str, known: str, form: AnswerForm) -> bool:
    """Whether `text` is the answer `known`, whatever `text` holds.

    As JSON (RFC 8259) the order of an object's keys and white space between tokens say nothing; text around the value,
    a key that stands twice, NaN and infinity make it no JSON, and no JSON is wrong. 1 and 1.0 are one number.
    """
    if form == "text":
        return text.strip() == known.strip()
    try:
        return _same(parse_json(text), parse_json(known))
    except (ValueError, RecursionError):
        return False


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    # In Python true is 1.
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
