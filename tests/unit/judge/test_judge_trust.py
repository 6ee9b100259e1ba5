"""What says whether a run can be judged at all: steady state, client, witness, injection."""

from __future__ import annotations

import math
from typing import Any

import pytest
from judged_run import RUN, health, injection, passing, steady, texts, verdict, witness
from simulated_run import LATENCY, OBJECTIVES, stream_spec

from chaosgate.model.result import Status


@pytest.mark.parametrize(
    ("update", "expected", "words"),
    [
        ({"lower": 0.01, "value": 0.04, "upper": 0.08}, "pass", "the steady state holds: "),
        (
            {"lower": 0.06, "value": 0.07, "upper": 0.08},
            "inconclusive",
            "the baseline is unhealthy, the steady state does not hold: ",
        ),
        (
            {"value": None, "lower": None, "upper": None},
            "inconclusive",
            "the baseline is unhealthy, the steady state is not known to hold: ",
        ),
        ({"upper": None}, "pass", "the steady state holds: "),
        ({"lower": None}, "inconclusive", "the baseline is unhealthy, the steady state is not known to hold: "),
        ({"upper": math.nan}, "inconclusive", "the baseline is unhealthy, the steady state is not known to hold: "),
        (
            {"value": 0.06, "lower": 0.04, "upper": None},
            "inconclusive",
            "the baseline is unhealthy, the steady state is not known to hold: ",
        ),
        ({"windows": 2}, "inconclusive", "the baseline is unhealthy, the steady state is not known to hold: "),
        ({"sli": "ttft-p50"}, "error", "the estimates of the baseline do not belong to the steady state"),
    ],
)
def test_the_steady_state(update: dict[str, Any], expected: str, words: str) -> None:
    found = steady(**update)

    assert found.verdict == expected
    assert any(text.startswith(words) for text in texts(found, expected))


@pytest.mark.parametrize(
    ("update", "expected", "words"),
    [
        ({"lower": 0.01, "value": 0.04, "upper": 0.08}, "pass", "the steady state came back: recovery error-rate is "),
        ({"upper": None}, "pass", "the steady state came back: "),
        ({"lower": 0.06, "value": 0.07, "upper": 0.08}, "inconclusive", "the steady state did not come back: "),
        (
            {"value": None, "lower": None, "upper": None},
            "inconclusive",
            "the steady state is not known to have come back: ",
        ),
        ({"unbounded": True}, "inconclusive", "the steady state did not come back: "),
        ({"windows": 2}, "inconclusive", "the steady state is not known to have come back: "),
        ({"sli": "ttft-p50"}, "error", "the estimates of the recovery do not belong to the steady state; estimate "),
    ],
)
def test_the_steady_state_must_come_back(update: dict[str, Any], expected: str, words: str) -> None:
    first, *rest = passing().recovered
    found = verdict(passing().model_copy(update={"recovered": (first.model_copy(update=update), *rest)}))

    assert found.verdict == expected
    assert any(text.startswith(words) for text in texts(found, expected))


def test_estimates_without_the_recovery_are_an_error() -> None:
    found = verdict(passing().model_copy(update={"recovered": ()}))

    assert texts(found, "error") == [
        "the estimates of the recovery do not belong to the steady state; estimate the run again"
    ]


@pytest.mark.parametrize("delay", [0.0, 0.05])
def test_a_client_on_schedule(delay: float) -> None:
    assert health(schedule_delay_p99=delay).verdict == "pass"


@pytest.mark.parametrize(
    ("update", "expected", "text"),
    [
        (
            {"schedule_delay_p99": 0.051},
            "inconclusive",
            "late load generator: its P99 schedule delay is 51ms, 50ms is allowed; give it more CPU or less load",
        ),
        (
            {"schedule_delay_p99": None},
            "inconclusive",
            "the load generator's delay is unknown: no request was measured",
        ),
        (
            {"schedule_delay_p99": math.nan},
            "inconclusive",
            "the load generator's delay is unknown: no request was measured",
        ),
        ({"drift": ("it drifted",)}, "inconclusive", "it drifted"),
        ({"gaps": ("a window is missing",)}, "inconclusive", "a window is missing"),
        ({"problems": ("a line is missing",)}, "error", "a line is missing"),
        ({"subject_changed": "model was a"}, "error", "the subject changed during the run: model was a"),
    ],
)
def test_a_measurement_that_cannot_be_trusted(update: dict[str, Any], expected: str, text: str) -> None:
    found = health(**update)

    assert (found.verdict, found.exit_code) == (expected, 3)
    assert texts(found, expected) == [text]


@pytest.mark.parametrize(
    ("update", "text"),
    [
        ({"applied": 0, "bitten": False, "reason": "touched nothing"}, "slow-wire touched nothing"),
        ({"applied": 0}, "slow-wire was not shown to come and go: "),
        ({"bitten": False, "reason": "was not seen"}, "slow-wire was not seen"),
        ({"gone": False, "reason": "is not gone"}, "slow-wire is not gone"),
        ({"after": None}, "slow-wire was not shown to come and go: "),
        ({"during": math.nan}, "slow-wire was not shown to come and go: "),
    ],
)
def test_a_fault_that_was_not_shown_to_come_and_go(update: dict[str, Any], text: str) -> None:
    found = witness(**update)

    assert found.verdict == "inconclusive"
    assert texts(found, "inconclusive")[0].startswith(text)


def test_a_fault_without_a_witness_is_an_error() -> None:
    found = verdict(passing().model_copy(update={"witnesses": ()}))

    assert texts(found, "error") == ["slow-wire: 0 witness readings; 1 is needed: estimate the run again"]


DECLINED = Status(status="declined", reason="the baseline is unhealthy")
FAILED = Status(status="failed", reason="the gateway is gone")


@pytest.mark.parametrize(
    ("update", "expected", "text"),
    [
        (
            {"status": DECLINED, "windows": ()},
            "inconclusive",
            "nothing was injected in block1: the baseline is unhealthy",
        ),
        (
            {"status": DECLINED},
            "inconclusive",
            "not everything was injected in block1: the baseline is unhealthy",
        ),
        ({"status": FAILED}, "error", "injection failed in block1: the gateway is gone"),
        ({"status": Status(status="failed")}, "error", "injection failed in block1: no reason was given"),
        ({"halted": "error-rate > 50 %"}, "inconclusive", "the run was halted in block1: error-rate > 50 %"),
        (
            {"windows": RUN.injections["block1"].windows[:-1]},
            "inconclusive",
            "slow-wire: not every planned window was injected: 5 of 6 at 0s",
        ),
    ],
)
def test_what_became_of_the_injection(update: dict[str, Any], expected: str, text: str) -> None:
    found = injection(**update)

    assert (found.verdict, found.exit_code) == (expected, 3)
    assert texts(found, expected) == [text]


def test_without_an_injection_nothing_can_be_said() -> None:
    found = verdict(injections={})

    assert texts(found, "error") == ["nothing says what was injected; the inject step left no injection.json"]
    assert found.verdict == "error"


def test_the_injection_of_one_fault_does_not_stand_for_another() -> None:
    spec = stream_spec(faults=(LATENCY, {**LATENCY, "name": "other-wire"}), objectives=OBJECTIVES)
    found = verdict(spec=spec)

    assert found.verdict == "error"
    assert any(
        text.startswith("other-wire: not every planned window was injected: 0 of 6 at 0s, 0 of 4 at 100ms")
        for text in texts(found, "inconclusive")
    )
