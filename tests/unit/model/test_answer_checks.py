from __future__ import annotations

from typing import Any

import pytest

from chaosgate.errors import dotted
from chaosgate.fits.logistic import Logistic
from chaosgate.model.answer_checks import unchecked_embeddings
from chaosgate.model.fit import Fit
from chaosgate.model.source import DataPath
from chaosgate.model.spec import Objective

CLOSE = {"name": "close", "sli": "semantic-similarity", "bound": ">= 85 %", "at": {"dose": "all"}}
RIGHT = {"name": "right", "sli": "answer-accuracy", "bound": ">= 90 %", "at": {"dose": "all"}}
LOW: Any = {"dose": "<= 100ms"}


def fit(name: str, sli: str, fault: str = "slow") -> Fit:
    response = {"sli": sli, "bound": ">= 85 %", "share": "5 %"}
    return Logistic.model_validate({"name": name, "kind": "logistic", "fault": fault, "response": response})


FITS = {"near": fit("near", "semantic-similarity"), "truth": fit("truth", "answer-accuracy"), "odd": fit("odd", "x")}


def refused(*objectives: dict[str, Any], faults: tuple[str, ...] = ("slow",)) -> dict[str, str]:
    """What is refused, by where."""
    read: dict[DataPath, Objective] = {
        ("spec", "objectives", index): Objective.model_validate(each) for index, each in enumerate(objectives)
    }
    return {dotted(one.path): one.message for one in unchecked_embeddings(read, FITS, faults)}


def test_a_gate_on_embeddings_alone_is_refused_and_told_what_to_do() -> None:
    (where, said), *more = refused(CLOSE).items()
    assert where == "spec.objectives[0].sli"
    assert said.startswith("read 'semantic-similarity', which compares embeddings: these do not tell a wrong answer")
    assert "an SLI that grades each answer, answer-accuracy or exact-match" in said
    assert said.endswith("or write `severity: warn` here")
    assert not more


def test_a_warning_may_rest_on_embeddings_alone() -> None:
    assert refused({**CLOSE, "severity": "warn"}) == {}


@pytest.mark.parametrize(
    "check",
    [
        RIGHT,
        {**RIGHT, "sli": "exact-match"},
        {**RIGHT, "fault": "slow"},
        {"name": "room", "fit": "truth", "lower": ">= 10ms"},
    ],
)
def test_beside_a_check_of_the_answers_it_stands(check: dict[str, Any]) -> None:
    assert refused(CLOSE, check) == {}
    assert refused({**CLOSE, "at": LOW}, check) == {}
    assert refused({"name": "room-near", "fit": "near", "lower": ">= 10ms"}, check) == {}


@pytest.mark.parametrize(
    "check",
    [
        {**RIGHT, "severity": "warn"},
        {**RIGHT, "at": "baseline"},
        {**RIGHT, "at": LOW},
        {**RIGHT, "sli": "error-rate"},
        {**RIGHT, "sli": "bleu4"},
        {**RIGHT, "sli": "request-entropy", "bound": "<= 3"},
        {**RIGHT, "sli": "no-such-sli"},
        {"name": "room", "fit": "odd", "lower": ">= 10ms"},
        {"name": "room", "fit": "no-such-fit", "lower": ">= 10ms"},
    ],
)
def test_what_does_not_check_the_answers_there_does_not_help(check: dict[str, Any]) -> None:
    assert "spec.objectives[0].sli" in refused(CLOSE, check)


def test_the_check_must_look_at_the_same_fault() -> None:
    close, right = {**CLOSE, "fault": "slow"}, {**RIGHT, "fault": "cut"}
    assert list(refused(close, right, faults=("slow", "cut"))) == ["spec.objectives[0].sli"]
    assert refused(close, {**right, "fault": "slow"}, faults=("slow", "cut")) == {}


def test_a_fit_on_embeddings_alone_is_refused() -> None:
    (where, said), *_ = refused({"name": "room", "fit": "near", "lower": ">= 10ms"}).items()
    assert where == "spec.objectives[0].fit"
    assert said.startswith("read 'near', a fit on embeddings: these do not tell")


def test_one_check_at_a_place_serves_both_baseline_and_recovery_only_there() -> None:
    base, back = {**CLOSE, "at": "baseline"}, {**CLOSE, "name": "back", "at": "recovery"}
    assert list(refused(base, back, {**RIGHT, "at": "baseline"})) == ["spec.objectives[1].sli"]
