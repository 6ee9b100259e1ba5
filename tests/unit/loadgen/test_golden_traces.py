"""Streams whose every number is computed by hand: what the definitions of docs/definitions.md make of them.

Each request is due at 10.0 s, on the phase's clock, and sent at 10.1 s.
"""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from scripted_chat import call

from chaosgate.loadgen.delta import read_event
from chaosgate.loadgen.trace import PhaseClock, Trace
from chaosgate.model.observation import Outcome, RequestBound, Sample
from chaosgate.model.sli import SLIS
from chaosgate.units import Bound

Event = tuple[float, str]
"""When it came, and its data."""
DONE = "[DONE]"
KINDS = ("ttft", "first-text", "itl", "tpot", "e2e", "normalised-latency", "tokens-per-second", "request-rate")


def delta(finish: str | None = None, **fields: str) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]})


def usage(completion: int, prompt: int = 5) -> str:
    return json.dumps({"choices": [], "usage": {"completion_tokens": completion, "prompt_tokens": prompt}})


def traced(events: list[Event], outcome: Outcome = "ok", end: float = 12.0) -> Sample:
    times = iter([0.0, 10.1, end])
    trace = Trace(call(scheduled=10.0), PhaseClock(lambda: next(times)))
    trace.stamp_sent()
    trace.status = 200
    for at, data in events:
        trace.take(map(read_event, [data.encode()]), at)
    trace.settle(outcome)
    return Sample(trace.observation(), None)


def measured(sample: Sample) -> dict[str, Any]:
    """Every number of a request: a list where there may be several, the one or None elsewhere."""
    numbers: dict[str, Any] = {name: SLIS.get(name).value(sample) for name in KINDS}
    return numbers | {"itl": [round(gap, 9) for gap in SLIS.get("itl").values(sample)]}


GOLDEN: dict[str, tuple[list[Event], dict[str, Any]]] = {
    # An answer without text: it ends, and its server made no token. e2e = 10.5 - 10.0.
    "no token": (
        [(10.3, delta(role="assistant", content="")), (10.4, delta("stop")), (10.5, DONE)],
        {
            "ttft": None,
            "first-text": None,
            "itl": [],
            "tpot": None,
            "e2e": 0.5,
            "normalised-latency": None,
            "tokens": 0,
        },
    ),
    # ttft = 10.4 - 10.0; one token has neither a gap nor a time per further token; e2e / 1 = 0.5.
    "one token": (
        [(10.4, delta("stop", content="blue")), (10.5, DONE)],
        {"ttft": 0.4, "first-text": 0.4, "itl": [], "tpot": None, "e2e": 0.5, "normalised-latency": 0.5, "tokens": 1},
    ),
    # The gap and the time per token are both (10.7 - 10.4) / (2 - 1); e2e / 2 = 0.8 / 2.
    "two tokens": (
        [(10.4, delta(content="bl")), (10.7, delta("stop", content="ue")), (10.8, DONE)],
        {"ttft": 0.4, "first-text": 0.4, "itl": [0.3], "tpot": 0.3, "e2e": 0.8, "normalised-latency": 0.4, "tokens": 2},
    ),
    # A first event that names the role only is no token: the numbers are those of two tokens.
    "an empty first event": (
        [
            (10.2, delta(role="assistant", content="")),
            (10.4, delta(content="bl")),
            (10.7, delta("stop", content="ue")),
            (10.8, DONE),
        ],
        {"ttft": 0.4, "first-text": 0.4, "itl": [0.3], "tpot": 0.3, "e2e": 0.8, "normalised-latency": 0.4, "tokens": 2},
    ),
    # Two events bring 1 + 3 tokens by the server's count. One gap, 10.7 - 10.4 = 0.3; per token 0.3 / (4 - 1) = 0.1;
    # e2e / 4 = 0.8 / 4.
    "several tokens in one event": (
        [(10.4, delta(content="a ")), (10.7, delta("stop", content="b c d")), (10.8, usage(4)), (10.8, DONE)],
        {"ttft": 0.4, "first-text": 0.4, "itl": [0.3], "tpot": 0.1, "e2e": 0.8, "normalised-latency": 0.2, "tokens": 4},
    ),
    # Two events of one piece of the network have no time between them: gaps 0 and 0.4; (0.4) / (3 - 1) = 0.2.
    "two events in one piece": (
        [(10.4, delta(content="a")), (10.4, delta(content="b")), (10.8, delta("stop", content="c")), (10.8, DONE)],
        {"ttft": 0.4, "first-text": 0.4, "itl": [0.0, 0.4], "tpot": 0.2, "e2e": 0.8, "tokens": 3},
    ),
    # Reasoning is the first text, at 0.2; content comes at 10.6. Gaps 0.2, 0.2, 0.2; (10.8 - 10.2) / (4 - 1) = 0.2.
    "reasoning_content": (
        [
            (10.2, delta(reasoning_content="hm")),
            (10.4, delta(reasoning_content="so")),
            (10.6, delta(content="bl")),
            (10.8, delta("stop", content="ue")),
            (11.0, DONE),
        ],
        {"ttft": 0.6, "first-text": 0.2, "itl": [0.2] * 3, "tpot": 0.2, "e2e": 1.0, "normalised-latency": 0.25},
    ),
    # The same under the other name, with the server's count, 7: (10.8 - 10.2) / 6 = 0.1; e2e / 7.
    "reasoning": (
        [
            (10.2, delta(reasoning="hm")),
            (10.4, delta(reasoning="so")),
            (10.6, delta(content="bl")),
            (10.8, delta("stop", content="ue")),
            (11.0, usage(7)),
            (11.0, DONE),
        ],
        {"ttft": 0.6, "first-text": 0.2, "itl": [0.2] * 3, "tpot": 0.1, "normalised-latency": 1.0 / 7, "tokens": 7},
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_a_whole_answer_has_these_numbers(name: str) -> None:
    events, wanted = GOLDEN[name]
    found = measured(traced(events))
    found["tokens"] = found["tokens-per-second"]
    for key, number in wanted.items():
        assert found[key] == pytest.approx(number), key
    assert found["request-rate"] == 1


def test_reasoning_alone_is_text_and_no_answer() -> None:
    found = measured(traced([(10.2, delta("stop", reasoning="hm")), (10.5, DONE)]))
    assert (found["ttft"], found["first-text"]) == (None, pytest.approx(0.2))


@pytest.mark.parametrize("outcome", ["cut", "error", "timeout", "refused"])
def test_a_failed_stream_has_no_latency_and_is_infinite_in_the_adjusted_view(outcome: Outcome) -> None:
    sample = traced([(10.4, delta(content="bl")), (10.7, delta(content="ue"))], outcome)
    found = measured(sample)
    assert found == dict.fromkeys(KINDS) | {"itl": [], "tokens-per-second": 0, "request-rate": 0}
    for name in ("ttft", "first-text", "itl", "tpot", "e2e", "normalised-latency"):
        assert tuple(SLIS.get(name).adjusted_values([sample])) == (math.inf,)
        assert SLIS.get(name).adjusted(sample) == math.inf
    for name in ("tokens-per-second", "request-rate"):
        assert tuple(SLIS.get(name).adjusted_values([sample])) == (0,)
    assert SLIS.get("error-rate").value(sample) == 1


def test_a_cancelled_stream_counts_in_no_sli() -> None:
    sample = traced([(10.4, delta(content="bl")), (10.7, delta(content="ue"))], "cancelled")
    for name, kind in SLIS.items():
        assert kind.value(sample) is None, name
        assert kind.adjusted(sample) is None, name
        assert tuple(kind.values(sample)) == tuple(kind.adjusted_values([sample])) == (), name


def test_what_other_tools_count_from_is_kept() -> None:
    """Four events with a choice, the first and the last of them without text; the usage figures have none."""
    events = [
        (10.2, delta(role="assistant", content="")),
        (10.4, delta(content="bl")),
        (10.7, delta(content="ue")),
        (10.8, delta("stop")),
        (10.9, usage(2, prompt=9)),
        (11.0, DONE),
    ]
    seen = traced(events).observation
    assert (seen.opened, seen.first, seen.last, seen.events) == (10.2, 10.4, 10.8, 4)
    assert (seen.claimed, seen.prompt_tokens, seen.output_tokens) == (2, 9, 2)


def test_an_event_with_text_and_reasoning_is_one_event() -> None:
    seen = traced([(10.4, delta("stop", content="blue", reasoning="hm")), (10.5, DONE)]).observation
    assert (seen.tokens, seen.reasoning, seen.texts) == ((10.4,), (), (10.4,))


@pytest.mark.parametrize(
    ("ttft", "tpot", "good"),
    [("<= 400ms", "<= 300ms", 1), ("< 400ms", "<= 300ms", 0), ("<= 400ms", "< 300ms", 0)],
)
def test_goodput_counts_answers_that_keep_every_bound(ttft: str, tpot: str, good: int) -> None:
    """Binary fractions, so that the bounds are met exactly: first text 0.375 s after schedule, 0.25 s to the next."""
    bounds = {"ttft": ttft.replace("400", "375"), "tpot": tpot.replace("300", "250")}
    slo = tuple(RequestBound(sli=sli, bound=Bound.parse(bound)) for sli, bound in bounds.items())
    events = [(10.375, delta(content="bl")), (10.625, delta("stop", content="ue")), (10.8, DONE)]
    value = SLIS.get("goodput").value
    assert value(Sample(traced(events).observation, None, slo)) == good
    assert value(Sample(traced(events, "cut").observation, None, slo)) == 0
    assert value(Sample(traced(events).observation, None)) is None


def test_a_bound_on_what_an_answer_has_not_is_kept_and_no_answer_is_not_good() -> None:
    slo = (RequestBound(sli="tpot", bound=Bound.parse("<= 1ms")),)
    one = traced([(10.4, delta("stop", content="blue")), (10.5, DONE)])
    none = traced([(10.4, delta("stop")), (10.5, DONE)])
    values = [SLIS.get("goodput").value(Sample(sample.observation, None, slo)) for sample in (one, none)]
    assert values == [1, 0]
