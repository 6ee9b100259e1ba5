"""Values with units: read strictly, kept in base units, written in one form that reads back equal."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.units import (
    Bound,
    Dimension,
    format_duration,
    format_rate,
    format_share,
    format_value,
    parse_duration,
    parse_rate,
    parse_share,
    parse_value,
)

positive = st.floats(min_value=0, max_value=1e14, allow_nan=False)


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (parse_duration, "250ms", 0.25),
        (parse_duration, "180ms", 0.18),
        (parse_duration, " 2 s ", 2.0),
        (parse_duration, "1.5m", 90.0),
        (parse_duration, "2h", 7200.0),
        (parse_duration, "20us", 2e-5),
        (parse_rate, "20/s", 20.0),
        (parse_rate, "90 / min", 1.5),
        (parse_rate, "1800/h", 0.5),
        (parse_share, "5 %", 0.05),
        (parse_share, "1.1%", 0.011),
        (parse_share, "100 %", 1.0),
    ],
)
def test_a_unit_gives_the_nearest_number_in_base_units(read: Callable[[str], float], text: str, value: float) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("dimension", "read", "says"),
    [
        ("duration", 5, "read 5 without a unit; write a duration such as 250ms, 2s or 5m (us, ms, s, m, h)"),
        ("duration", "5", "read '5'; write a duration such as 250ms, 2s or 5m (us, ms, s, m, h)"),
        ("duration", "-5s", "read '-5s'; write a duration such as 250ms, 2s or 5m (us, ms, s, m, h)"),
        ("duration", "5 S", "read '5 S'; write a duration such as 250ms, 2s or 5m (us, ms, s, m, h)"),
        ("duration", "٣s", "read '٣s'; write a duration such as 250ms, 2s or 5m (us, ms, s, m, h)"),
        ("duration", True, "read True; write a duration such as 250ms, 2s or 5m (us, ms, s, m, h)"),
        ("rate", "20", "read '20'; write a rate such as 20/s, 90/min or 400/h"),
        ("rate", "20/d", "read '20/d'; write a rate such as 20/s, 90/min or 400/h"),
        ("share", 0.05, "read 0.05 without a unit; write a share such as 5 %"),
        ("share", "101 %", "read '101 %'; a share is at most 100 %"),
        ("count", "2.5", "read '2.5'; write a whole number"),
        ("number", "nan", "read 'nan'; write a number"),
        ("number", "inf", "read 'inf'; write a number"),
    ],
)
def test_anything_else_is_refused_with_what_is_allowed(dimension: Dimension, read: Any, says: str) -> None:
    with pytest.raises(ValueError, match=r"^read ") as refused:
        parse_value(read, dimension)
    assert str(refused.value) == says


def test_a_long_text_is_cut_in_the_message() -> None:
    with pytest.raises(ValueError, match=r"^read 'x{57}\.\.\.'; write a rate") as refused:
        parse_rate("x" * 10_000)
    assert len(str(refused.value)) < 150


def test_a_number_too_large_for_a_float_is_no_number_of_a_unit() -> None:
    for text in ("9" * 400 + "s", "<= " + "9" * 400):
        with pytest.raises(ValueError, match=r"^read "):
            Bound.parse(text) if text.startswith("<") else parse_duration(text)


@given(positive)
def test_a_duration_reads_back_equal(seconds: float) -> None:
    assert parse_duration(format_duration(seconds)) == seconds


@given(positive)
def test_a_rate_reads_back_equal(rate: float) -> None:
    assert parse_rate(format_rate(rate)) == rate


@given(st.floats(0, 1))
def test_a_share_reads_back_equal(share: float) -> None:
    assert parse_share(format_share(share)) == share


@given(st.sampled_from(["<=", ">=", "<", ">"]), st.sampled_from(["duration", "rate", "share", "number"]), st.data())
def test_a_bound_reads_back_equal(op: Any, dimension: Any, data: st.DataObject) -> None:
    bound = Bound(op, data.draw(st.floats(0, 1) if dimension == "share" else positive), dimension)
    assert Bound.parse(str(bound)) == bound


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (0.25, "250ms"), (0.18, "180ms"), (2e-5, "20us"), (2.0, "2s"), (90.0, "90s")]
)
def test_a_duration_is_written_in_the_unit_that_is_easy_to_read(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("text", "op", "value", "dimension"),
    [
        ("<= 300ms", "<=", 0.3, "duration"),
        (">=99%", ">=", 0.99, "share"),
        ("< 20/s", "<", 20.0, "rate"),
        ("> 5", ">", 5.0, "number"),
    ],
)
def test_a_bound_has_a_comparison_a_value_and_the_dimension_of_its_unit(
    text: str, op: str, value: float, dimension: str
) -> None:
    bound = Bound.parse(text)
    assert (bound.op, bound.value, bound.dimension) == (op, value, dimension)
    assert bound.upper is (op in ("<=", "<"))


@pytest.mark.parametrize("text", ["300ms", "= 5", "<= ", "<= 5 apples", "<= -5", "<= nan", "=< 5", 5, None, "<= 5_000"])
def test_a_text_that_is_no_bound_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match=r"^read ") as refused:
        Bound.parse(text)
    assert str(refused.value) == (
        f'read {text!r}; write a comparison and a value in quotes, such as "<= 300ms" or ">= 99 %"'
    )


@pytest.mark.parametrize(
    ("text", "inside", "outside"), [("<= 5", 5, 5.1), ("< 5", 4.9, 5), (">= 5", 5, 4.9), ("> 5", 5.1, 5)]
)
def test_a_bound_holds_on_its_side_of_the_value(text: str, inside: float, outside: float) -> None:
    assert Bound.parse(text).holds(inside)
    assert not Bound.parse(text).holds(outside)
    assert not Bound.parse(text).holds(math.nan)


@pytest.mark.parametrize(
    ("value", "dimension", "text"),
    [
        (None, "duration", "-"),
        (math.inf, "duration", "inf"),
        (-math.inf, "share", "-inf"),
        (0.123456, "duration", "123.5ms"),
        (-0.05, "duration", "-50ms"),
        (0.98765, "share", "98.77 %"),
        (12.3456, "rate", "12.35/s"),
        (3.0, "count", "3"),
    ],
)
def test_a_value_for_people_has_four_digits_and_its_unit(value: float | None, dimension: Dimension, text: str) -> None:
    assert format_value(value, dimension) == text
