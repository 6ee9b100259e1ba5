from __future__ import annotations

from codecs import BOM_UTF8
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from observed_fault import WORDS, observed
from stream_rig import DONE, answer, chat, edited, editing_of, sent, texts

from chaosgate.draws import Draw
from chaosgate.faults.stream.reorder import StreamReorder, SwapTokens
from chaosgate.loadgen.trace import text_digest
from chaosgate.model.fault import FAULTS, DoseAxis
from chaosgate.model.observation import Sample

SPEC = {
    "name": "overtake",
    "kind": "stream.reorder",
    "dose": {"parameter": "share", "values": ["10 %"], "hold": "2s", "washout": "500ms"},
}
DRAW = Draw(7, "overtake", "7.block1.1")
A, B, C, D = map(chat, "abcd")
COMMENT = b": keep-alive\n\n"


def reorder(**changed: Any) -> StreamReorder:
    return StreamReorder.model_validate({**SPEC, **changed})


def test_its_dose_is_the_share_of_pairs() -> None:
    assert FAULTS.get("stream.reorder") is StreamReorder
    assert StreamReorder.axis() == DoseAxis("share", "share")


@given(st.lists(st.characters(codec="utf-8"), max_size=20), st.floats(0, 1), st.integers(0, 1000))
def test_the_pairs_drawn_change_places_and_nothing_else_does(words: list[str], dose: float, number: int) -> None:
    draw = reorder().draw(7, f"7.block1.{number}")
    expected: list[str] = []
    for start in range(0, len(words), 2):
        pair = words[start : start + 2]
        expected += pair[::-1] if draw.at(f"token {start // 2}") < dose else pair
    before, after = answer(*words), answer(*expected)
    assert edited(reorder().editor(dose, draw), before) == [b"".join(after)]


def test_the_share_of_pairs_swapped_is_the_dose() -> None:
    found = [
        texts(edited(SwapTokens(0.3, Draw(7, "overtake", f"7.block1.{n}")), answer(*"abcdefghij"))) for n in range(500)
    ]
    for place, (first, second) in enumerate(["ab", "cd", "ef", "gh", "ij"]):
        swapped = [one[2 * place : 2 * place + 2] == [second, first] for one in found]
        assert sum(swapped) / len(swapped) == pytest.approx(0.3, abs=0.08)


@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 10**6))
def test_what_is_swapped_at_a_low_dose_is_swapped_at_a_higher_one(one: float, other: float, number: int) -> None:
    draw = reorder().draw(7, f"7.block1.{number}")
    low, high = (texts(edited(SwapTokens(dose, draw), answer(*"abcdef"))) for dose in sorted((one, other)))
    assert all(high[place] == "badcfe"[place] for place in range(6) if low[place] == "badcfe"[place])


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        pytest.param([A, COMMENT, B], [COMMENT, B, A], id="a comment waits for nobody"),
        pytest.param([A, COMMENT, COMMENT], [COMMENT, COMMENT, A], id="the second one never comes"),
        pytest.param([A, chat("b", "stop"), DONE], [A, chat("b", "stop"), DONE], id="a token that ends the answer"),
        pytest.param([A, DONE], [A, DONE], id="the last one is single"),
        pytest.param([A, chat(None), B, C, D], [A, chat(None), B, D, C], id="no text between"),
        pytest.param([BOM_UTF8 + A, B], [BOM_UTF8, B, A], id="the byte order mark stays first"),
        pytest.param([BOM_UTF8 + A, COMMENT, DONE], [BOM_UTF8, COMMENT, A, DONE], id="the mark of one that stays"),
    ],
)
def test_what_is_no_pair_keeps_its_place(stream: list[bytes], expected: list[bytes]) -> None:
    assert edited(SwapTokens(1, DRAW), stream) == [b"".join(expected)]


def test_what_is_held_is_given_back_when_the_run_is_halted() -> None:
    editing, _ = editing_of(SwapTokens(1, DRAW))
    assert b"".join(editing.feed(BOM_UTF8 + A + COMMENT + B[:9])) == BOM_UTF8 + COMMENT  # type: ignore[arg-type]
    assert editing.release() == A + B[:9]


@pytest.mark.parametrize(
    ("dose", "words", "effect", "bypassed"),
    [
        (1.0, WORDS, "3 tokens overtaken", None),
        (1.0, ("ha", "ha", "ho"), None, "no token was hit"),
        (1e-12, WORDS, None, "no token was hit"),
        (0.0, WORDS, None, "dose 0"),
    ],
)
def test_the_ledger_says_what_became_of_it(
    dose: float, words: tuple[str, ...], effect: str | None, bypassed: str | None
) -> None:
    editing, (touch,) = editing_of(SwapTokens(dose, DRAW))
    steps = sent(editing, answer(*words))
    assert (touch.effect, touch.bypassed) == (effect, bypassed)
    assert (steps == [b"".join(answer(*words))]) == (effect is None)


async def test_the_client_gets_a_whole_answer_with_other_text() -> None:
    seen, row = await observed(SPEC, 1.0)
    swapped = "".join(WORDS[place] for place in (1, 0, 3, 2, 5, 4))
    assert (seen.outcome, seen.text, row["effect"]) == ("ok", text_digest(swapped), "3 tokens overtaken")
    witness = reorder(select={"share": "50 %"}).witness(0.4)
    assert witness.moved == pytest.approx(0.1)
    assert witness.value(Sample(seen, text_digest("".join(WORDS)))) == 1
