from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from observed_fault import WORDS, observed
from pydantic import ValidationError
from stream_rig import answer, chat, edited, editing_of, sent

from chaosgate.conformance.observations import observations
from chaosgate.faults.stream.stall import PauseAfter, StreamStall
from chaosgate.model.fault import FAULTS, DoseAxis
from chaosgate.model.stream_edit import Pause

SPEC = {
    "name": "stalled",
    "kind": "stream.stall",
    "dose": {"parameter": "pause", "values": ["500ms"], "hold": "2s", "washout": "500ms"},
}


def stall(**changed: Any) -> StreamStall:
    return StreamStall.model_validate({**SPEC, **changed})


def test_its_dose_is_the_pause_in_seconds() -> None:
    assert FAULTS.get("stream.stall") is StreamStall
    assert StreamStall.axis() == DoseAxis("pause", "duration")


@given(st.lists(st.sampled_from(["", "a", " café"]), max_size=8), st.integers(1, 6), st.floats(0.001, 60))
def test_the_stream_pauses_once_before_the_token_after_so_many(texts: list[str], after: int, pause: float) -> None:
    stream = [b": hello\n\n", *map(chat, texts), b": hello\n\n", *answer()]
    tokens = [place for place, raw in enumerate(stream) if raw in (chat("a"), chat(" café"))]
    if len(tokens) > after:
        place = tokens[after]
        expected = [b"".join(stream[:place]), Pause(pause), b"".join(stream[place:])]
    else:
        expected = [b"".join(stream)]
    assert edited(PauseAfter(after, pause), stream) == expected


@pytest.mark.parametrize(
    ("words", "dose", "effect", "bypassed"),
    [
        (3, 0.25, "paused 0.250 s", None),
        (2, 0.25, None, "the answer is too short"),
        (3, 0.0, None, "dose 0"),
    ],
)
def test_the_ledger_says_what_became_of_it(words: int, dose: float, effect: str | None, bypassed: str | None) -> None:
    editing, (touch,) = editing_of(stall().editor(dose, stall().draw(7, "7.block1.1")))
    stream = answer(*WORDS[:words])
    steps = sent(editing, stream)
    assert (touch.effect, touch.bypassed) == (effect, bypassed)
    assert (steps == [b"".join(stream)]) == (effect is None)


def test_before_the_first_token_no_stream_can_pause() -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        stall(after=0)


def test_its_witness_asks_for_half_of_the_selected_pause() -> None:
    witness = stall(select={"share": "50 %"}).witness(0.4)
    assert witness.moved == pytest.approx(0.1)
    assert "up to 2 tokens" in witness.unless


def test_the_witness_is_the_longest_gap_up_to_the_end() -> None:
    value = stall().witness(0.4).value
    whole = {len(seen.tokens): value(seen) for seen in observations() if seen.outcome == "ok" and seen.sent == 0.1}
    # Tokens at 0.2, or at 0.2, 0.3 and 0.5, and the end at 0.6.
    assert whole == {0: None, 1: pytest.approx(0.4), 3: pytest.approx(0.2)}


async def test_the_client_waits_in_the_middle_of_its_answer() -> None:
    seen, row = await observed(SPEC, 0.2)
    assert (seen.outcome, len(seen.tokens), row["effect"]) == ("ok", len(WORDS), "paused 0.200 s")
    assert seen.end - seen.sent >= 0.2


async def test_a_client_that_gives_up_in_the_pause_shows_it_too() -> None:
    seen, _ = await observed(SPEC, 30.0, patience=1.5)
    assert (seen.outcome, len(seen.tokens)) == ("timeout", 2)
    assert stall().witness(30.0).value(seen) == seen.end - seen.tokens[1]
