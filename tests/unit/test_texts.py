"""Answers are cut into words in one way, whatever language they are in."""

from __future__ import annotations

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.texts import is_unspaced, names, tokens, words


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("", ()),
        (" \n\t", ()),
        ("the cat, the mat.", ("the", "cat", ",", "the", "mat", ".")),
        ("don't  'quote'", ("don't", "'", "quote", "'")),
        ("3.14 and -5", ("3", ".", "14", "and", "-", "5")),
        ('{"order": 17}', ("{", '"', "order", '"', ":", "17", "}")),
        ("订单17号", ("订", "单", "17", "号")),
        ("ひらがな", ("ひ", "ら", "が", "な")),
        # Vowel signs and viramas are no letters for Python's \w, and still belong to their word.
        ("हिन्दी में", ("हिन्दी", "में")),
        ("می‌خواهم", ("می‌خواهم",)),
        ("한국어 문장", ("한국어", "문장")),
        ("\u0301 x", ("\u0301", "x")),
        ("a😀b", ("a", "😀", "b")),
    ],
)
def test_a_text_is_cut_into_words_and_marks(text: str, cut: tuple[str, ...]) -> None:
    assert tokens(text) == cut


def test_composed_and_decomposed_characters_are_the_same() -> None:
    """The same word from two tokenizers was a wrong answer to tools that compare code points."""
    assert tokens(normalize("NFD", "café Łódź 한국어")) == tokens(normalize("NFC", "café Łódź 한국어"))


def test_words_leave_out_marks_and_fold_case_and_width() -> None:
    assert words("The CAT, the ｃａｔ!") == ("the", "cat", "the", "cat")
    assert words("Straße") == words("STRASSE")


@pytest.mark.parametrize(
    ("text", "name", "there"),
    [
        ("It is Kelun.", "kelun", True),
        ("It is Keluna.", "Kelun", False),
        ("the order of Kelun", "order of Kelun", True),
        ("the order is of Kelun", "order of Kelun", False),
        ("order 170", "17", False),
        ("订单17号", "17", True),
        ("(B)", "( B )", True),
        # An answer that is an article, or has no word at all, must not be found everywhere.
        ("a", "A", True),
        ("anything", "A", False),
        ("anything", "", False),
        ("anything?", "?", False),
    ],
)
def test_a_text_names_what_stands_in_it_as_whole_words(text: str, name: str, there: bool) -> None:
    assert names(text, name) is there


@pytest.mark.parametrize(("text", "unspaced"), [("", False), ("Kelun 17", False), ("Kelun 号", True), ("ภาษา", True)])
def test_scripts_without_spaces_are_known(text: str, unspaced: bool) -> None:
    assert is_unspaced(text) is unspaced


@given(st.text(max_size=30))
def test_any_text_can_be_cut_and_only_white_space_is_lost(text: str) -> None:
    composed = normalize("NFC", text)
    assert "".join(tokens(text)) == "".join(char for char in composed if not char.isspace() and not _separates(char))
    assert all(words(text))


def _separates(char: str) -> bool:
    from unicodedata import category

    return category(char)[0] == "Z"


@given(st.text(max_size=20), st.text(max_size=20))
def test_words_of_two_texts_with_a_space_between_are_those_of_both(one: str, two: str) -> None:
    assert words(f"{one} {two}") == (*words(one), *words(two))
