"""What a filter kind owes: pure verdicts of the kinds that a gateway can carry out, on any request and any answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from chaosgate.conformance.common import build, call, check_documented, check_named, require
from chaosgate.conformance.wire_samples import PROMPTS
from chaosgate.model.filter import FILTERS, Answered, Asked, Filter, Refused, Repaired, Retry, Rewritten
from chaosgate.model.request_facts import RequestFacts

METHODS = ("check", "holds", "judge")
TEXTS = ("", "It is Oslo.", '{"city": "Oslo"}', '```json\n{"city": "Oslo"}\n```', '{"city": "Os', "\ufffd\u200d" * 50)
"""Answers of a model: none, plain, JSON, fenced, cut, and characters that nobody sees."""
_BODIES: tuple[dict[str, Any] | None, ...] = (None, {}, {"stream": True, "response_format": {"type": "json_object"}})
_ASKED = tuple(
    Asked(RequestFacts("/v1/chat/completions", {}, body), prompt, 100)
    for body in _BODIES
    for prompt in (*PROMPTS, None)
)

Verdict = TypeVar("Verdict")


def check_filter(kind: type[Filter], example: Mapping[str, Any]) -> None:
    """Check a filter kind on an `example`, an entry of a spec's `filters`; a ConformanceError says what is owed."""
    own = [name for name in METHODS if getattr(kind, name) is not getattr(Filter, name)]
    require(bool({"check", "judge"} & set(own)), kind, "it does nothing; write check, or holds and judge")
    require(("judge" in own) == ("holds" in own), kind, "judge and holds belong together; write both or none")
    check_documented(kind, *own)
    check_named(kind, FILTERS)
    one = build(kind, example)
    for asked in _ASKED:
        _check_verdict(kind, asked, _twice(kind, "check(...)", partial(one.check, asked)))
        held = _twice(kind, "holds(...)", partial(one.holds, asked))
        require(isinstance(held, bool), kind, f"holds gave {held!r}; give True or False")
    for text in TEXTS:
        _check_judged(kind, text, _twice(kind, f"judge({text!r}, 0)", partial(one.judge, text, 0)))


def _twice(kind: type[Filter], what: str, function: Callable[[], Verdict]) -> Verdict:
    first, again = call(kind, what, function), call(kind, what, function)
    require(first == again, kind, f"{what} gave {first} and then {again}; keep no state")
    return first


def _check_verdict(kind: type[Filter], asked: Asked, verdict: object) -> None:
    allowed = verdict is None or isinstance(verdict, Rewritten | Answered | Refused)
    require(allowed, kind, f"check gave {verdict!r}; give Rewritten, Answered, Refused or None")
    if isinstance(verdict, Rewritten):
        require(verdict.prompt != asked.prompt, kind, "check rewrote a prompt to itself; give None where it may pass")
        require(bool(verdict.prompt.turns), kind, "check left no turn; a request asks something")
    _check_status(kind, verdict)


def _check_judged(kind: type[Filter], text: str, verdict: object) -> None:
    allowed = verdict is None or isinstance(verdict, Repaired | Retry | Refused)
    require(allowed, kind, f"judge gave {verdict!r}; give Repaired, Retry, Refused or None")
    if isinstance(verdict, Repaired):
        require(verdict.text != text, kind, "judge repaired an answer to itself; give None where it may pass")
    _check_status(kind, verdict)


def _check_status(kind: type[Filter], verdict: object) -> None:
    if isinstance(verdict, Refused):
        require(400 <= verdict.status <= 599, kind, f"it refuses with {verdict.status}; an error is 400 to 599")
