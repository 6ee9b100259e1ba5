"""`gate.history` of a spec: what it reads, what it refuses, and that no run is cut off from its history by it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from simulated_run import stream_spec

from chaosgate.errors import dotted
from chaosgate.model.check import Draft, check
from chaosgate.model.history import GateHistory
from chaosgate.model.spec import ChaosSpec, Gate


def gated(history: dict[str, Any] | None) -> ChaosSpec:
    spec = stream_spec()
    gate = Gate.model_validate({"history": history})
    return spec.model_copy(update={"spec": spec.spec.model_copy(update={"gate": gate})})


def test_the_digest_does_not_depend_on_what_a_run_is_compared_with() -> None:
    wide = {"last": 20, "bounds": [{"objective": "first-token", "pass": "<= +10 %"}]}
    assert gated(wide).digest() == gated(None).digest() == stream_spec().digest()
    assert "history" not in gated(wide).digested()["gate"]


def test_a_bound_is_written_as_it_is_read() -> None:
    bound = {"objective": "first-token", "pass": "<= +10 %", "warn": "<= +25 %"}
    assert GateHistory.model_validate({"bounds": [bound]}).to_json()["bounds"] == [bound]


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ([{"objective": "a", "pass": "<= +10 %", "warn": "<= +5 %"}], "`warn` must allow more than `pass`"),
        ([{"objective": "a", "pass": "<= +10 %", "warn": ">= -20 %"}], "`warn` must allow more than `pass`"),
        ([{"objective": "a", "pass": "<= +10 %"}, {"objective": "a", "pass": "<= +9 %"}], "'a' has 2 bounds"),
        ([{"objective": "a", "pass": "<= 10ms"}], "write a comparison and a change"),
    ],
)
def test_what_cannot_be_meant_is_refused(bounds: list[dict[str, str]], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        GateHistory.model_validate({"bounds": bounds})


def test_two_runs_are_no_history() -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 3"):
        GateHistory(last=2)


def test_a_bound_of_an_unknown_objective_names_the_nearest() -> None:
    bounds = [{"objective": "first-tokn", "pass": "<= +10 %"}]
    data = {"spec": {"objectives": [{"name": "first-token"}], "gate": {"history": {"bounds": bounds}}}}
    (problem,) = check(Draft(data, {}, whole=True))
    assert dotted(problem.path) == "spec.gate.history.bounds[0].objective"
    assert "did you mean 'first-token'?" in problem.message


@pytest.mark.parametrize(
    ("objective", "read", "said"),
    [
        (
            "first-token",
            ">= -10 %",
            "'first-token' asks for '<= 500ms', so more is worse: write a change such as \"<= +10 %\"",
        ),
        ("same-answers", "<= +10 %", 'so less is worse: write a change such as ">= -10 %"'),
        ("headroom", "<= +10 %", "'headroom' asks for '>= 180ms', so less is worse"),
    ],
)
def test_a_bound_on_the_better_side_is_refused(objective: str, read: str, said: str) -> None:
    spec = gated({"bounds": [{"objective": objective, "pass": read}]})
    valid = {("spec", "objectives", index): each for index, each in enumerate(spec.spec.objectives)}
    problems = check(Draft(spec.to_json(), valid, whole=True))
    (problem,) = (one for one in problems if "history" in one.path)
    assert dotted(problem.path) == "spec.gate.history.bounds[0].pass"
    assert said in problem.message
