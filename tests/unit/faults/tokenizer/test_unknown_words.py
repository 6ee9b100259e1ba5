from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.draws import Draw
from chaosgate.engine.network.tokenizer import encode
from chaosgate.faults.tokenizer.unknown_words import LONGEST, SHORTEST, UnknownWords
from chaosgate.model.fault import FAULTS, DoseAxis, WireFault
from chaosgate.model.prompt_text import PromptText, Turn
from chaosgate.model.standing import standing_fault


def words(**changed: Any) -> UnknownWords:
    sweep = {"parameter": "share", "values": ["10 %"], "hold": "2s", "washout": "500ms"}
    data = {"name": "strangers", "kind": "tokenizer.unknown-words", "dose": sweep, **changed}
    return UnknownWords.model_validate(data)


def draw(number: int = 1) -> Draw:
    return Draw(7, "strangers", f"7.block1.{number}")


def test_its_dose_is_the_share_of_words() -> None:
    assert FAULTS.get("tokenizer.unknown-words") is UnknownWords
    assert UnknownWords.axis() == DoseAxis("share", "share")


@given(st.text(alphabet="ab ,;\n"), st.floats(0, 1), st.sampled_from(["letters", "emoji"]))
def test_what_stands_between_words_is_kept(text: str, dose: float, form: str) -> None:
    edited = words(form=form).edited(text, dose, draw())
    assert re.sub(r"[^ ,;\n]+", "w", edited) == re.sub(r"[ab]+", "w", text)
    assert words(form=form).edited(text, 0.0, draw()) == text


def test_the_share_of_words_is_the_dose() -> None:
    kept = [one for number in range(400) for one in words().edited("word " * 50, 0.3, draw(number)).split()]
    assert kept.count("word") / len(kept) == pytest.approx(0.7, abs=0.02)


def test_a_word_that_is_hit_gets_the_same_word_at_every_dose() -> None:
    asked = ["one", "two", "three", "four", "five", "six"]
    low, high = (words().edited(" ".join(asked), dose, draw()).split() for dose in (0.4, 1.0))
    replaced = [index for index, word in enumerate(low) if word != asked[index]]
    assert replaced
    assert all(low[index] == high[index] for index in replaced)


@pytest.mark.parametrize("form", ["letters", "emoji", "spliced"])
def test_words_are_of_every_length_and_fall_apart_into_many_tokens(form: str) -> None:
    put = [words(form=form).edited("lemon", 1.0, draw(number)) for number in range(500)]
    assert {len(one) for one in put} == set(range(SHORTEST, LONGEST + 1))
    assert len(set(put)) > 490
    assert min(len(encode(one)) for one in put) > len(encode("lemon"))


@pytest.mark.parametrize("kind", ["tokenizer.unknown-words", "tokenizer.byte-boundary"])
def test_a_long_prompt_takes_no_draw_of_its_own_for_each_word(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes microseconds, in which the gateway does nothing else."""
    drawn: list[str] = []

    def at(self: Draw, site: str) -> float:
        drawn.append(site)
        return 0.5

    monkeypatch.setattr(Draw, "at", at)
    fault = standing_fault(kind, "rig", "100 %", {})
    assert isinstance(fault, WireFault)
    prompt = PromptText((Turn("user", "zwölf Boxkämpfer " * 1000),))
    assert fault.rewrite(prompt, 1.0, draw()) != prompt
    assert len(drawn) < 20
