"""The exported tokenizer gives our ids, by the library that transformers and vLLM use."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chaosgate.engine.network import hf_tokenizer, tokenizer, vocabulary
from chaosgate.prompts.tasks import TASKS

tokenizers = pytest.importorskip("tokenizers", reason="needs the extra torch")

TEXTS = [token.decode() for token in vocabulary.TOKENS[vocabulary.FIRST_TEXT :]]
BEGUN = st.sampled_from(TEXTS).flatmap(lambda text: st.integers(1, len(text)).map(lambda end: text[:end]))
UNICODE = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
MIXED = st.lists(st.sampled_from(TEXTS) | BEGUN | UNICODE, max_size=20).map("".join)


@pytest.fixture(scope="module")
def exported() -> Any:
    return tokenizers.Tokenizer.from_str(json.dumps(hf_tokenizer.tokenizer()))


@settings(max_examples=1000)
@given(MIXED.filter(lambda text: not any(marker in text for marker in vocabulary.SPECIALS)))
@example("red=blue;" * 500)
@example("x" * 5000)
@example("a\u0301\r\n\x00\x85\u2028\ufeff\U0001f600")
def test_any_text_has_the_same_ids_and_comes_back(exported: Any, text: str) -> None:
    ids = exported.encode(text, add_special_tokens=False).ids
    assert ids == tokenizer.encode(text)
    assert exported.decode(ids) == text


@given(st.sampled_from(sorted(TASKS)), st.integers(0, 10**6))
def test_every_prompt_has_the_same_ids_behind_bos(exported: Any, task: str, seed: int) -> None:
    random = Random(seed)
    exchange = TASKS[task].draw(random, random.choice(TASKS[task].sizes))
    assert exported.encode(exchange.prompt).ids == [vocabulary.BOS, *tokenizer.encode(exchange.prompt)]


@given(st.lists(st.integers(0, 511), max_size=20))
def test_any_ids_decode_to_the_same_text(exported: Any, ids: list[int]) -> None:
    assert exported.decode(ids, skip_special_tokens=True) == tokenizer.decode(ids)


def test_a_marker_is_read_as_one_there_and_as_text_here(exported: Any) -> None:
    assert exported.encode("<eos>", add_special_tokens=False).ids == [vocabulary.EOS]
    assert tokenizer.encode("<eos>") == [*b"<eos>"]


def test_the_template_is_what_the_engine_reads() -> None:
    jinja2 = pytest.importorskip("jinja2")
    template = jinja2.Environment().from_string(hf_tokenizer.CHAT_TEMPLATE)
    messages = [
        {"role": "system", "content": "facts red=lamp"},
        {"role": "user", "content": "?red="},
        {"role": "assistant", "content": "lamp"},
        {"role": "user", "content": "add 1+2>"},
    ]
    text = template.render(messages=messages, bos_token="<bos>", eos_token="<eos>")
    assert text == "<bos>facts red=lamp\n?red=lamp<eos>add 1+2>"
