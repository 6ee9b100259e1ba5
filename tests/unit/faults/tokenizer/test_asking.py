"""What the tokenizer's faults share: where they act, how many they hit, and what a client sees of it."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.conformance.observations import observations
from chaosgate.draws import Draw
from chaosgate.faults.tokenizer.asking import OtherOrRefused, TokenizerFault, with_replaced
from chaosgate.model.fault import Sweep
from chaosgate.model.observation import Sample
from chaosgate.model.prompt_text import PLAIN, PromptText, Turn
from chaosgate.units import Share


class Loud(TokenizerFault):
    """Writes vowels as capitals."""

    kind: Literal["test.loud"]
    dose: Sweep[Literal["share"], Share]

    def edited(self, text: str, dose: float, draw: Draw) -> str:
        """The share `dose` of the vowels in capitals."""
        return with_replaced(text, lambda one: one in "aeiou", lambda one, _: one.upper(), dose, draw)


def loud(**changed: Any) -> Loud:
    sweep = {"parameter": "share", "values": ["10 %"], "hold": "2s", "washout": "500ms"}
    return Loud.model_validate({"name": "loud", "kind": "test.loud", "dose": sweep, **changed})


def draw(number: int = 1) -> Draw:
    return Draw(7, "loud", f"7.block1.{number}")


def test_only_the_last_turn_of_the_user_is_edited() -> None:
    turns = (Turn("system", "aa"), Turn("user", "ee"), Turn("assistant", "oo"), Turn("user", "iia"), Turn("tool", "uu"))
    edited = loud().rewrite(PromptText(turns), 1.0, draw())
    assert [turn.text for turn in edited.turns] == ["aa", "ee", "oo", "IIA", "uu"]


def test_each_plain_prompt_asks() -> None:
    prompts = PromptText((Turn(PLAIN, "ab"), Turn(PLAIN, "eb")))
    assert [turn.text for turn in loud().rewrite(prompts, 1.0, draw()).turns] == ["Ab", "Eb"]


@given(st.text(), st.floats(0, 1), st.floats(0, 1), st.integers(0, 1000))
def test_what_a_low_dose_hits_a_higher_one_hits_too(text: str, low: float, high: float, number: int) -> None:
    low, high = sorted((low, high))
    below, above = (loud().edited(text, dose, draw(number)) for dose in (low, high))
    assert all(more != was for was, less, more in zip(text, below, above, strict=True) if less != was)
    assert loud().edited(text, 0.0, draw(number)) == text
    assert loud().edited(text, 1.0, draw(number)) == text.translate(str.maketrans("aeiou", "AEIOU"))


def test_the_share_that_is_hit_is_the_dose() -> None:
    edited = "".join(loud().edited("a" * 50, 0.3, draw(number)) for number in range(400))
    assert edited.count("A") / len(edited) == pytest.approx(0.3, abs=0.02)


def test_each_item_is_drawn_by_itself() -> None:
    """Neighbours are hit together as often as chance has it: 0.3 squared."""
    texts = [loud().edited("aa", 0.3, draw(number)) for number in range(5000)]
    assert texts.count("AA") / 5000 == pytest.approx(0.09, abs=0.015)


def test_the_number_counts_those_that_may_be_replaced() -> None:
    replaced = with_replaced("xaxa", lambda one: one == "a", lambda _, number: str(number), 1.0, draw())
    assert replaced == "x0x1"


def test_a_client_sees_another_answer_or_a_refusal() -> None:
    witness = loud(select={"share": "50 %"}).witness(0.1)
    assert witness.moved == pytest.approx(0.01)
    seen = next(one for one in observations() if one.outcome == "ok")
    other = "sha256:" + "b" * 64
    assert [witness.value(Sample(seen, clean)) for clean in (None, seen.text, other)] == [None, 0.0, 1.0]


@pytest.mark.parametrize(("status", "value"), [(400, 1.0), (413, 1.0), (503, None), (None, None)])
def test_only_a_status_of_the_clients_fault_is_a_refusal(status: int | None, value: float | None) -> None:
    failed = next(one for one in observations() if one.outcome == "error")
    sample = Sample(failed.model_copy(update={"status": status}), failed.text)
    assert OtherOrRefused(0.02).value(sample) == value
