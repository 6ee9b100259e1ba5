from __future__ import annotations

from typing import Any

import pytest

from chaosgate.conformance.observations import observations
from chaosgate.faults.stream.finish import finish_reasons
from chaosgate.faults.stream.finish_reason import OtherReason, StreamFinishReason
from chaosgate.model.fault import FAULTS, DoseAxis
from chaosgate.model.stream_edit import Step, StreamEvent, encode


def fault(**changed: Any) -> StreamFinishReason:
    dose = {"parameter": "probability", "values": ["10 %"], "hold": "2s", "washout": "500ms"}
    return StreamFinishReason.model_validate({"name": "why", "kind": "stream.finish-reason", "dose": dose, **changed})


def event(content: str, finish: str | None = None, number: int = 0) -> StreamEvent:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    return StreamEvent(encode({"id": "c", "choices": [choice]}), number)


def read(step: Step) -> StreamEvent:
    assert isinstance(step, bytes)
    return StreamEvent(step, 0)


def test_its_dose_is_the_share_of_streams() -> None:
    assert FAULTS.get("stream.finish-reason") is StreamFinishReason
    assert StreamFinishReason.axis() == DoseAxis("probability", "share")


@pytest.mark.parametrize("reason", ["length", "content_filter", "tool_calls"])
def test_the_reason_is_replaced_and_the_text_stays(reason: str) -> None:
    editor = OtherReason(reason)
    going, ending = event("bl"), event("ue", "stop", 1)
    assert editor.event(going) == (going.raw,)
    assert editor.effect is None
    (changed,) = editor.event(ending)
    assert finish_reasons(read(changed)) == [reason]
    assert read(changed).text == "ue"
    assert editor.effect == f"finish_reason stop became {reason}"


def test_with_null_no_reason_is_given() -> None:
    editor = OtherReason("null")
    (changed,) = editor.event(event("blue", "stop"))
    assert read(changed).chunk == {
        "id": "c",
        "choices": [{"index": 0, "delta": {"content": "blue"}, "finish_reason": None}],
    }
    assert editor.effect == "finish_reason stop became null"


def test_an_answer_that_ends_so_anyway_is_not_touched() -> None:
    editor, ending = OtherReason("length"), event("blue", "length")
    assert editor.event(ending) == (ending.raw,)
    assert (editor.effect, editor.missed) == (None, "it ended with length anyway")


def test_nothing_is_replaced_at_dose_0() -> None:
    assert fault().editor(0.0, fault().draw(7, "7.block1.1")) is None


def test_the_share_of_streams_hit_is_the_dose() -> None:
    hit = [fault().editor(0.2, fault().draw(7, f"7.block1.{number}")) is not None for number in range(5000)]
    assert sum(hit) / len(hit) == pytest.approx(0.2, abs=0.02)


def test_an_unknown_reason_is_refused() -> None:
    with pytest.raises(ValueError, match="'length', 'content_filter', 'tool_calls', 'stop' or 'null'"):
        fault(reason="eos")


@pytest.mark.parametrize(("reason", "finish"), [("length", "length"), ("stop", "stop"), ("null", None)])
def test_the_client_sees_the_reason_of_whole_answers(reason: str, finish: str | None) -> None:
    witness = fault(reason=reason, select={"share": "50 %"}).witness(0.4)
    assert witness.moved == pytest.approx(0.1)
    assert witness.what == f"share of answers with finish_reason {reason}"
    values = {(seen.outcome == "ok", seen.finish == finish): witness.value(seen) for seen in observations()}
    assert values == {(True, True): 1.0, (True, False): 0.0, (False, True): None, (False, False): None}
