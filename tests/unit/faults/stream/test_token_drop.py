from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from observed_fault import WORDS, observed
from stream_rig import DONE, answer, chat, datas, edited, editing_of, event, sent, texts

from chaosgate.draws import Draw
from chaosgate.faults.stream.token_drop import DropTokens, TokenDrop
from chaosgate.loadgen.trace import text_digest
from chaosgate.model.fault import FAULTS, DoseAxis
from chaosgate.model.observation import Sample

SPEC = {
    "name": "holes",
    "kind": "stream.token-drop",
    "dose": {"parameter": "share", "values": ["10 %"], "hold": "2s", "washout": "500ms"},
}
DRAW = Draw(7, "holes", "7.block1.1")
WITH_MORE: list[Callable[[str], bytes]] = [
    lambda text: chat(text, "stop"),
    lambda text: chat(text, role="assistant"),
    lambda text: chat(text, tool_calls=[{"index": 0}]),
    lambda text: event({"choices": [{"delta": {"content": text}}], "usage": {"completion_tokens": 1}}),
    lambda text: event({"choices": [{"text": text, "finish_reason": "length"}]}),
]


def drop(**changed: Any) -> TokenDrop:
    return TokenDrop.model_validate({**SPEC, **changed})


def test_its_dose_is_the_share_of_tokens() -> None:
    assert FAULTS.get("stream.token-drop") is TokenDrop
    assert TokenDrop.axis() == DoseAxis("share", "share")


@given(st.lists(st.sampled_from(["a", "b", " ü"]), max_size=20), st.floats(0, 1), st.integers(0, 1000))
def test_the_tokens_drawn_are_missing_and_all_else_is_there(words: list[str], dose: float, number: int) -> None:
    draw = drop().draw(7, f"7.block1.{number}")
    # The role is event 0.
    kept = [word for place, word in enumerate(words, 1) if draw.at(f"token {place}") >= dose]
    stream, left = answer(*words), answer(*kept)
    rest = [stream[0], *left[1:-2], *stream[-2:]]
    assert edited(drop().editor(dose, draw), stream) == [b"".join(rest)]


def test_the_share_of_tokens_dropped_is_the_dose_in_each_place() -> None:
    words = [str(number) for number in range(40)]
    kept = [set(texts(edited(DropTokens(0.3, Draw(7, "holes", f"7.block1.{n}")), answer(*words)))) for n in range(150)]
    assert sum(map(len, kept)) / (150 * 40) == pytest.approx(0.7, abs=0.025)
    for word in words:
        assert sum(word in one for one in kept) / 150 == pytest.approx(0.7, abs=0.15)


@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 10**6))
def test_what_is_dropped_at_a_low_dose_is_dropped_at_a_higher_one(one: float, other: float, number: int) -> None:
    draw = drop().draw(7, f"7.block1.{number}")
    low, high = sorted((one, other))
    at_low, at_high = (set(texts(edited(DropTokens(dose, draw), answer(*WORDS)))) for dose in (low, high))
    assert at_high <= at_low


@pytest.mark.parametrize("with_text", WITH_MORE)
def test_what_an_event_says_besides_its_text_arrives(with_text: Callable[[str], bytes]) -> None:
    (before,), (after,) = (datas([step]) for step in (with_text(""), *edited(DropTokens(1, DRAW), [with_text("lamp")])))
    assert json.loads(after) == json.loads(before)


def test_an_event_with_text_alone_is_gone() -> None:
    assert edited(DropTokens(1, DRAW), [chat("lamp"), event({"choices": [{"text": "lamp"}]}), DONE]) == [DONE]


@pytest.mark.parametrize(
    ("dose", "effect", "bypassed"),
    [(1.0, "6 tokens dropped", None), (0.0, None, "dose 0"), (1e-12, None, "no token was hit")],
)
def test_the_ledger_says_what_became_of_it(dose: float, effect: str | None, bypassed: str | None) -> None:
    editing, (touch,) = editing_of(DropTokens(dose, DRAW))
    steps = sent(editing, answer(*WORDS))
    assert (touch.effect, touch.bypassed) == (effect, bypassed)
    assert (steps == [b"".join(answer(*WORDS))]) == (effect is None)


async def test_the_client_gets_a_whole_answer_with_other_text() -> None:
    seen, row = await observed(SPEC, 0.5)
    kept = [word for place, word in enumerate(WORDS, 1) if Draw(7, "holes", "7.block1.1").at(f"token {place}") >= 0.5]
    assert 0 < len(kept) < len(WORDS)
    assert (seen.outcome, seen.text, len(seen.tokens)) == ("ok", text_digest("".join(kept)), len(kept))
    assert row["effect"] == f"{len(WORDS) - len(kept)} tokens dropped"
    witness = drop(select={"share": "50 %"}).witness(0.4)
    assert witness.moved == pytest.approx(0.1)
    assert witness.value(Sample(seen, text_digest("".join(WORDS)))) == 1


@pytest.mark.parametrize("delta", [[1], "s", 7, None])
def test_text_beside_a_delta_that_is_no_object_is_dropped(delta: object) -> None:
    raw = (
        b"data: "
        + json.dumps({"choices": [{"delta": delta, "text": "lamp", "finish_reason": "stop"}]}).encode()
        + b"\n\n"
    )
    (left,) = edited(DropTokens(1, DRAW), [raw])
    assert isinstance(left, bytes)
    assert json.loads(left.removeprefix(b"data: "))["choices"] == [
        {"delta": delta, "text": "", "finish_reason": "stop"}
    ]
