"""Schedules as cron writes them: what is taken, and the sentence for each mistake."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.model.cron import FIELDS, NAMES, check_cron

HINT = (
    'write five fields, minute hour day month weekday, such as "30 3 * * 1-5", or one of @hourly, @daily, @midnight, '
    "@weekly, @monthly, @yearly, @annually"
)


@pytest.mark.parametrize(
    "text",
    [
        "0 3 * * *",
        "*/15 8-18 * * mon-fri",
        "5,35 0 1,15 JAN-MAR,dec ?",
        "7/20 * * * *",
        "0-30/10 * * * *",
        "0 0 29 2 *",
        "0 0 31 2 1",
        "59 23 31 12 6",
        *NAMES,
    ],
)
def test_schedules_that_cron_can_keep(text: str) -> None:
    assert check_cron(text) == text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("61 * * * *", "the minute is '61'; write 0 to 59"),
        ("0 24 * * *", "the hour is '24'; write 0 to 23"),
        ("0 0 0 * *", "the day is '0'; write 1 to 31"),
        (
            "0 0 * 13 *",
            "the month is '13'; write 1 to 12, or jan, feb, mar, apr, may, jun, jul, aug, sep, oct, nov, dec",
        ),
        ("0 0 * * 7", "the weekday is '7'; write 0 to 6, or sun, mon, tue, wed, thu, fri, sat"),
        ("0 0 * * funday", "the weekday is 'funday'; write 0 to 6, or sun, mon, tue, wed, thu, fri, sat"),
        ("*/0 * * * *", "the step of minute is '0'; write 1 to 59"),
        ("30-10 * * * *", "the minute '30-10' runs backwards; write the smaller number first"),
        ("1,,2 * * * *", f"the minute '' is no number, range or *; {HINT}"),
        ("٣ * * * *", "the minute is '٣'; write 0 to 59"),
        ("0 0 31 4,6 *", "no month that it names has a day 31; it would never fire"),
        ("0 0 30 2 ?", "no month that it names has a day 30; it would never fire"),
    ],
)
def test_each_mistake_has_its_sentence(text: str, says: str) -> None:
    with pytest.raises(ValueError, match="read") as error:
        check_cron(text)
    assert str(error.value) == f"read {text!r}: {says}"


@pytest.mark.parametrize(("text", "fields"), [("* * * *", 4), ("0 0 3 * * *", 6), ("", 0)])
def test_there_are_five_fields(text: str, fields: int) -> None:
    with pytest.raises(ValueError, match="read") as error:
        check_cron(text)
    assert str(error.value) == f"read {text!r}, which has {fields} fields; {HINT}"


@pytest.mark.parametrize("text", ["@every 5m", "@dayly"])
def test_other_names_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="read") as error:
        check_cron(text)
    assert str(error.value) == f"read {text!r}; {HINT}"


@given(numbers=st.tuples(*(st.integers(field.low - 2, field.high + 2) for field in FIELDS)))
def test_numbers_are_taken_within_their_limits_alone(numbers: tuple[int, ...]) -> None:
    inside = all(field.low <= number <= field.high for field, number in zip(FIELDS, numbers, strict=True))
    text = " ".join(map(str, numbers))
    if inside:
        assert check_cron(text) == text
    else:
        with pytest.raises(ValueError, match="write "):
            check_cron(text)
