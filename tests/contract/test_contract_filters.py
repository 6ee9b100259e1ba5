"""Every registered filter keeps the contract, and every way to break it is refused by a broken twin."""

from __future__ import annotations

import itertools
from typing import Any, Literal

import pytest

from chaosgate.conformance import ConformanceError, check_filter
from chaosgate.model.filter import FILTERS, Answered, Asked, Filter, Refused, Repaired, Retry, Rewritten
from chaosgate.model.prompt_text import PromptText

_NUMBERS = itertools.count()
_CALLS = itertools.count()

EXAMPLES: list[dict[str, Any]] = [
    {"kind": "byte-limit", "limit": 50},
    {"kind": "prompt-sanitiser", "normalise": "NFKC"},
    {"kind": "output-validator", "onInvalid": "repair", "jsonSchema": {"type": "object"}},
    {"kind": "output-validator", "when": "always", "onInvalid": "retry"},
    {"kind": "standard-refusal", "deny": ["city"]},
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: f"{one['kind']} {len(one)}")
def test_a_registered_filter_keeps_the_contract(example: dict[str, Any]) -> None:
    check_filter(FILTERS.get(example["kind"]), example)


def test_every_registered_filter_has_an_example() -> None:
    built_in = {name for name, kind in FILTERS.items() if kind.__module__.startswith("chaosgate.")}
    assert {one["kind"] for one in EXAMPLES} == built_in


class Sound(Filter):
    """A filter that keeps the contract; the twins below break one thing each."""

    kind: Literal["twin.sound"]

    def check(self, asked: Asked) -> Rewritten | Answered | Refused | None:
        """Nothing is wrong with any request."""
        return None

    def holds(self, asked: Asked) -> bool:
        """Every answer."""
        return True

    def judge(self, text: str, attempt: int) -> Repaired | Retry | Refused | None:
        """Nothing is wrong with any answer."""
        return None


def broken(**changed: Any) -> type[Filter]:
    """A registered subclass of the sound twin with something replaced."""
    for name, value in changed.items():
        if callable(value):
            value.__doc__ = f"The {name} of a broken twin."
    kind = type(f"Broken{next(_NUMBERS)}", (Sound,), {"__module__": __name__, "__doc__": "A broken twin.", **changed})
    return FILTERS.register("twin.sound")(kind)


def check(verdict: Any) -> dict[str, Any]:
    return {"check": lambda self, asked: verdict(asked)}


def judge(verdict: Any) -> dict[str, Any]:
    return {"judge": lambda self, text, attempt: verdict(text)}


TWINS: list[tuple[dict[str, Any], str]] = [
    ({"__doc__": None}, "the class has no docstring"),
    ({"check": Filter.check, "judge": Filter.judge, "holds": Filter.holds}, "it does nothing; write check"),
    ({"holds": Filter.holds}, "judge and holds belong together"),
    ({"holds": lambda self, asked: 1}, "holds gave 1; give True or False"),
    (check(lambda asked: "no"), "check gave 'no'; give Rewritten, Answered, Refused or None"),
    (check(lambda asked: Retry("no")), r"check gave Retry\(why='no'\); give Rewritten"),
    (check(lambda asked: asked.prompt and Rewritten(asked.prompt, "")), "check rewrote a prompt to itself"),
    (check(lambda asked: Rewritten(PromptText(()), "")), "check left no turn"),
    (check(lambda asked: Refused(200, "no")), "it refuses with 200; an error is 400 to 599"),
    (check(lambda asked: Answered(str(next(_CALLS)), "")), r"check\(\.\.\.\) gave .*; keep no state"),
    (check(lambda asked: asked.question), r"check\(\.\.\.\) raised AttributeError"),
    (judge(lambda text: Answered(text, "")), "judge gave Answered"),
    (judge(lambda text: Repaired(text, "")), "judge repaired an answer to itself"),
    (judge(lambda text: Refused(99, "no")), "it refuses with 99"),
    (judge(lambda text: Retry(str(next(_CALLS)))), r"judge\('', 0\) gave .*; keep no state"),
]


@pytest.mark.parametrize(("changed", "sentence"), TWINS, ids=[sentence[:40] for _, sentence in TWINS])
def test_a_broken_twin_is_refused(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConformanceError, match=sentence):
        check_filter(broken(**changed), {"kind": "twin.sound"})


def test_the_sound_twin_passes_and_one_that_is_not_registered_is_refused() -> None:
    with pytest.raises(ConformanceError, match=r"filter kind 'twin\.sound' is not registered"):
        check_filter(Sound, {"kind": "twin.sound"})
    check_filter(FILTERS.register("twin.sound")(Sound), {"kind": "twin.sound"})
