from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.units import Margin


@pytest.mark.parametrize(
    ("text", "value", "dimension", "written"),
    [
        ("<= 50ms", 0.05, "duration", "<= +50ms"),
        ("<= +50ms", 0.05, "duration", "<= +50ms"),
        (">= -0.5 %", -0.005, "share", ">= -0.5 %"),
        ("<= +150 %", 1.5, "share", "<= +150 %"),
        (">= - 2/s", -2.0, "rate", ">= -2/s"),
        ("<= 0", 0.0, "number", "<= 0"),
        ("> -1.5", -1.5, "number", "> -1.5"),
    ],
)
def test_a_margin_is_read_and_written(text: str, value: float, dimension: str, written: str) -> None:
    margin = Margin.parse(text)

    assert (margin.value, margin.dimension, str(margin)) == (value, dimension, written)
    assert Margin.parse(written) == margin


@given(st.sampled_from(["<=", ">=", "<", ">"]), st.integers(-(10**6), 10**6))
def test_it_reads_back_equal(op: str, micro: int) -> None:
    margin = Margin(op, micro / 1e6, "duration")  # type: ignore[arg-type]

    assert Margin.parse(str(margin)) == margin


@pytest.mark.parametrize("text", ["50ms", "<= ms", "<= --5ms", 5, None, "<= 5 apples"])
def test_anything_else_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match='write a comparison and a change in quotes, such as "<= \\+50ms"'):
        Margin.parse(text)


def test_it_holds_like_a_bound() -> None:
    assert Margin.parse(">= -1 %").holds(-0.005)
    assert not Margin.parse(">= -1 %").holds(-0.02)
    assert Margin.parse("<= +1 %").upper
