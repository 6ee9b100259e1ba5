from __future__ import annotations

import unicodedata
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.draws import Draw
from chaosgate.faults.tokenizer.combining_flood import PLACES, CombiningFlood
from chaosgate.model.fault import FAULTS, DoseAxis


def flood(**changed: Any) -> CombiningFlood:
    sweep = {"parameter": "codePoints", "values": [64], "hold": "2s", "washout": "500ms"}
    data = {"name": "flood", "kind": "tokenizer.combining-flood", "dose": sweep, **changed}
    return CombiningFlood.model_validate(data)


def draw(number: int = 1) -> Draw:
    return Draw(7, "flood", f"7.block1.{number}")


def test_its_dose_is_the_number_of_code_points() -> None:
    assert FAULTS.get("tokenizer.combining-flood") is CombiningFlood
    assert CombiningFlood.axis() == DoseAxis("codePoints", "count")


@given(st.text(alphabet=st.characters(codec="ascii")), st.integers(0, 500), st.integers(0, 100))
def test_so_many_code_points_are_added_and_nothing_else_is_changed(text: str, dose: int, number: int) -> None:
    edited = flood().edited(text, dose, draw(number))
    assert len(edited) == len(text) + dose
    assert "".join(one for one in edited if one.isascii()) == text


@given(st.text(alphabet="abc", max_size=20), st.integers(0, 100), st.integers(0, 100))
def test_what_a_low_dose_adds_a_higher_one_adds_too(text: str, low: int, more: int) -> None:
    fewer, all_of_them = (Counter(flood().edited(text, dose, draw())) for dose in (low, low + more))
    assert fewer <= all_of_them


@pytest.mark.parametrize(
    ("form", "allowed"),
    [("joiners", {"Cf"}), ("selectors", {"Mn"}), ("marks", {"Mn"}), ("mixed", {"Cf", "Mn"})],
)
def test_a_form_adds_its_own_characters(form: str, allowed: set[str]) -> None:
    edited = flood(form=form).edited("abc", 1000, draw())
    assert {unicodedata.category(one) for one in edited if not one.isascii()} == allowed


def test_the_places_are_drawn_over_the_whole_text() -> None:
    """The mean place of what is added lies in the middle, as of uniform draws."""
    text = "a" * 100
    before = [
        sum(one == "a" for one in edited[:index])
        for number in range(300)
        for edited in [flood().edited(text, PLACES, draw(number))]
        for index, character in enumerate(edited)
        if character != "a"
    ]
    assert len(before) == 300 * PLACES
    assert sum(before) / len(before) == pytest.approx(50, abs=2)
    assert {min(before), max(before)} == {0, 100}


def test_the_largest_dose_makes_a_prompt_of_megabytes() -> None:
    edited = flood().edited("abc", CombiningFlood.max_dose, draw())
    assert len(edited) == 1_000_003
    assert len(edited.encode()) > 2_000_000
