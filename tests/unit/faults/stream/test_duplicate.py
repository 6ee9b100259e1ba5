from __future__ import annotations

from codecs import BOM_UTF8
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from observed_fault import WORDS, observed
from stream_rig import answer, chat, edited, editing_of, sent, texts

from chaosgate.draws import Draw
from chaosgate.faults.stream.duplicate import DoubleTokens, StreamDuplicate
from chaosgate.loadgen.trace import text_digest
from chaosgate.model.fault import FAULTS, DoseAxis
from chaosgate.model.observation import Sample

SPEC = {
    "name": "twice",
    "kind": "stream.duplicate",
    "dose": {"parameter": "share", "values": ["10 %"], "hold": "2s", "washout": "500ms"},
}


def double(**changed: Any) -> StreamDuplicate:
    return StreamDuplicate.model_validate({**SPEC, **changed})


def test_its_dose_is_the_share_of_tokens() -> None:
    assert FAULTS.get("stream.duplicate") is StreamDuplicate
    assert StreamDuplicate.axis() == DoseAxis("share", "share")


@given(st.lists(st.sampled_from(["", "a", " ü"]), max_size=20), st.floats(0, 1), st.integers(0, 1000))
def test_the_tokens_drawn_come_twice_and_nothing_else_does(words: list[str], dose: float, number: int) -> None:
    draw = double().draw(7, f"7.block1.{number}")
    role, *events = answer(*words)
    expected = [role]
    for place, raw in enumerate(events, 1):
        twice = place <= len(words) and words[place - 1] != "" and draw.at(f"token {place}") < dose
        expected += [raw] * (2 if twice else 1)
    assert edited(double().editor(dose, draw), [role, *events]) == [b"".join(expected)]


def test_the_share_of_tokens_doubled_is_the_dose() -> None:
    found = [
        texts(edited(DoubleTokens(0.3, Draw(7, "twice", f"7.block1.{n}")), answer(*"abcdefghij"))) for n in range(400)
    ]
    assert sum(map(len, found)) / 4000 - 1 == pytest.approx(0.3, abs=0.03)


@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 10**6))
def test_what_is_doubled_at_a_low_dose_is_doubled_at_a_higher_one(one: float, other: float, number: int) -> None:
    draw = double().draw(7, f"7.block1.{number}")
    low, high = (texts(edited(DoubleTokens(dose, draw), answer(*WORDS))) for dose in sorted((one, other)))
    assert all(low.count(word) <= high.count(word) for word in WORDS)


def test_a_byte_order_mark_is_not_sent_again() -> None:
    token = chat("lamp")
    assert edited(DoubleTokens(1, Draw(7, "twice", "7.block1.1")), [BOM_UTF8 + token]) == [BOM_UTF8 + token + token]


@pytest.mark.parametrize(
    ("dose", "effect", "bypassed"),
    [(1.0, "6 tokens doubled", None), (0.0, None, "dose 0"), (1e-12, None, "no token was hit")],
)
def test_the_ledger_says_what_became_of_it(dose: float, effect: str | None, bypassed: str | None) -> None:
    editing, (touch,) = editing_of(DoubleTokens(dose, Draw(7, "twice", "7.block1.1")))
    steps = sent(editing, answer(*WORDS))
    assert (touch.effect, touch.bypassed) == (effect, bypassed)
    assert (steps == [b"".join(answer(*WORDS))]) == (effect is None)


async def test_the_client_gets_a_whole_answer_with_other_text() -> None:
    seen, row = await observed(SPEC, 1.0)
    twice = "".join(word * 2 for word in WORDS)
    assert (seen.outcome, seen.text, row["effect"]) == ("ok", text_digest(twice), "6 tokens doubled")
    witness = double(select={"share": "50 %"}).witness(0.4)
    assert witness.moved == pytest.approx(0.1)
    assert witness.value(Sample(seen, text_digest("".join(WORDS)))) == 1
