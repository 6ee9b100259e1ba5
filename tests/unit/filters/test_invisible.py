"""What nobody sees is taken out of a text, and what scripts and emoji need is kept."""

from __future__ import annotations

import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.draws import Draw
from chaosgate.faults.tokenizer.combining_flood import CombiningFlood
from chaosgate.filters.invisible import without_flood, without_invisible

ORDINARY = [
    "plain words, 100 % of them",
    "caf\u00e9 and cafe\u0301",
    "family \U0001f468\u200d\U0001f469\u200d\U0001f467, astronaut \U0001f469\U0001f3fd\u200d\U0001f680",
    "heart on fire \u2764\ufe0f\u200d\U0001f525, one 1\ufe0f\u20e3, \u00a9\ufe0f",
    "Scotland \U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian, with a zero-width non-joiner
    "\u0915\u094d\u200d\u0937 and \u0995\u09cd\u200c\u09b7",  # Devanagari and Bengali, with joiners
    "\u05e9\u05bc\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd",  # Hebrew with points
    "ti\u00ea\u0301ng Vi\u00ea\u0323t",
    "\u845b\U000e0100",  # a Han character with a variation selector
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_left_as_it_is(text: str) -> None:
    assert without_flood(without_invisible(text)) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("ig\u200dno\u200cre", "ignore"),
        ("a\u200b\u200b\u200bb", "ab"),
        ("\u00e9\u200d\u200d\u200d", "\u00e9\u200d"),
        ("a\ufe0fb\ufe0e", "ab"),
        ("1\ufe0f 2", "1 2"),
        ("hi\U000e0068\U000e0069", "hi"),
        ("\ufeffa\u202eb\u2062c", "abc"),
    ],
)
def test_what_shows_and_joins_nothing_is_taken_out(text: str, left: str) -> None:
    assert without_invisible(text) == left


def test_marks_in_a_row_are_kept_up_to_a_number() -> None:
    text = "a" + "\u0301" * 9 + "b" + "\u0301" * 2
    assert without_flood(text) == "a" + "\u0301" * 4 + "b" + "\u0301" * 2
    assert without_flood(text, 1) == "a\u0301b\u0301"


@given(st.text())
def test_what_is_seen_stays(text: str) -> None:
    def seen(words: str) -> list[str]:
        return [one for one in words if unicodedata.category(one) not in ("Cf", "Mn", "Me")]

    assert seen(without_flood(without_invisible(text))) == seen(text)


@given(st.text())
def test_a_clean_text_is_clean(text: str) -> None:
    clean = without_invisible(text)
    assert without_invisible(clean) == clean


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=50), st.integers(0, 300))
def test_a_flood_of_joiners_and_selectors_is_undone(text: str, dose: int) -> None:
    for form in ("joiners", "selectors"):
        sweep = {"parameter": "codePoints", "values": [1], "hold": "1s", "washout": "1s"}
        data = {"name": "flood", "kind": "tokenizer.combining-flood", "form": form, "dose": sweep}
        flooded = CombiningFlood.model_validate(data).edited(text, dose, Draw(7, "flood", "7.block1.1"))
        assert without_invisible(flooded) == text


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
@pytest.mark.parametrize(
    "flood", ["\u0301", "\U0001d16d\U0001d165", "\uff9e\u0301\u0300\u0301\u0300", "\u302e\u302f", "\u0344", "\u0f73"]
)
def test_no_run_of_marks_is_left_that_normalising_would_have_to_sort(flood: str, form: Literal["NFC", "NFKC"]) -> None:
    """Sorting takes time quadratic in the length of a run."""
    left = unicodedata.normalize(form, without_flood("a" + flood * 500))
    assert len(left) <= 20


@pytest.mark.parametrize("text", ["\uff76\uff9e\uff77\uff9e", "\u0e01\u0e33", "\ud55c\uae00 \u1100\u1161\u302e"])
def test_marks_of_ordinary_words_are_left(text: str) -> None:
    assert without_flood(text) == text
