from __future__ import annotations

from typing import Any

import pytest

from chaosgate.conformance.observations import observations
from chaosgate.faults.stream.malformed_event import DATA, Form, InsertAfter, StreamMalformedEvent
from chaosgate.loadgen.delta import read_event
from chaosgate.model.fault import FAULTS, DoseAxis
from chaosgate.model.stream_edit import Step, StreamEvent
from chaosgate.sse import DONE_EVENT, EventSplitter, event_data

KEEP_ALIVE = b": keep-alive\n\n"


def fault(**changed: Any) -> StreamMalformedEvent:
    dose = {"parameter": "probability", "values": ["10 %"], "hold": "2s", "washout": "500ms"}
    return StreamMalformedEvent.model_validate(
        {"name": "rubbish", "kind": "stream.malformed-event", "dose": dose, **changed}
    )


def edited(editor: InsertAfter, *stream: bytes) -> list[Step]:
    steps: list[Step] = []
    number = 0
    for raw in stream:
        event = StreamEvent(raw, number)
        number += event.counts
        steps += editor.event(event)
    return steps


def test_its_dose_is_the_share_of_streams() -> None:
    assert FAULTS.get("stream.malformed-event") is StreamMalformedEvent
    assert StreamMalformedEvent.axis() == DoseAxis("probability", "share")


@pytest.mark.parametrize("form", DATA)
def test_one_event_more_comes_after_so_many_and_all_others_stay(form: Form) -> None:
    editor = InsertAfter(2, form)
    one, two, three = (b'data: {"choices":[]}\n\n', b'data: {"id":2,"choices":[]}\n\n', b"data: 3\n\n")
    steps = edited(editor, KEEP_ALIVE, one, two, KEEP_ALIVE, three, DONE_EVENT)
    assert steps == [KEEP_ALIVE, one, two, steps[3], KEEP_ALIVE, three, DONE_EVENT]
    assert editor.effect == f"{form} after 2 events"


@pytest.mark.parametrize("form", DATA)
def test_the_malformed_event_is_an_event_and_no_json(form: Form) -> None:
    _, bad = InsertAfter(1, form).event(StreamEvent(b'data: {"choices":[]}\n\n', 0))
    assert isinstance(bad, bytes)
    (event,) = EventSplitter().feed(bad)
    data = event_data(event)
    assert data is not None
    with pytest.raises(ValueError, match="which is no JSON"):
        read_event(data.encode())


def test_a_stream_that_is_shorter_stays_as_it_is() -> None:
    editor = InsertAfter(3, "empty")
    stream = [b"data: 1\n\n", KEEP_ALIVE, b"data: 2\n\n", DONE_EVENT]
    assert edited(editor, *stream) == stream
    assert (editor.effect, editor.missed) == (None, "the stream ended first")


def test_nothing_is_inserted_at_dose_0() -> None:
    assert fault().editor(0.0, fault().draw(7, "7.block1.1")) is None


def test_the_share_of_streams_hit_is_the_dose() -> None:
    hit = [fault().editor(0.2, fault().draw(7, f"7.block1.{number}")) is not None for number in range(5000)]
    assert sum(hit) / len(hit) == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize(("field", "value"), [("after", 0), ("after", 100_001), ("form", "xml")])
def test_what_cannot_be_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match=field):
        fault(**{field: value})


def test_the_client_counts_such_a_stream_as_an_error() -> None:
    witness = fault(select={"share": "50 %"}).witness(0.4)
    assert witness.moved == pytest.approx(0.1)
    answered = [seen.model_copy(update={"status": 200}) for seen in observations()]
    assert {seen.outcome for seen in answered if witness.value(seen)} == {"error"}
    refused = [seen for seen in observations() if seen.outcome == "error"]
    assert {witness.value(seen) for seen in refused} == {0.0}, "a status such as 503 is no stream"
