from __future__ import annotations

import numpy as np

from chaosgate.engine.sampler import Sampling
from chaosgate.engine.sequence import Generation, Sequence
from chaosgate.engine.vocabulary import EOS

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
