"""Each known answer is the only right one, by what the prompt itself says."""

from __future__ import annotations

import json
import re
from itertools import islice
from random import Random

import pytest

from chaosgate.engine.network import tokenizer
from chaosgate.prompts import single_task
from chaosgate.prompts.prompt import Prompt
from chaosgate.prompts.single_task import distinct
from chaosgate.prompts.words import CAPITALS

RECALL = single_task.recall_24()


def facts_of(prompt: Prompt) -> tuple[list[tuple[str, str]], str]:
    """The pairs of the prompt's block and what follows it."""
    match = re.fullmatch(r"facts (.+)\n(.+)", prompt.text)
    assert match is not None
    return [(key, value) for key, value in (fact.split("=") for fact in match[1].split(";"))], match[2]


@pytest.mark.parametrize(("pairs", "prompts"), [(24, RECALL), (8, single_task.recall_8())])
def test_recall_asks_for_a_fact_that_no_other_fact_gives(pairs: int, prompts: tuple[Prompt, ...]) -> None:
    for prompt in prompts:
        facts, asked = facts_of(prompt)
        assert len(facts) == pairs
        assert asked == f"?{next(key for key, value in facts if value == prompt.answer)}="
        assert len({word for fact in facts for word in fact}) == 2 * pairs


def test_recall_24_asks_for_every_place_once() -> None:
    places = []
    for prompt in RECALL:
        facts, asked = facts_of(prompt)
        places.append([f"?{key}=" for key, _ in facts].index(asked))
    assert sorted(places) == list(range(24))


def test_recall_24_is_short_for_the_embedded_model() -> None:
    assert max(len(tokenizer.encode(prompt.text)) for prompt in RECALL) <= 96
    assert {len(tokenizer.encode(prompt.answer or "")) for prompt in RECALL} == {1}


def test_json_asks_for_three_facts_in_the_order_of_the_question() -> None:
    for prompt in single_task.json_8():
        facts, asked = facts_of(prompt)
        keys = asked.removeprefix("json ").removesuffix(">").split(",")
        assert len(facts) == 8
        assert prompt.form == "json"
        assert prompt.answer is not None
        assert json.loads(prompt.answer) == {key: dict(facts)[key] for key in keys}
        assert (len(keys), list(json.loads(prompt.answer))) == (3, keys)


def test_copy_asks_for_the_words_again() -> None:
    for prompt in single_task.copy_16():
        assert prompt.text == f"copy {prompt.answer}>"
        assert len((prompt.answer or "").split(",")) == 16


def test_capitals_are_those_of_the_list() -> None:
    for prompt in single_task.capitals():
        assert CAPITALS[prompt.text.removeprefix("capital ").removesuffix(">")] == prompt.answer


def test_sums_are_counted_modulo_ten() -> None:
    for prompt in single_task.add():
        match = re.fullmatch(r"add (\d)\+(\d)>", prompt.text)
        assert match is not None
        assert prompt.answer == str((int(match[1]) + int(match[2])) % 10)


def test_mixed_asks_every_task_in_turn() -> None:
    prompts = single_task.mixed()
    assert len(prompts) == 50
    assert prompts[0::5] == RECALL[:10]
    assert prompts[1::5] == single_task.json_8()[:10]
    assert prompts[2::5] == single_task.copy_16()[:10]
    assert prompts[3::5] == single_task.capitals()[:10]
    assert prompts[4::5] == single_task.add()[:10]


def test_no_exchange_is_drawn_twice_however_few_there_are() -> None:
    drawn = list(islice(distinct("add", 1, Random(1)), 100))
    assert len({exchange.prompt for exchange in drawn}) == 100
