from __future__ import annotations

from typing import Any

import pytest

from chaosgate.conformance.observations import observations
from chaosgate.draws import Draw
from chaosgate.faults.stream.cut import CutAfter, StreamCut
from chaosgate.model.fault import FAULTS, DoseAxis
from chaosgate.model.stream_edit import Break, Finish, StreamEvent
from chaosgate.sse import DONE_EVENT


def cut(**changed: Any) -> StreamCut:
    dose = {"parameter": "probability", "values": ["10 %"], "hold": "2s", "washout": "500ms"}
    return StreamCut.model_validate({"name": "cutter", "kind": "stream.cut", "dose": dose, **changed})


def test_its_dose_is_the_share_of_streams() -> None:
    assert FAULTS.get("stream.cut") is StreamCut
    assert StreamCut.axis() == DoseAxis("probability", "share")


def events(*datas: str) -> list[StreamEvent]:
    counted = [sum(data != "[DONE]" for data in datas[:number]) for number in range(len(datas))]
    return [StreamEvent(f"data: {data}\n\n".encode(), number) for data, number in zip(datas, counted, strict=True)]


def test_a_hit_stream_is_cut_after_its_events() -> None:
    editor = cut(after=1).editor(1.0, Draw(7, "cutter", "7.block1.1"))
    assert editor is not None
    first, second, _ = events("1", "2", "[DONE]")
    assert editor.event(first) == (first.raw,)
    assert editor.event(StreamEvent(b": keep-alive\n\n", 1)) == (b": keep-alive\n\n",)
    assert editor.effect is None
    assert editor.event(second) == (Break(),)
    assert editor.effect == "cut after 1 events"


def test_with_the_marker_the_stream_ends_as_if_it_were_whole() -> None:
    _, second, done = events("1", "2", "[DONE]")
    assert CutAfter(1, True).event(second) == (DONE_EVENT, Finish())
    assert CutAfter(2, True).event(done) == (done.raw,)
    assert CutAfter(2, False).event(done) == (Break(),)


def test_nothing_is_cut_at_dose_0() -> None:
    fault = cut()
    assert fault.editor(0.0, fault.draw(7, "7.block1.1")) is None


def test_the_share_of_streams_cut_is_the_dose() -> None:
    fault = cut()
    hit = [fault.editor(0.2, fault.draw(7, f"7.block1.{number}")) is not None for number in range(5000)]
    assert sum(hit) / len(hit) == pytest.approx(0.2, abs=0.02)


def test_without_the_marker_the_client_misses_the_end() -> None:
    witness = cut().witness(0.4)
    assert witness.moved == pytest.approx(0.2)
    assert {seen.outcome for seen in observations() if witness.value(seen)} == {"cut"}


def test_with_the_marker_only_the_length_tells() -> None:
    witness = cut(after=1, marker=True).witness(0.4)
    assert {len(seen.tokens) for seen in observations() if witness.value(seen)} == {0, 1}
