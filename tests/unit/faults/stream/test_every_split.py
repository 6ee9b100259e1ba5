"""However a stream is cut on its way, a fault of streams makes the same of it, and what it makes is still a stream.

What comes out is read by a parser of its own, written from the WHATWG HTML Living Standard, section 9.2.6, which
refuses what a browser would skip in silence.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from stream_rig import editing_of, sent

from chaosgate.draws import Draw
from chaosgate.model.fault import FAULTS, WireFault, fault_of
from chaosgate.model.stream_edit import Break, Step, StreamEditor, StreamEvent

ATOMS = Path(__file__).parents[4] / "chaos-specs" / "atoms"
KINDS = [name for name in FAULTS.names() if name.startswith("stream.")]
SEARCHED = 64
"""Requests among which a fault must hit one."""

EVENTS = [
    BOM_UTF8 + b'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\n',
    b": keep-alive\r\n\r\n",
    'data: {"choices":[{"delta":{"content":"The café ☕"}}]}\r\n\r\n'.encode(),
    'data:{"choices":[{"delta":{"content":" São"}}]}\r\r'.encode(),
    'event: message\nid: 7\ndata: {"choices":[{\ndata: "delta":{"content":" in 東京 🙂"}}]}\n\n'.encode(),
    b":\r\r",
    b'data: {"choices":[{"delta":{"content":" one"}}]}\n\n',
    'data: {"choices":[{"delta":{"content":" two é"}}]}\r\n\n'.encode(),
    b'data: {"choices":[{"delta":{"content":" three"}}]}\n\n',
    b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\r\r\n',
    b'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":6,"total_tokens":9}}\n\n',
    b"data: [DONE]\r\r",
]
"""Of every line end, with comments, fields besides the data, data of two lines and a byte order mark."""
STREAM = b"".join(EVENTS)
DATA = 10
"""Events of it that have data, and so are dispatched."""


def fault(kind: str, **changed: Any) -> WireFault:
    """The fault of the kind's atom, with every request selected and what is `changed`."""
    data: dict[str, Any] = yaml.safe_load((ATOMS / f"{kind}.yaml").read_text())["spec"]["faults"][0]
    found = fault_of({**data, "select": {"share": "100 %"}, **changed})
    assert isinstance(found, WireFault)
    return found


def edited(edits: Sequence[tuple[WireFault, Draw]], chunks: Sequence[bytes], share: float = 1.0) -> list[Step]:
    """What is sent of `chunks` through the faults' editors, each at `share` of the largest dose of its atom."""
    editors = [fault.editor(share * max(map(float, fault.dose.values)), draw) for fault, draw in edits]
    return sent(editing_of(*editors)[0], chunks)


def first_hit(fault: WireFault) -> tuple[WireFault, Draw]:
    """The fault with the draws of a request whose stream it changes."""
    draws = (fault.draw(7, f"7.block1.{number}") for number in range(SEARCHED))
    found = next((draw for draw in draws if edited([(fault, draw)], [STREAM]) != [STREAM]), None)
    assert found is not None, f"{fault.kind} changes none of {SEARCHED} streams"
    return fault, found


def check_every_split(edits: Sequence[tuple[WireFault, Draw]]) -> None:
    """The same steps whether the stream comes whole, in any two pieces or byte by byte, and events that can be read."""
    whole = edited(edits, [STREAM])
    for at in range(1, len(STREAM)):
        assert edited(edits, [STREAM[:at], STREAM[at:]]) == whole, f"cut after {at} bytes"
    assert edited(edits, [STREAM[at : at + 1] for at in range(len(STREAM))]) == whole
    dispatched = parse(b"".join(step for step in whole if isinstance(step, bytes)))
    assert (dispatched[-1:] == ["[DONE]"]) is not any(isinstance(step, Break) for step in whole)


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_is_edited_alike_however_it_was_cut(kind: str) -> None:
    check_every_split([first_hit(fault(kind))])


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("stream.cut", {"marker": True}),
        ("stream.finish-reason", {"reason": "null"}),
        ("stream.malformed-event", {"form": "empty"}),
        ("stream.malformed-event", {"form": "not-json"}),
        ("stream.split-utf8", {"between": "writes"}),
    ],
)
def test_so_it_is_with_other_parameters(kind: str, changed: dict[str, Any]) -> None:
    check_every_split([first_hit(fault(kind, **changed))])


def test_so_is_one_that_passes_all_of_them() -> None:
    # What cuts the stream short stands last, or the others would have nothing to do.
    kinds = sorted(KINDS, key=lambda kind: kind == "stream.cut")
    check_every_split([first_hit(fault(kind)) for kind in kinds])


@pytest.mark.parametrize("kind", KINDS)
def test_at_dose_0_every_byte_stays(kind: str) -> None:
    edit = first_hit(fault(kind))
    assert edited([edit], [STREAM], share=0.0) == [STREAM]


class Twin(StreamEditor):
    """A broken editor: the `number`th that is made, which sends `steps` of each event and this number."""

    def __init__(self, number: int, steps: Callable[[bytes, int], bytes]) -> None:
        self._number, self._steps = number, steps

    def event(self, event: StreamEvent) -> Sequence[Step]:
        return (self._steps(event.raw, self._number),)


@pytest.mark.parametrize(
    ("steps", "error", "message"),
    [
        pytest.param(lambda raw, number: raw * number, AssertionError, "cut after 1 bytes", id="another each time"),
        pytest.param(lambda raw, number: BOM_UTF8 + raw, ValueError, "which no reader knows", id="no field"),
        pytest.param(lambda raw, number: raw[:-1], ValueError, "ends in the middle", id="no end"),
    ],
)
def test_a_broken_twin_is_found(steps: Callable[[bytes, int], bytes], error: type[Exception], message: str) -> None:
    numbers = count(1)
    twin: Any = SimpleNamespace(dose=SimpleNamespace(values=[1]), editor=lambda dose, draw: Twin(next(numbers), steps))
    with pytest.raises(error, match=message):
        check_every_split([(twin, Draw(7, "twin", "7.block1.1"))])


def parse(stream: bytes) -> list[str]:
    """The data of each event that is dispatched; a ValueError for a field or an end that is not as it should be."""
    dispatched, data = [], list[str]()
    for line in _lines(stream.decode("utf-8").removeprefix("\ufeff")):
        if line == "":
            dispatched += ["\n".join(data)] if data else []
            data = []
        elif not line.startswith(":"):
            data += _data(line)
    if data:
        raise ValueError(f"the stream ends in the middle of an event with data {data}")
    return dispatched


def _lines(text: str) -> list[str]:
    *lines, rest = re.split("\r\n|\r|\n", text)
    if rest:
        raise ValueError(f"the stream ends in the middle of the line {rest!r}")
    return lines


def _data(line: str) -> list[str]:
    """The data of a line; none of a field that has another name."""
    field, _, value = line.partition(":")
    if field not in ("event", "data", "id", "retry"):
        raise ValueError(f"read the field {field!r}, which no reader knows")
    return [value.removeprefix(" ")] if field == "data" else []


def test_the_parser_reads_the_recorded_stream() -> None:
    read = parse(STREAM)
    assert len(read) == DATA
    assert read[3] == '{"choices":[{\n"delta":{"content":" in 東京 🙂"}}]}'
    assert read[-1] == "[DONE]"


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (b"data: 1\n\n" + BOM_UTF8 + b"data: 2\n\n", r"read the field '\\ufeffdata'"),
        (b"data: 1\ndata 2\n\n", "read the field 'data 2'"),
        (b"data: 1\n\ndata: 2\n", "the stream ends in the middle of an event"),
        (b"data: 1\n\ndata: 2", "the stream ends in the middle of the line 'data: 2'"),
        ("data: é\n\n".encode()[:7], "can't decode byte 0xc3"),
    ],
)
def test_the_parser_refuses_what_a_browser_skips(broken: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse(broken)
