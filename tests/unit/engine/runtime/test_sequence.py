from __future__ import annotations

import math

import numpy as np
import pytest

from chaosgate.engine.network import tokenizer
from chaosgate.engine.network.vocabulary import EOS
from chaosgate.engine.runtime.sampler import Sampling
from chaosgate.engine.runtime.sequence import Generation, Sequence

GREEDY = Sampling(0.0)


def logits(token: int) -> np.ndarray:
    row = np.zeros(512, np.float32)
    row[token] = 1
    return row


def run(generation: Generation, data: list[int]) -> list[tuple[str, str | None]]:
    sequence = Sequence(generation)
    deltas = [sequence.advance(logits(token)) for token in data]
    return [(delta.text, delta.finish) for delta in deltas]


def test_ends_at_max_tokens() -> None:
    assert run(Generation((1,), 2, GREEDY), [97, 98]) == [("a", None), ("b", "length")]


def test_ends_at_eos_unless_told_otherwise() -> None:
    assert run(Generation((1,), 9, GREEDY), [97, EOS]) == [("a", None), ("", "stop")]
    assert run(Generation((1,), 9, GREEDY, ignore_eos=True), [EOS, 97]) == [("", None), ("a", None)]


def test_ends_at_a_stop_string_and_keeps_it_back() -> None:
    assert run(Generation((1,), 9, GREEDY, stops=("bc",)), [97, 98, 99]) == [("a", None), ("", None), ("", "stop")]


def test_the_last_token_brings_what_was_held_back() -> None:
    assert run(Generation((1,), 2, GREEDY, stops=("bc",)), [97, 98]) == [("a", None), ("b", "length")]
    assert run(Generation((1,), 1, GREEDY), [0xE2]) == [("\ufffd", "length")]


def test_the_phase_changes_behind_the_prompt_and_a_part_ends_there() -> None:
    sequence = Sequence(Generation((1, 2, 3), 9, GREEDY))
    assert (sequence.phase, sequence.due, sequence.generated) == ("prefill", 3, 0)
    sequence.computed = 3
    for token in (97, 98):
        sequence.advance(logits(token))
    assert (sequence.phase, sequence.due, sequence.generated) == ("decode", 2, 2)
    sequence.computed = 1
    assert (sequence.phase, sequence.due) == ("prefill", 2)


def test_a_token_comes_with_its_logprob_where_asked_for() -> None:
    plain = Sequence(Generation((1,), 9, GREEDY)).advance(logits(97))
    assert (plain.token, plain.logprob, plain.top) == (97, None, ())
    asked = Sequence(Generation((1,), 9, Sampling(0.0), logprobs=2)).advance(logits(97))
    best = 1 - math.log(511 + math.e)
    assert asked.logprob == pytest.approx(best)
    assert [token for token, _ in asked.top] == [97, 0]
    assert [chance for _, chance in asked.top] == pytest.approx([best, best - 1])


def test_a_json_answer_ends_with_its_object() -> None:
    generation = Generation((1,), 9, GREEDY, grammar="json", ignore_eos=True)
    tokens = tokenizer.encode('{"red":"blue"}')
    deltas = run(generation, tokens)
    assert "".join(text for text, _ in deltas) == '{"red":"blue"}'
    assert [finish for _, finish in deltas] == [None] * (len(tokens) - 1) + ["stop"]


@pytest.mark.parametrize(("most", "text"), [(2, "{}"), (5, "{}"), (7, '{"a":0}'), (9, '{"aaa":0}')])
def test_a_json_answer_is_closed_before_its_tokens_run_out(most: int, text: str) -> None:
    wanted = np.zeros(512, np.float32)
    wanted[[0x7B, 0x22, 0x61, 0x3A, 0x30, 0x7D]] = (0.6, 1, 8, 1, 1, 0.5)
    sequence = Sequence(Generation((1,), most, GREEDY, grammar="json"))
    parts = []
    while not sequence.finished:
        parts.append(sequence.advance(wanted).text)
    assert "".join(parts) == text
