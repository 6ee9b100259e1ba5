from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.statistics.multiplicity import holm

PROBABILITIES = st.lists(st.floats(0, 1), max_size=12)


def test_the_numbers_of_statsmodels() -> None:
    # statsmodels 0.14: multipletests([.01, .04, .03, .005], method="holm")[1]
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_one_question_needs_no_correction() -> None:
    assert holm([0.02]) == [0.02]
    assert holm([]) == []


@given(PROBABILITIES)
def test_it_only_weakens_and_keeps_the_order(probabilities: list[float]) -> None:
    adjusted = holm(probabilities)

    assert all(p <= q <= 1 for p, q in zip(probabilities, adjusted, strict=True))
    ordered = sorted(zip(probabilities, adjusted, strict=True))
    assert [q for _, q in ordered] == sorted(adjusted)


@given(PROBABILITIES.filter(bool))
def test_the_smallest_is_corrected_for_all(probabilities: list[float]) -> None:
    assert min(holm(probabilities)) == pytest.approx(min(1.0, min(probabilities) * len(probabilities)))
