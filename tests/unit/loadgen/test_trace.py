"""Traces computed by hand: what events at given times become."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import pytest
from scripted_chat import call, token

from chaosgate.loadgen.delta import read_event
from chaosgate.loadgen.trace import PhaseClock, Trace, text_digest
from chaosgate.model.observation import Observation, Outcome
from chaosgate.prompts.prompt import Suggestion


class HandClock:
    """A clock that is set by hand; the phase begins at 100."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def hand() -> HandClock:
    return HandClock()


@pytest.fixture
def trace(hand: HandClock) -> Trace:
    trace = Trace(call(scheduled=3.25), PhaseClock(hand))
    hand.at = 103.5
    trace.stamp_sent()
    trace.status = 200
    return trace


def test_no_token(trace: Trace) -> None:
    trace.take(map(read_event, [b"[DONE]"]), 3.75)
    trace.settle("ok")
    seen = trace.observation()
    assert (seen.first, seen.tokens, seen.end, seen.outcome) == (None, (), 3.75, "ok")
    assert seen.text == "sha256:" + hashlib.sha256(b"").hexdigest()
    assert seen.answer == "wrong"


def test_one_token(trace: Trace) -> None:
    trace.take(map(read_event, [token("blue", "stop").encode()]), 3.75)
    trace.take(map(read_event, [b"[DONE]"]), 4.0)
    trace.settle("ok")
    assert trace.observation().to_json() == {
        "request": "7.block1.17",
        "phase": "block1",
        "prompt": "recall-24/17",
        "scheduled": 3.25,
        "sent": 3.5,
        "first": 3.75,
        "tokens": [3.75],
        "end": 4.0,
        "status": 200,
        "outcome": "ok",
        "answer": "right",
        "text": "sha256:" + hashlib.sha256(b"blue").hexdigest(),
        "accepted": None,
        "finish": "stop",
        "claimed": None,
        "promptTokens": None,
        "opened": 3.75,
        "last": 3.75,
        "events": 1,
        "reasoning": [],
        "tenant": None,
        "why": None,
        "warmup": False,
        "said": None,
        "logprobs": None,
    }


def test_two_tokens_after_an_empty_first_event(trace: Trace) -> None:
    for data, at in [(token(""), 3.5), (token("bl"), 3.75), (token("ue"), 4.25), (token(None, "stop"), 4.5)]:
        trace.take(map(read_event, [data.encode()]), at)
    seen = trace.observation()
    assert (seen.first, seen.tokens, seen.answer) == (3.75, (3.75, 4.25), "right")


def test_several_tokens_in_one_event_are_one_content_event(trace: Trace) -> None:
    trace.take(map(read_event, [token("blue and green").encode()]), 3.75)
    seen = trace.observation()
    assert (seen.tokens, seen.answer) == ((3.75,), "wrong")


def test_the_end_is_the_marker_and_not_the_close_of_the_connection(trace: Trace, hand: HandClock) -> None:
    trace.take(map(read_event, [b"[DONE]"]), 3.75)
    hand.at = 109.0
    trace.settle("ok")
    assert trace.observation().end == 3.75


def test_without_a_marker_the_end_is_when_the_request_was_settled(trace: Trace, hand: HandClock) -> None:
    trace.take(map(read_event, [token("blue", "stop").encode()]), 3.75)
    assert trace.finished
    hand.at = 104.0
    trace.settle("ok")
    hand.at = 109.0
    assert trace.observation().end == 4.0


def test_what_the_server_says_of_the_answer_is_kept_until_it_says_something_else(trace: Trace) -> None:
    assert (trace.observation().finish, trace.observation().claimed) == (None, None)
    usage = '{"choices": [], "usage": {"completion_tokens": %d}}'
    for data in (usage % 1, token("blue", "stop"), usage % 2, token(None), "[DONE]"):
        trace.take(map(read_event, [data.encode()]), 3.75)
    assert (trace.observation().finish, trace.observation().claimed) == ("stop", 2)


def test_a_request_that_was_never_settled_is_given_up_now(trace: Trace, hand: HandClock) -> None:
    trace.take(map(read_event, [token("bl").encode()]), 3.75)
    hand.at = 107.0
    seen = trace.observation()
    assert (seen.outcome, seen.end, seen.tokens) == ("timeout", 7.0, (3.75,))


def test_a_request_that_was_never_sent_was_sent_at_its_end(hand: HandClock) -> None:
    trace = Trace(call(scheduled=3.25), PhaseClock(hand))
    hand.at = 103.5
    trace.settle("refused")
    seen = trace.observation()
    assert (seen.outcome, seen.status, seen.sent, seen.end) == ("refused", None, 3.5, 3.5)


@pytest.mark.parametrize(
    ("known", "answer"), [("blue", "right"), (" blue\n", "right"), ("red", "wrong"), ("Blue", "wrong"), (None, None)]
)
def test_answers_are_compared_exactly_but_for_space_around(known: str | None, answer: str | None) -> None:
    trace = Trace(call(answer=known), PhaseClock())
    trace.take(map(read_event, [token(" blue ").encode()]), 1.0)
    assert trace.observation().answer == answer


@pytest.mark.parametrize(("form", "answer"), [("json", "right"), ("text", "wrong")])
def test_answers_are_graded_as_the_prompt_says(form: str, answer: str) -> None:
    trace = Trace(call(answer='{"red":"blue","lamp":"door"}', form=form), PhaseClock())
    trace.take(map(read_event, [token('{"lamp": "door", ').encode()]), 1.0)
    trace.take(map(read_event, [token('"red": "blue"}').encode()]), 1.1)
    assert trace.observation().answer == answer


@pytest.mark.parametrize(
    ("text", "outcome", "accepted"),
    [
        ("blue", "ok", True),
        ("red", "ok", False),
        ("green", "ok", False),
        ("blue", "cut", False),
        ("blue", "timeout", False),
    ],
)
def test_only_a_whole_answer_is_accepted_as_the_log_tells(text: str, outcome: Outcome, accepted: bool) -> None:
    trace = Trace(call(suggestion=Suggestion("red", False)), PhaseClock())
    trace.take(map(read_event, [token(text).encode()]), 1.0)
    trace.settle(outcome)
    assert trace.observation().accepted is accepted


@pytest.mark.parametrize("outcome", ["ok", "error"])
def test_without_a_log_nothing_is_known_of_acceptance(outcome: Outcome) -> None:
    trace = Trace(call(), PhaseClock())
    trace.settle(outcome)
    assert trace.observation().accepted is None


@pytest.mark.parametrize("outcome", ["ok", "error", "cut", "timeout", "refused", "cancelled"])
def test_every_outcome_reaches_the_observation(trace: Trace, outcome: Outcome) -> None:
    trace.settle(outcome)
    assert trace.observation().outcome == outcome


@dataclass(frozen=True)
class Meaning:
    """What one event is to a trace."""

    content: str = ""
    finish: str | None = None
    claimed: int | None = None
    events: int = 1
    done: bool = False


@pytest.mark.parametrize(
    ("data", "meaning"),
    [
        ("[DONE]", Meaning(done=True, events=0)),
        (token("a"), Meaning("a")),
        (token(None), Meaning()),
        (token("a", "length"), Meaning("a", "length", done=True)),
        (token("a", "bl\x1b[2Jue\n"), Meaning("a", "bl\ufffd[2Jue ", done=True)),
        (token("a", "\ud800" + "x" * 99), Meaning("a", "\ufffd" + "x" * 63, done=True)),
        ('{"choices": [{"delta": {}, "finish_reason": 7}]}', Meaning("", "7", done=True)),
        ('{"choices": []}', Meaning(events=0)),
        ('{"choices": [], "usage": null}', Meaning(events=0)),
        ('{"choices": [], "usage": {"total_tokens": 3}}', Meaning(events=0)),
        ('{"choices": [], "usage": {"completion_tokens": 3}}', Meaning(claimed=3, events=0)),
        ('{"choices": [], "usage": {"completion_tokens": -1}}', Meaning(events=0)),
        ('{"choices": [], "usage": {"completion_tokens": true}}', Meaning(events=0)),
        ('{"choices": [], "usage": {"completion_tokens": 1.5}}', Meaning(events=0)),
        ('{"choices": [], "usage": {"completion_tokens": 1' + "0" * 400 + "}}", Meaning(events=0)),
        ('{"choices": [], "usage": [3]}', Meaning(events=0)),
        ('{"choices": [{"delta": {"content": "a"}}], "usage": {"completion_tokens": 1}}', Meaning("a", claimed=1)),
        ('{"choices": [{"delta": null, "finish_reason": null}], "error": null}', Meaning()),
        ('{"choices": [{"delta": {"content": null}}]}', Meaning()),
    ],
)
def test_events_are_read(data: str, meaning: Meaning, trace: Trace) -> None:
    trace.take(map(read_event, [data.encode()]), 3.75)
    seen = trace.observation()
    assert (seen.text, len(seen.tokens)) == (text_digest(meaning.content), len(meaning.content))
    assert Meaning(meaning.content, seen.finish, seen.claimed, seen.events, trace.finished) == meaning


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ('{"choices"', r"read '\{\"choices\"', which is no JSON"),
        ("[" * 100_000, "which is no JSON"),
        ("", "which is no JSON"),
        ("7", "read '7'; an event is a JSON object"),
        ("{}", r"read '\{\}'; an event needs a list of objects in choices"),
        ('{"choices": [7]}', "an event needs a list of objects in choices"),
        ('{"choices": [{"delta": {"content": 7}}]}', r"text, or nothing, in choices\[0\].delta.content"),
        ('{"choices": [{"delta": [7]}]}', r"text, or nothing, in choices\[0\].delta.content"),
        ('{"error": {"message": "out of memory"}}', "the server reported an error in the stream: .*out of memory"),
        (token("bl", "error"), "the answer ended with finish_reason 'error'"),
        (token("bl", "abort"), "the answer ended with finish_reason 'abort'"),
    ],
)
def test_malformed_events_say_what_was_read(data: str, text: str, trace: Trace) -> None:
    with pytest.raises(ValueError, match=text):
        trace.take(map(read_event, [data.encode()]), 3.75)
    assert trace.observation().events == 0


def test_an_observation_made_of_checked_values_is_one_that_was_checked(trace: Trace) -> None:
    trace.take(map(read_event, [token("blue", "stop").encode()]), 3.75)
    trace.settle("ok")
    seen = trace.observation()
    assert seen == Observation.model_validate(seen.to_json())


def test_a_lone_surrogate_has_a_digest() -> None:
    trace = Trace(call(), PhaseClock())
    trace.take(map(read_event, [json.dumps({"choices": [{"delta": {"content": "\ud800"}}]}).encode()]), 1.0)
    assert trace.observation().text == text_digest("\ud800") != text_digest("?")


def test_the_phase_clock_counts_from_its_making(hand: HandClock) -> None:
    clock = PhaseClock(hand)
    hand.at = 102.5
    assert clock.now() == 2.5
