"""The text of a whole answer is read and replaced, and nothing else of it."""

from __future__ import annotations

import json

import pytest

from chaosgate.conformance.wire_samples import STREAMS
from chaosgate.gateway.held_answer import HeldAnswer
from chaosgate.sse import MAX_EVENT

SAID = "The café in São Paulo is closed 🙂. It opens on Monday"


@pytest.mark.parametrize("stream", STREAMS, ids=["chat", "plain"])
def test_the_text_of_a_stream_is_replaced_in_its_first_event(stream: tuple[bytes, ...]) -> None:
    held = HeldAnswer(b"".join(stream), streamed=True)
    assert held.text == SAID
    changed = HeldAnswer(held.with_text("No."), streamed=True)
    assert changed.text == "No."
    kept = [raw for raw in stream if raw in changed.body]
    assert kept[0].startswith(b"data: ") or kept[0].startswith(b": ")
    assert changed.body.endswith(b"data: [DONE]\n\n")
    assert changed.body.count(b'"finish_reason":"') == held.body.count(b'"finish_reason":"') == 1


def test_what_a_stream_has_besides_text_is_kept() -> None:
    chat = STREAMS[0]
    changed = HeldAnswer(b"".join(chat), streamed=True).with_text("No.")
    assert [raw for raw in chat if raw in changed] == [chat[0], chat[1], *chat[-3:]]


@pytest.mark.parametrize("choice", [{"message": {"role": "assistant", "content": "a"}}, {"text": "a"}])
def test_the_text_of_an_object_is_replaced(choice: dict[str, object]) -> None:
    data = {"id": "1", "choices": [{"index": 0, **choice, "finish_reason": "stop"}], "usage": {"total_tokens": 3}}
    held = HeldAnswer(json.dumps(data).encode(), streamed=False)
    assert held.text == "a"
    changed = held.with_text("b")
    assert HeldAnswer(changed, streamed=False).text == "b"
    assert json.loads(changed.replace(b'"b"', b'"a"')) == data


@pytest.mark.parametrize(
    ("body", "streamed"),
    [
        (b"no json", False),
        (b"[" * 100_000, False),
        (b'{"choices": [{"text": "a"}, {"text": "b"}]}', False),
        (b'{"choices": [{"message": {"content": null}}]}', False),
        (b'data: {"choices": [{"index": 0}, {"index": 1}]}\n\n', True),
        (b"data: no json\n\n", True),
        (b"data: " + b"a" * (MAX_EVENT + 1), True),
    ],
)
def test_what_is_no_completion_with_one_choice_has_no_text(body: bytes, streamed: bool) -> None:
    assert HeldAnswer(body, streamed).text is None


def test_a_last_event_without_its_blank_line_is_kept() -> None:
    body = b'data: {"choices":[{"index":0,"text":"a"}]}\n\ndata: [DONE]'
    assert HeldAnswer(body, streamed=True).with_text("b").endswith(b"data: [DONE]")


@pytest.mark.parametrize("choices", [[1], [None], ["x"], [[]], [{"index": 0, "text": "a"}, 1]])
def test_choices_that_are_no_objects_cannot_be_read(choices: list[object]) -> None:
    event = b"data: " + json.dumps({"choices": choices}).encode() + b"\n\n"
    assert HeldAnswer(event, streamed=True).text is None


def test_numbers_of_an_answer_stay_as_they_are_written() -> None:
    body = b'{"choices": [{"message": {"content": "a"}, "logprobs": [1e400, 0.12345678901234567890]}], "usage": {}}'
    assert HeldAnswer(body, streamed=False).with_text("b") == body.replace(b'"a"', b'"b"')
