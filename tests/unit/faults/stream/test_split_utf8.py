from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.conformance.observations import samples
from chaosgate.draws import Draw
from chaosgate.faults.stream.finish import finish_reasons
from chaosgate.faults.stream.split_utf8 import Between, SplitCharacters, StreamSplitUtf8
from chaosgate.model.fault import FAULTS, DoseAxis
from chaosgate.model.stream_edit import Pause, Step, StreamEvent, encode
from chaosgate.sse import DONE_EVENT, EventSplitter

DRAW = Draw(7, "torn", "7.block1.1")


def fault(**changed: Any) -> StreamSplitUtf8:
    dose = {"parameter": "share", "values": ["10 %"], "hold": "2s", "washout": "500ms"}
    return StreamSplitUtf8.model_validate({"name": "torn", "kind": "stream.split-utf8", "dose": dose, **changed})


def chat(content: str, finish: str | None = None, number: int = 0) -> StreamEvent:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    return StreamEvent(encode({"id": "c", "choices": [choice]}), number)


def cutting(share: float = 1.0, between: Between = "events", character: str = "") -> SplitCharacters:
    return SplitCharacters(share, DRAW, between, character)


def read(steps: Sequence[Step]) -> list[StreamEvent]:
    """The events that a client finds in what was sent."""
    splitter = EventSplitter()
    return [StreamEvent(raw, 0) for step in steps if isinstance(step, bytes) for raw in splitter.feed(step)]


def test_its_dose_is_the_share_of_text_events() -> None:
    assert FAULTS.get("stream.split-utf8") is StreamSplitUtf8
    assert StreamSplitUtf8.axis() == DoseAxis("share", "share")


@pytest.mark.parametrize(
    ("text", "halves"),
    [
        ("café!", ["caf\ufffd", "\ufffd!"]),
        ("é", ["\ufffd", "\ufffd"]),
        ("éü", ["\ufffd", "\ufffdü"]),
        ("a語b", ["a\ufffd", "\ufffd\ufffdb"]),
        ("🙂", ["\ufffd", "\ufffd\ufffd\ufffd"]),
    ],
)
def test_between_events_each_half_is_what_a_decoder_without_a_state_makes_of_it(text: str, halves: list[str]) -> None:
    editor = cutting()
    assert [event.text for event in read(editor.event(chat(text)))] == halves
    assert editor.effect == "1 events cut inside a character, between events"


def test_the_stream_ends_once_with_its_last_half() -> None:
    first, second = read(cutting().event(chat("é", "stop")))
    assert (finish_reasons(first), finish_reasons(second)) == ([], ["stop"])


def test_a_plain_completion_is_cut_too() -> None:
    event = StreamEvent(encode({"choices": [{"index": 0, "text": "é", "finish_reason": None}]}), 0)
    assert [half.text for half in read(cutting().event(event))] == ["\ufffd", "\ufffd"]


@pytest.mark.parametrize("escaped", [True, False])
def test_between_writes_the_bytes_are_cut_and_none_is_lost(escaped: bool) -> None:
    data = json.dumps({"choices": [{"index": 0, "delta": {"content": "café!"}}]}, ensure_ascii=escaped)
    steps = cutting(between="writes").event(StreamEvent(f"data: {data}\n\n".encode(), 0))
    first, pause, second = steps
    assert isinstance(first, bytes)
    assert isinstance(second, bytes)
    assert (first[-1:], pause, second[:1]) == ("é".encode()[:1], Pause(0), "é".encode()[1:])
    assert [event.text for event in read(steps)] == ["café!"]


@given(st.text(min_size=1).filter(lambda text: not text.isascii()))
def test_whatever_the_text_nothing_but_one_character_is_lost(text: str) -> None:
    torn = "".join(event.text for event in read(cutting().event(chat(text))))
    index = next(index for index, char in enumerate(text) if not char.isascii())
    assert torn.startswith(text[:index] + "\ufffd")
    assert torn.endswith("\ufffd" + text[index + 1 :])
    assert [event.text for event in read(cutting(between="writes").event(chat(text)))] == [text]


PLAIN = [b": keep-alive\n\n", b"data: rubbish\n\n", chat("lamp").raw, chat("", "stop").raw, DONE_EVENT]


@pytest.mark.parametrize("raw", PLAIN)
def test_an_event_without_such_a_character_keeps_its_bytes(raw: bytes) -> None:
    editor = cutting()
    assert editor.event(StreamEvent(raw, 0)) == (raw,)
    assert (editor.effect, editor.missed) == (None, "no text event had a character of several bytes")


def test_a_lone_surrogate_is_no_character_to_cut() -> None:
    event = StreamEvent(b'data: {"choices": [{"delta": {"content": "\\ud800"}}]}\n\n', 0)
    assert cutting().event(event) == (event.raw,)


def test_a_given_character_stands_in_where_a_text_has_none() -> None:
    editor = cutting(character="é")
    assert [half.text for half in read(editor.event(chat("lamp")))] == ["lamp\ufffd", "\ufffd"]
    assert [half.text for half in read(editor.event(chat("ü", number=1)))] == ["\ufffd", "\ufffd"]
    assert editor.event(chat("", number=2)) == (chat("").raw,), "an event without text gets none"
    assert editor.effect == "2 events cut inside a character, between events"
    assert [event.text for event in read(cutting(between="writes", character="é").event(chat("lamp")))] == ["lampé"]


@pytest.mark.parametrize("character", ["", "a", "éü", "\u007f"])
def test_a_character_that_cannot_be_cut_is_refused(character: str) -> None:
    with pytest.raises(ValueError, match="write one character outside ASCII, such as é"):
        fault(character=character)


def test_nothing_is_cut_at_dose_0() -> None:
    editor = fault(character="é").editor(0.0, DRAW)
    assert isinstance(editor, SplitCharacters)
    assert editor.event(chat("é")) == (chat("é").raw,)
    assert (editor.effect, editor.missed) == (None, "spared by the draw")


def test_the_share_of_events_cut_is_the_dose_and_a_larger_one_cuts_them_too() -> None:
    events = [chat("é", number=number) for number in range(5000)]
    low, high = ([len(cutting(share).event(event)) == 2 for event in events] for share in (0.2, 0.6))
    assert sum(low) / len(low) == pytest.approx(0.2, abs=0.02)
    assert sum(high) / len(high) == pytest.approx(0.6, abs=0.02)
    assert all(later for before, later in zip(low, high, strict=True) if before)


@pytest.mark.parametrize(("between", "unless"), [("events", "no event has a character"), ("writes", "with a state")])
def test_the_client_gets_other_answers(between: str, unless: str) -> None:
    witness = fault(between=between, select={"share": "50 %"}).witness(0.4)
    assert witness.moved == pytest.approx(0.1)
    assert unless in witness.unless
    assert {witness.value(sample) for sample in samples()} == {None, 0.0, 1.0}
