"""Prompt sets are the same everywhere, fit into the embedded model, and are found by name."""

from __future__ import annotations

import hashlib

import pytest

from chaosgate.engine.network import tokenizer
from chaosgate.engine.network.config import ModelConfig
from chaosgate.errors import UsageError
from chaosgate.prompts.lines import write_prompts
from chaosgate.prompts.sets import maker, prompt_set, prompt_sets

DIGESTS = {
    "add": "44f379cf8a8c4f22",
    "assistant-log": "888977bd16c3c950",
    "capitals": "9e6d6f174898eac5",
    "copy-16": "2900996a8d427070",
    "json-8": "df72a974b4c2f46c",
    "mixed": "6b82264929a99aa7",
    "multi-turn": "eabf1431b66b1a1c",
    "recall-24": "f9da380651ef35ba",
    "recall-8": "eb8061d378d9de69",
    "shared-prefix": "6c54cc90f44046c9",
    "ten-turns": "daf726dc081cc46f",
    "two-tenant": "5398dc3a613124a8",
}
"""The first digits of the SHA-256 of each set's lines."""


def digest(name: str) -> str:
    return hashlib.sha256(write_prompts(prompt_set(name).prompts).encode()).hexdigest()[:16]


def test_every_listed_set_exists() -> None:
    assert [prompt_set(name).name for name in prompt_sets()] == prompt_sets() == list(DIGESTS)


@pytest.mark.parametrize("name", DIGESTS)
def test_a_set_never_changes(name: str) -> None:
    assert digest(name) == DIGESTS[name]
    assert prompt_set(name) == prompt_set(name)


@pytest.mark.parametrize("name", DIGESTS)
def test_every_prompt_is_another_one_and_has_a_known_answer(name: str) -> None:
    prompts = prompt_set(name).prompts
    assert len({(prompt.history, prompt.text, prompt.tenant) for prompt in prompts}) == len(prompts) >= 24
    assert {prompt.grade(prompt.answer or "no answer") for prompt in prompts} == {"right"}
    assert all(prompt.grade(f"{prompt.answer}x") == "wrong" for prompt in prompts)


@pytest.mark.parametrize("name", DIGESTS)
def test_prompt_and_answer_fit_into_the_embedded_models_context(name: str) -> None:
    for prompt in prompt_set(name).prompts:
        texts = [*(message["content"] for message in prompt.messages()), prompt.answer or ""]
        # Each with one more for what begins or ends a turn.
        assert sum(len(tokenizer.encode(text)) + 1 for text in texts) <= ModelConfig().max_model_len


def test_prompts_are_cycled_in_order() -> None:
    recall = prompt_set("recall-24")
    assert [recall.index(number) for number in (0, 1, 23, 24, 49)] == [0, 1, 23, 0, 1]


@pytest.mark.parametrize("find", [prompt_set, maker])
def test_an_unknown_set_is_refused_with_the_nearest_name(find: object) -> None:
    assert callable(find)
    with pytest.raises(UsageError, match="unknown prompt set 'recal-24'; did you mean 'recall-24'"):
        find("recal-24")
