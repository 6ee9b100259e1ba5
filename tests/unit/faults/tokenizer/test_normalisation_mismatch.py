from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.draws import Draw
from chaosgate.faults.tokenizer.normalisation_mismatch import NormalisationMismatch
from chaosgate.model.fault import FAULTS, DoseAxis


def mismatch(**changed: Any) -> NormalisationMismatch:
    sweep = {"parameter": "share", "values": ["10 %"], "hold": "2s", "washout": "500ms"}
    data = {"name": "forms", "kind": "tokenizer.normalisation-mismatch", "dose": sweep, **changed}
    return NormalisationMismatch.model_validate(data)


def draw(number: int = 1) -> Draw:
    return Draw(7, "forms", f"7.block1.{number}")


def test_its_dose_is_the_share_of_characters() -> None:
    assert FAULTS.get("tokenizer.normalisation-mismatch") is NormalisationMismatch
    assert NormalisationMismatch.axis() == DoseAxis("share", "share")


def test_characters_are_decomposed() -> None:
    assert mismatch().edited("Zo\u00eb \uac01", 1.0, draw()) == "Zoe\u0308 \u1100\u1161\u11a8"


@given(st.text(), st.floats(0, 1))
def test_the_text_stays_canonically_the_same(text: str, dose: float) -> None:
    edited = mismatch().edited(text, dose, draw())
    assert unicodedata.normalize("NFD", edited) == unicodedata.normalize("NFD", text)


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_ascii_has_nothing_to_decompose(text: str) -> None:
    assert mismatch().edited(text, 1.0, draw()) == text


@given(st.text(alphabet=st.characters(codec="ascii")), st.floats(0, 1))
def test_full_width_letters_fold_back_by_nfkc_alone(text: str, dose: float) -> None:
    edited = mismatch(form="full-width").edited(text, dose, draw())
    assert unicodedata.normalize("NFKC", edited) == text
    assert unicodedata.normalize("NFC", edited) == edited
    assert mismatch(form="full-width").edited("a b", 1.0, draw()) == "\uff41 \uff42"


def test_the_share_of_characters_is_the_dose() -> None:
    edited = "".join(mismatch().edited("\u00e9" * 50, 0.2, draw(number)) for number in range(400))
    assert edited.count("\u0301") / 20_000 == pytest.approx(0.2, abs=0.02)
