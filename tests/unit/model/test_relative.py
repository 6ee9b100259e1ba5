"""Bounds on a relative change: how they read, what they hold, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.model.relative import RelativeBound


@pytest.mark.parametrize(
    ("text", "op", "value"),
    [("<= +10 %", "<=", 0.1), (">= -5 %", ">=", -0.05), ("<2.5%", "<", 0.025), ("> - 250 %", ">", -2.5)],
)
def test_a_bound_is_a_comparison_and_a_fraction(text: str, op: str, value: float) -> None:
    assert RelativeBound.parse(text) == RelativeBound(op, value, "share")  # type: ignore[arg-type]


@given(st.sampled_from(["<=", ">=", "<", ">"]), st.integers(-99999, 99999))
def test_a_bound_reads_back_as_it_is_written(op: str, tenths: int) -> None:
    bound = RelativeBound.parse(f"{op} {tenths / 10} %")
    assert RelativeBound.parse(str(bound)) == bound


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [("<= +10 %", 0.1, 0.11), ("< +10 %", 0.09, 0.1), (">= -5 %", -0.05, -0.06), ("> -5 %", -0.04, -0.05)],
)
def test_the_end_belongs_to_the_bound_as_its_sign_says(text: str, inside: float, outside: float) -> None:
    bound = RelativeBound.parse(text)
    assert bound.holds(inside)
    assert not bound.holds(outside)


@pytest.mark.parametrize("read", ["+10 %", "<= 10ms", "<= 10", "== 3 %", "", 10, None, "<= 1e3 %"])
def test_anything_else_is_refused_with_an_example(read: object) -> None:
    with pytest.raises(ValueError, match=r'in quotes, such as "<= \+10 %" or ">= -5 %"'):
        RelativeBound.parse(read)
