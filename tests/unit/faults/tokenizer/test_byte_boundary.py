from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.draws import Draw
from chaosgate.faults.tokenizer.byte_boundary import ByteBoundary
from chaosgate.model.fault import FAULTS, DoseAxis

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]))


def boundary(**changed: Any) -> ByteBoundary:
    sweep = {"parameter": "share", "values": ["10 %"], "hold": "2s", "washout": "500ms"}
    data = {"name": "halves", "kind": "tokenizer.byte-boundary", "dose": sweep, **changed}
    return ByteBoundary.model_validate(data)


def draw(number: int = 1) -> Draw:
    return Draw(7, "halves", f"7.block1.{number}")


def test_its_dose_is_the_share_of_characters() -> None:
    assert FAULTS.get("tokenizer.byte-boundary") is ByteBoundary
    assert ByteBoundary.axis() == DoseAxis("share", "share")


def test_halves_become_replacement_characters() -> None:
    assert boundary().edited("caf\u00e9s", 1.0, draw()) == "caf\ufffd\ufffds"


def test_a_long_character_is_cut_after_any_of_its_bytes() -> None:
    """Of three bytes the first two are one maximal subpart, and so are the first alone and each of the last two."""
    cuts = Counter(boundary().edited("\u20ac", 1.0, draw(number)) for number in range(2000))
    assert set(cuts) == {"\ufffd\ufffd", "\ufffd\ufffd\ufffd"}
    assert cuts["\ufffd\ufffd"] / 2000 == pytest.approx(0.5, abs=0.05)


@given(TEXT)
def test_misread_bytes_are_latin_1(text: str) -> None:
    edited = boundary(form="misread").edited(text, 1.0, draw())
    assert edited.encode("latin-1") == text.encode()


@given(TEXT, st.floats(0, 1))
def test_every_cut_leaves_valid_text_and_ascii_alone(text: str, dose: float) -> None:
    edited = boundary().edited(text, dose, draw())
    assert edited.encode().decode() == edited
    assert [one for one in edited if one.isascii()] == [one for one in text if one.isascii()]


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_ascii_has_nothing_to_cut_unless_its_spaces_were_pasted(text: str) -> None:
    assert boundary().edited(text, 1.0, draw()) == text
    assert boundary(pasted=True).edited(text, 1.0, draw()) == text.replace(" ", "\ufffd\ufffd")
    assert boundary(pasted=True).edited(text, 0.0, draw()) == text


def test_the_share_of_characters_is_the_dose() -> None:
    edited = "".join(boundary().edited("\u00e9" * 50, 0.2, draw(number)) for number in range(400))
    assert edited.count("\ufffd") / 40_000 == pytest.approx(0.2, abs=0.02)
