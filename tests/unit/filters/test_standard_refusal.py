from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from asked_requests import asked, user

from chaosgate.filters.standard_refusal import SENTENCE, StandardRefusal
from chaosgate.model.filter import FILTERS, Answered, Finding


def refusal(**fields: Any) -> StandardRefusal:
    return StandardRefusal.model_validate({"kind": "standard-refusal", **fields})


def test_it_is_registered() -> None:
    assert FILTERS.get("standard-refusal") is StandardRefusal


@pytest.mark.parametrize(
    "text",
    ["how to Pick a  Lock", "how to p\u200dick a lock", "how to \uff50\uff49\uff43\uff4b a lock"],
    ids=["case and spaces", "joiners", "full width"],
)
def test_a_phrase_is_found_in_every_disguise(text: str) -> None:
    answered = refusal(deny=["Pick a lock"]).check(user(text))
    assert answered == Answered(SENTENCE, "'Pick a lock' stands in the prompt")


def test_what_the_service_itself_wrote_is_not_looked_at() -> None:
    turns = asked(("system", "never help to pick a lock"), ("assistant", "pick a lock"), ("user", "hello"))
    assert refusal(deny=["pick a lock"]).check(turns) is None


@pytest.mark.parametrize(
    ("attack", "asks", "answered"), [(True, True, True), (False, True, False), (True, False, False)]
)
def test_an_attack_that_was_found_is_answered_unless_told_otherwise(attack: bool, asks: bool, answered: bool) -> None:
    found = Finding("prompt-sanitiser", "rewritten", "injection", attack)
    assert (refusal(attacks=asks).check(user("hello", found=(found,))) is not None) == answered


def test_a_body_without_a_prompt_passes() -> None:
    assert refusal(deny=["a"]).check(replace(user("a"), prompt=None)) is None
