from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.conformance.observations import observations
from chaosgate.faults.stream.usage_mismatch import Overcount, StreamUsageMismatch
from chaosgate.model.fault import FAULTS, DoseAxis
from chaosgate.model.stream_edit import StreamEvent, encode
from chaosgate.model.usage import MAX_TOKENS


def fault(**changed: Any) -> StreamUsageMismatch:
    dose = {"parameter": "share", "values": ["10 %"], "hold": "2s", "washout": "500ms"}
    return StreamUsageMismatch.model_validate(
        {"name": "meter", "kind": "stream.usage-mismatch", "dose": dose, **changed}
    )


def usage(tokens: Any, **fields: Any) -> StreamEvent:
    numbers = {"prompt_tokens": 20, "completion_tokens": tokens, "total_tokens": 33}
    return StreamEvent(encode({"id": "c", "choices": [], "usage": numbers, **fields}), 5)


def claimed(share: float, tokens: int) -> int:
    (step,) = Overcount(share).event(usage(tokens))
    assert isinstance(step, bytes)
    chunk = StreamEvent(step, 5).chunk
    assert chunk is not None
    return int(chunk["usage"]["completion_tokens"])


def test_its_dose_is_the_share_of_tokens_too_many() -> None:
    assert FAULTS.get("stream.usage-mismatch") is StreamUsageMismatch
    assert StreamUsageMismatch.axis() == DoseAxis("share", "share")


@pytest.mark.parametrize(
    ("share", "tokens", "wrong"),
    [(0.5, 10, 15), (0.5, 3, 5), (0.07, 100, 107), (0.01, 10, 11), (1.0, 10, 20), (0.5, 0, 1), (0.5, 1, 2)],
)
def test_completion_tokens_are_rounded_up_and_one_too_many_at_least(share: float, tokens: int, wrong: int) -> None:
    assert claimed(share, tokens) == wrong


@given(st.integers(0, MAX_TOKENS), st.floats(0, 1, exclude_min=True), st.floats(0, 1, exclude_min=True))
def test_more_dose_is_never_fewer_tokens(tokens: int, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert tokens < claimed(low, tokens) <= claimed(high, tokens) <= max(2 * tokens, 1)


def test_nothing_but_completion_tokens_is_changed() -> None:
    editor = Overcount(0.5)
    event = usage(10, model="é")
    (step,) = editor.event(event)
    assert isinstance(step, bytes)
    assert event.chunk is not None
    assert StreamEvent(step, 5).chunk == {**event.chunk, "usage": {**event.chunk["usage"], "completion_tokens": 15}}
    assert editor.effect == "completion_tokens 10 became 15"


@pytest.mark.parametrize(
    "raw",
    [
        b": keep-alive\n\n",
        b"data: [DONE]\n\n",
        b"data: 7\n\n",
        b'data: {"usage": null}\n\n',
        b'data: {"usage": [7]}\n\n',
        *(usage(tokens).raw for tokens in (None, True, 1.5, "7", -1, MAX_TOKENS + 1, 10**400)),
    ],
)
def test_an_event_without_a_count_keeps_its_bytes(raw: bytes) -> None:
    editor = Overcount(0.5)
    assert editor.event(StreamEvent(raw, 0)) == (raw,)
    assert (editor.effect, editor.missed) == (None, "the stream had no usage")


def test_every_selected_stream_is_hit_above_dose_0() -> None:
    draw = fault().draw(7, "7.block1.1")
    assert fault().editor(0.0, draw) is None
    assert isinstance(fault().editor(0.01, draw), Overcount)


def test_the_client_is_told_of_more_tokens_an_event() -> None:
    witness = fault(select={"share": "50 %"}).witness(0.4)
    assert witness.moved == pytest.approx(0.1)
    values = {(len(seen.tokens), seen.outcome): witness.value(seen) for seen in observations()}
    assert {tokens: values[tokens, "ok"] for tokens in (0, 1, 3)} == {0: None, 1: 2.0, 3: 1.0}
    assert {value for (_, outcome), value in values.items() if outcome != "ok"} == {None}


@given(st.integers(0, 10_000), st.integers(1, 2000), st.floats(0.001, 1))
def test_the_witness_rises_by_the_dose_at_least(hidden: int, events: int, dose: float) -> None:
    seen = next(seen for seen in observations() if seen.outcome == "ok")
    tokens = events + hidden
    clean, wrong = (
        seen.model_copy(update={"tokens": (0.1,) * events, "claimed": count})
        for count in (tokens, claimed(dose, tokens))
    )
    value = fault().witness(dose).value
    before, during = value(clean), value(wrong)
    assert before is not None
    assert during is not None
    assert during - before >= dose - 1e-6
