"""Editors one after the other: what is sent, in which order, and what is given back when the editing ends early."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stream_rig import editing_of, sent, touch

from chaosgate.gateway.editing import Editing, EventTooLong
from chaosgate.gateway.passage import PlannedEdit
from chaosgate.model.stream_edit import Break, Finish, Pause, Step, StreamEditor, StreamEvent
from chaosgate.sse import MAX_EVENT


class Pass(StreamEditor):
    """Leaves everything as it is."""

    def event(self, event: StreamEvent) -> Sequence[Step]:
        return (event.raw,)


class Hold(StreamEditor):
    """Sends each event `behind` events later, unchanged."""

    def __init__(self, behind: int) -> None:
        self._behind, self._held = behind, list[bytes]()

    def event(self, event: StreamEvent) -> Sequence[Step]:
        self._held.append(event.raw)
        return (self._held.pop(0),) if len(self._held) > self._behind else ()

    def end(self) -> Sequence[Step]:
        held, self._held = self._held, []
        return held


class Drop(StreamEditor):
    """Drops every event whose number `each` divides."""

    def __init__(self, each: int) -> None:
        self._each = each

    def event(self, event: StreamEvent) -> Sequence[Step]:
        if event.counts and event.number % self._each == 0:
            self.effect = "dropped"
            return ()
        return (event.raw,)


class Number(StreamEditor):
    """Sends before each event with data a comment of its number, and one at the end."""

    def event(self, event: StreamEvent) -> Sequence[Step]:
        self.effect = "numbered"
        return (b": %d\n\n" % event.number, event.raw) if event.counts else (event.raw,)

    def end(self) -> Sequence[Step]:
        return (b": end\n\n",)


class Say(StreamEditor):
    """Sends `steps` in the place of each event from this number on."""

    def __init__(self, number: int, *steps: Step) -> None:
        self._number, self._steps = number, steps

    def event(self, event: StreamEvent) -> Sequence[Step]:
        if event.number < self._number:
            return (event.raw,)
        self.effect = "said"
        return self._steps


@dataclass(frozen=True)
class Made:
    """How an editor is made, so that each stream has one of its own."""

    kind: type[StreamEditor]
    number: int | None = None

    def __call__(self) -> StreamEditor:
        return self.kind() if self.number is None else self.kind(self.number)  # type: ignore[call-arg]


BYTES = st.lists(st.sampled_from([b"data: x", b":", b"\r", b"\n", b"\r\n", b"\xef\xbb\xbf", b"\xc3", b"[DONE]"]))
EVENTS = st.lists(
    st.sampled_from([b"data: a\n\n", b"data: b\r\n\r\n", b": c\n\n", b"data: \xc3\xa9\ndata\n\n", b"data: [DONE]\n\n"]),
    max_size=8,
)
HOLDS = st.builds(Made, st.just(Hold), st.integers(0, 3))
UNCHANGED = st.lists(HOLDS | st.just(Made(Pass)), max_size=3)
EDITORS = st.lists(
    HOLDS | st.builds(Made, st.just(Drop), st.integers(1, 3)) | st.sampled_from([Made(Pass), Made(Number)]), max_size=3
)
SIZES = st.lists(st.integers(1, 20), min_size=1, max_size=5)
A, B, C = (b"data: %s\n\n" % letter for letter in (b"a", b"b", b"c"))


def pieces(stream: bytes, sizes: Sequence[int]) -> list[bytes]:
    """The stream in chunks of these sizes, over and over."""
    chunks = []
    while stream:
        size = sizes[len(chunks) % len(sizes)]
        chunks.append(stream[:size])
        stream = stream[size:]
    return chunks


def through(editors: Sequence[Made], chunks: Sequence[bytes]) -> bytes:
    """The bytes that come out, where no editor does anything else than send bytes."""
    steps = sent(editing_of(*(make() for make in editors))[0], chunks)
    assert all(isinstance(step, bytes) for step in steps)
    return b"".join(step for step in steps if isinstance(step, bytes))


@given(BYTES.map(b"".join), UNCHANGED, SIZES)
def test_editors_that_change_nothing_leave_every_byte(stream: bytes, editors: list[Made], sizes: list[int]) -> None:
    assert through(editors, pieces(stream, sizes)) == stream


@given(EVENTS.map(b"".join), EDITORS, SIZES)
def test_each_editor_is_given_what_the_one_before_it_sent(stream: bytes, editors: list[Made], sizes: list[int]) -> None:
    step_by_step = stream
    for one in editors:
        step_by_step = through([one], [step_by_step])
    assert through(editors, pieces(stream, sizes)) == step_by_step


@given(BYTES.map(b"".join), UNCHANGED, SIZES)
def test_what_was_sent_and_what_is_released_is_what_came(stream: bytes, editors: list[Made], sizes: list[int]) -> None:
    editing, _ = editing_of(*(make() for make in editors))
    out = b"".join(step for chunk in pieces(stream, sizes) for step in editing.feed(chunk))  # type: ignore[misc]
    assert out + editing.release() == stream


def test_what_is_released_is_not_edited() -> None:
    editing, _ = editing_of(Hold(1), Drop(1))
    assert list(editing.feed(A + B[:4])) == []
    assert editing.release() == A + B[:4]


@given(EVENTS, HOLDS, st.integers(0, 8), SIZES)
def test_a_stream_that_is_finished_gives_what_later_editors_hold(
    events: list[bytes], hold: Made, number: int, sizes: list[int]
) -> None:
    counted = [place for place, raw in enumerate(events) if raw[:1] != b":" and raw != b"data: [DONE]\n\n"]
    # The first event with the number, or a comment or [DONE] right before it.
    place = counted[number - 1] + 1 if 0 < number <= len(counted) else 0 if number == 0 else len(events)
    editing, (said, held) = editing_of(Say(number, b": end\n\n", Finish()), hold())
    steps = sent(editing, pieces(b"".join(events), sizes))
    if place == len(events):
        assert steps == ([b"".join(events)] if events else [])
        assert said.bypassed == "the stream ended first"
    else:
        assert steps == [b"".join(events[:place]) + b": end\n\n", Finish()]
        assert (said.effect, held.bypassed) == ("said", "cut by first")


def test_a_stream_that_breaks_gives_what_later_editors_hold_and_nothing_of_earlier_ones() -> None:
    editing, touches = editing_of(Hold(1), Say(1, Break()), Hold(3), Number())
    assert sent(editing, [A + B + C]) == [b": 0\n\n" + A + b": end\n\n", Break()]
    assert [touch.bypassed for touch in touches] == ["cut by second", None, "cut by second", None]


def test_who_ends_the_stream_is_who_did_so_first() -> None:
    editing, (late, early) = editing_of(Say(2, Break()), Say(1, Finish()))
    assert sent(editing, [A, B, C]) == [A, Finish()]
    assert (late.bypassed, early.effect) == ("cut by second", "said")


@given(UNCHANGED.filter(lambda editors: all(made.kind is Pass for made in editors)), SIZES)
def test_a_pause_stands_between_what_was_sent_before_and_after_it(editors: list[Made], sizes: list[int]) -> None:
    editing, _ = editing_of(Say(1, Pause(2.0), B, Pause(0.0), C), *(make() for make in editors))
    assert sent(editing, pieces(A + b"data: 1\n\n", sizes)) == [A, Pause(2.0), B, Pause(0.0), C]


def test_a_pause_does_not_wait_for_what_a_later_editor_holds() -> None:
    editing, _ = editing_of(Say(1, Pause(2.0), B), Hold(1))
    assert sent(editing, [A + b"data: 1\n\n"]) == [Pause(2.0), A + B]


def test_the_end_passes_through_the_editors_that_follow() -> None:
    editing, _ = editing_of(Hold(2), Number(), Drop(2))
    assert sent(editing, [A + B, C]) == [b": 0\n\n: 1\n\n" + B + b": 2\n\n: end\n\n"]


def test_an_editor_counts_the_events_that_it_is_given() -> None:
    editing, _ = editing_of(Drop(2), Number())
    assert sent(editing, [A + B + C + A]) == [b": 0\n\n" + B + b": 1\n\n" + A + b": end\n\n"]


def test_an_editor_sees_its_events_one_by_one_as_they_are_asked_for() -> None:
    editing, (said,) = editing_of(Say(1, B))
    steps = editing.feed(A + C)
    assert (next(steps), said.effect) == (A, None)
    assert (next(steps), said.effect) == (B, "said")


@pytest.mark.parametrize("ahead", [(), (Pass(),), (Hold(1),)])
def test_of_an_event_without_end_every_byte_is_left(ahead: tuple[StreamEditor, ...]) -> None:
    endless = b"data: " + bytes(MAX_EVENT)
    editing, touches = editing_of(*ahead, Drop(1))
    list(editing.feed(A))
    with pytest.raises(EventTooLong):
        list(editing.feed(endless))
    released = editing.release()
    assert released.endswith(endless)
    assert released.removesuffix(endless) in (b"", A)
    editing.close("an event is too long")
    assert touches[0].bypassed in (None, "an event is too long")


@pytest.mark.parametrize("before", [None, "delay 0.100 s"])
def test_the_ledger_has_what_was_done_before_and_the_latest_of_the_editor(before: str | None) -> None:
    noted = touch("first")
    if before is not None:
        noted.apply(before)
    editor = Say(1, B)
    editing = Editing([PlannedEdit(editor, noted)])
    sent(editing, [A + B + C])
    assert noted.effect == ("said" if before is None else "delay 0.100 s; said")


def test_what_did_nothing_has_the_reason_of_whoever_closes_it() -> None:
    editing, (idle, busy) = editing_of(Pass(), Drop(1))
    list(editing.feed(A))
    editing.close("halted")
    assert (idle.bypassed, busy.bypassed, busy.effect) == ("halted", None, "dropped")


def test_who_ends_the_stream_at_its_last_event_is_named() -> None:
    editing, (late, _) = editing_of(Say(9, Break()), Say(1, Break()))
    assert sent(editing, [A, b"data: b\r\r"]) == [A, Break()]
    assert late.bypassed == "cut by second"


class Grow(StreamEditor):
    """Makes each event longer, and sends a comment behind it."""

    def event(self, event: StreamEvent) -> Sequence[Step]:
        return b": longer\n" + event.raw, b": behind\n\n"


def test_an_event_that_an_editor_made_too_long_takes_none_of_those_behind_it_along() -> None:
    events = [b"data: a\n\n", b"data: " + b"x" * (MAX_EVENT - 8) + b"\n\n", b"data: b\n\n", b"data: c\n\n"]
    editing, _ = editing_of(Grow(), Pass())
    out = bytearray()

    def send() -> None:
        for step in editing.feed(b"".join(events) + b"data: d"):
            assert isinstance(step, bytes)
            out.extend(step)

    with pytest.raises(EventTooLong):
        send()

    grown = b"".join(b": longer\n" + raw + b": behind\n\n" for raw in events[:2])
    assert bytes(out) + editing.release() == grown + b"".join(events[2:]) + b"data: d"
