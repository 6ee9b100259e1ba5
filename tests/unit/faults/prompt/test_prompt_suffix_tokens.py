from __future__ import annotations

from collections import Counter

import pytest
from prompt_rig import CHAT, PLAIN_PAIR, QUESTION, asked, rewritten, wire_fault

from chaosgate.faults.prompt.suffix_tokens import WORDS, SuffixTokens
from chaosgate.model.fault import FAULTS, DoseAxis

FAULT = wire_fault("prompt.suffix-tokens", 3)


def test_its_dose_is_the_number_of_words() -> None:
    assert FAULTS.get("prompt.suffix-tokens") is SuffixTokens
    assert SuffixTokens.axis() == DoseAxis("tokens", "count")


@pytest.mark.parametrize("dose", [1, 3, 5, 1000])
def test_so_many_words_follow_the_question(dose: int) -> None:
    prompt = rewritten(FAULT, CHAT, dose)
    assert prompt.turns[:-1] == CHAT.turns[:-1]
    text = prompt.turns[-1].text
    assert text.startswith(QUESTION + " ")
    words = text.removeprefix(QUESTION + " ").split(" ")
    assert len(words) == dose
    assert set(words) <= set(WORDS)


def test_more_words_begin_with_the_same_ones() -> None:
    three, five = asked(FAULT, "?", 3), asked(FAULT, "?", 5)
    assert five.startswith(three + " ")


def test_every_prompt_of_a_completion_gets_them() -> None:
    first, second = (turn.text for turn in rewritten(FAULT, PLAIN_PAIR, 3).turns)
    assert first.removeprefix("Two and two\nis") == second.removeprefix("Three and three\nis") != ""


def test_every_word_is_as_likely_at_every_place() -> None:
    drawn = [asked(FAULT, "", 2, number).split() for number in range(5000)]
    for place in (0, 1):
        counts = Counter(words[place] for words in drawn)
        assert set(counts) == set(WORDS)
        # 200 each, give or take four standard deviations of the binomial distribution.
        assert all(abs(count - 200) < 56 for count in counts.values())
    same = sum(first == second for first, second in drawn)
    assert same / len(drawn) == pytest.approx(1 / len(WORDS), abs=0.012)
