from __future__ import annotations

import re
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_rig import CHAT, asked, rewritten, wire_fault
from pydantic import ValidationError

from chaosgate.faults.prompt.adversarial_words import AdversarialWords
from chaosgate.model.fault import FAULTS, WireFault

ATTACKS = ("swap", "homoglyph", "leet", "drop")
TEXT = " ".join(["silver"] * 5000)


def attack(name: str) -> WireFault:
    return wire_fault("prompt.adversarial-words", "10 %", attack=name)


def changed(text: str, other: str) -> list[int]:
    """The numbers of the words that differ."""
    pairs = enumerate(zip(text.split(" "), other.split(" "), strict=True))
    return [number for number, (before, after) in pairs if before != after]


@pytest.mark.parametrize("name", ATTACKS)
def test_its_dose_is_the_share_of_words_that_are_changed(name: str) -> None:
    assert FAULTS.get("prompt.adversarial-words") is AdversarialWords
    hit = changed(TEXT, asked(attack(name), TEXT, 0.2))
    assert len(hit) / 5000 == pytest.approx(0.2, abs=0.02)
    assert len(changed(TEXT, asked(attack(name), TEXT, 1.0))) == 5000


@pytest.mark.parametrize("name", ATTACKS)
def test_words_changed_at_a_low_dose_are_changed_alike_at_a_higher_one(name: str) -> None:
    low, high = (asked(attack(name), TEXT, dose).split(" ") for dose in (0.1, 0.4))
    hit = changed(TEXT, " ".join(low))
    assert len(hit) > 300
    assert [low[number] for number in hit] == [high[number] for number in hit]


def test_only_the_last_user_turn_is_attacked() -> None:
    left = rewritten(attack("leet"), CHAT, 1.0)
    assert left.turns[:-1] == CHAT.turns[:-1]
    assert left.turns[-1].text == "4nd 5h3 15 n1n3.\nWh47 15 h3r n4m3?"


def test_a_swap_is_of_any_two_neighbours() -> None:
    words = Counter(asked(attack("swap"), TEXT, 1.0).split(" "))
    assert set(words) == {"islver", "sliver", "sivler", "silevr", "silvre"}
    assert all(abs(count - 1000) < 120 for count in words.values())


def test_any_letter_may_be_dropped() -> None:
    words = Counter(asked(attack("drop"), TEXT, 1.0).split(" "))
    assert set(words) == {"ilver", "slver", "siver", "siler", "silvr", "silve"}
    assert all(abs(count - 833) < 110 for count in words.values())


def test_homoglyphs_are_cyrillic_letters_that_look_the_same() -> None:
    letters = "aceijopsxyABCEHIJKMOPSTX"
    found = asked(attack("homoglyph"), letters, 1.0)
    assert all(unicodedata.name(letter).startswith("CYRILLIC") for letter in found)
    assert [unicodedata.category(letter) for letter in found] == [unicodedata.category(letter) for letter in letters]
    assert asked(attack("homoglyph"), "thumb drum", 1.0) == "thumb drum"


@pytest.mark.parametrize("name", ["swap", "drop"])
def test_a_single_letter_stays(name: str) -> None:
    assert asked(attack(name), "I a 7+8 ?", 1.0) == "I a 7+8 ?"


@given(st.text(max_size=200), st.floats(0, 1), st.sampled_from(ATTACKS))
def test_what_is_no_letter_stays_where_it_is(text: str, dose: float, name: str) -> None:
    left = asked(attack(name), text, dose)
    if name != "leet":
        assert re.sub(r"[^\W\d_]+", "", left) == re.sub(r"[^\W\d_]+", "", text)
    assert len(left) <= len(text)


def test_another_attack_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"'swap', 'homoglyph', 'leet' or 'drop'"):
        AdversarialWords.model_validate({**attack("swap").to_json(), "attack": "rot13"})
