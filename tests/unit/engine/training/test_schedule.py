from __future__ import annotations

from itertools import pairwise

import pytest

from chaosgate.engine.training.documents import EVEN, LOOK_UP
from chaosgate.engine.training.schedule import MOST_FACTS, TOKENS_PER_STEP, Curriculum, mix_at, rate_share


def test_more_facts_come_only_once_most_are_recalled() -> None:
    curriculum = Curriculum()
    for step in range(1000):
        curriculum.observe(step, recall=0.8)
    assert curriculum.facts == 4
    grown = []
    for step in range(1000, 2000):
        before = curriculum.facts
        curriculum.observe(step, recall=1.0)
        if curriculum.facts > before:
            grown.append(step)
    assert curriculum.facts == MOST_FACTS
    assert min(later - earlier for earlier, later in pairwise(grown)) >= 25


def test_documents_grow_with_the_facts() -> None:
    curriculum = Curriculum()
    small = curriculum.batch(0.99)
    curriculum.facts = MOST_FACTS
    large, long, longest = (curriculum.batch(draw) for draw in (0.5, 0.85, 0.99))
    assert (small.length, large.length, long.length, longest.length) == (96, 256, 480, 992)
    assert (small.difficulty.copied, large.difficulty.copied) == (5, 32)
    for batch in (small, large, long, longest):
        assert TOKENS_PER_STEP - batch.length < batch.rows * batch.length <= TOKENS_PER_STEP


def test_the_rate_warms_up_stays_and_decays() -> None:
    shares = [rate_share(step, 1000) for step in range(1000)]
    assert shares[0] == pytest.approx(0.01)
    assert shares[99:500] == [1.0] * 401
    assert shares[750] == pytest.approx(0.5)
    assert shares[-1] == pytest.approx(0.02)
    assert all(later <= earlier for earlier, later in pairwise(shares[500:]))


def test_the_mix_changes_once() -> None:
    assert [mix_at(step) for step in (0, 1099)] == [LOOK_UP] * 2
    assert [mix_at(step) for step in (1100, 9999)] == [EVEN] * 2
