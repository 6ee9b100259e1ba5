"""How the reasons of a verdict add up."""

from __future__ import annotations

import math
from typing import Any

import pytest
from judged_run import RUN, knee, objective, passing, texts, verdict
from simulated_run import SUBJECT

from chaosgate.judge import judge
from chaosgate.model.result import Injection, Reason, Verdict, worst


def test_a_passing_run_gives_a_reason_for_everything() -> None:
    found = verdict()

    assert (found.verdict, found.exit_code, found.subject) == ("pass", 0, SUBJECT)
    assert [reason.objective for reason in found.reasons] == [
        *(None,) * 6,
        "first-token",
        "same-answers",
        "headroom",
        "back",
    ]
    assert {reason.verdict for reason in found.reasons} == {"pass"}


def test_a_halted_run_can_still_fail() -> None:
    halted: dict[str, Injection] = {"block1": RUN.injections["block1"].model_copy(update={"halted": "too many errors"})}
    failing = passing().model_copy(
        update={
            "objectives": tuple(
                each.model_copy(
                    update={
                        "estimates": tuple(
                            e.model_copy(update={"lower": 0.6, "value": 0.7, "upper": 0.8}) for e in each.estimates
                        )
                    }
                )
                for each in passing().objectives
                if each.objective == "first-token"
            )
            + passing().objectives[1:]
        }
    )
    found = verdict(failing, injections=halted)

    assert (found.verdict, found.exit_code) == ("fail", 1)
    assert texts(found, "inconclusive") == ["the run was halted in block1: too many errors"]


def test_what_could_not_be_read_is_an_error() -> None:
    found = verdict(problems=("ledger.jsonl: is incomplete", "deploy failed: no port"))

    assert (found.verdict, found.exit_code) == ("error", 3)
    assert texts(found, "error") == ["ledger.jsonl: is incomplete", "deploy failed: no port"]


def test_without_estimates_there_is_nothing_to_judge() -> None:
    found = judge(RUN.spec, None, {}, None, None)

    assert texts(found, "error") == [
        "it is not known what was tested: deploy recorded no subject",
        "nothing says what was injected; the inject step left no injection.json",
        "there are no estimates: the data of the run could not be read",
    ]


def test_a_run_that_could_not_be_read_gives_its_cause_and_no_echo_of_it() -> None:
    found = judge(RUN.spec, None, {}, None, None, ["endpoint.json: is missing"])

    assert (found.verdict, texts(found, "error")) == ("error", ["endpoint.json: is missing"])
    assert len(found.reasons) == 1


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["pass", "warn", "inconclusive", "fail", "error"], "error"),
        (["pass", "inconclusive", "fail"], "fail"),
        (["warn", "inconclusive", "pass"], "inconclusive"),
        (["pass", "warn"], "warn"),
        (["pass"], "pass"),
        ([], "error"),
    ],
)
def test_the_verdict_is_the_worst_of_its_reasons(verdicts: list[Any], expected: str) -> None:
    assert worst(Reason(verdict=each, text="") for each in verdicts) == expected


def test_a_verdict_can_be_written() -> None:
    found = objective("first-token", value=math.nan, lower=math.nan, upper=math.inf)

    assert Verdict.model_validate_json(found.model_dump_json()) == found


def test_a_threshold_that_is_no_number_can_be_written() -> None:
    found = knee(value=math.nan, lower=math.nan, upper=math.inf)

    assert Verdict.model_validate_json(found.model_dump_json()) == found
