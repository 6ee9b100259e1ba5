"""Prompt sets are the same everywhere, and each known answer is the only right one."""

from __future__ import annotations

import hashlib
import re

import pytest

from chaosgate.engine import tokenizer
from chaosgate.errors import UsageError
from chaosgate.loadgen.prompts import Prompt, prompt_set, prompt_sets

RECALL = prompt_set("recall-24")


def facts_of(prompt: Prompt) -> tuple[list[tuple[str, str]], str]:
    match = re.fullmatch(r"facts (.+)\n\?(\w+)=", prompt.text)
    assert match is not None
    return [tuple(fact.split("=")) for fact in match[1].split(";")], match[2]


@pytest.mark.parametrize("prompt", RECALL.prompts)
def test_the_answer_is_the_asked_fact_and_no_other(prompt: Prompt) -> None:
    facts, asked = facts_of(prompt)
    assert len(facts) == 24
    assert dict(facts)[asked] == prompt.answer
    words = [word for fact in facts for word in fact]
    assert len(set(words)) == 48


def test_there_are_24_different_prompts_that_ask_for_every_place_once() -> None:
    assert len(set(RECALL.prompts)) == 24
    places = []
    for prompt in RECALL.prompts:
        facts, asked = facts_of(prompt)
        places.append([key for key, _ in facts].index(asked))
    assert sorted(places) == list(range(24))


def test_the_set_never_changes() -> None:
    text = "\n".join(f"{prompt.text}{prompt.answer}" for prompt in RECALL.prompts)
    assert prompt_set("recall-24") == RECALL
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "14f951b0b904155f"


def test_the_embedded_model_reads_few_tokens() -> None:
    assert max(len(tokenizer.encode(prompt.text)) for prompt in RECALL.prompts) <= 96
    assert {len(tokenizer.encode(prompt.answer or "")) for prompt in RECALL.prompts} == {1}


def test_prompts_are_cycled_in_order() -> None:
    assert [RECALL.index(number) for number in (0, 1, 23, 24, 49)] == [0, 1, 23, 0, 1]


def test_an_unknown_set_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="unknown prompt set 'recal-24'; did you mean 'recall-24'"):
        prompt_set("recal-24")


def test_every_listed_set_exists() -> None:
    assert [prompt_set(name).name for name in prompt_sets()] == prompt_sets() == ["recall-24"]
