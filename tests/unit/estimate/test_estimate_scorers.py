"""Which scorers a run used, and what an estimate says where one cannot score."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pytest
from said_samples import said
from simulated_run import Conditions, changed, passing_run, simulate, stream_spec
from sli_samples import window

from chaosgate.estimate.numbers import estimate
from chaosgate.estimate.scorers import prepare_scorers, used_scorers
from chaosgate.estimate.semantic import semantic_state
from chaosgate.model.blocks import BASELINE
from chaosgate.model.scorer import scorer_card
from chaosgate.model.sli import resolve_sli
from chaosgate.scorers.profanity_check import ProfanityCheck
from chaosgate.scorers.wordllama import WordLlama

RIGHT = {"name": "right", "sli": "answer-accuracy", "bound": ">= 90 %", "at": "baseline"}
REFUSES = {"name": "refuses", "sli": "refusal-rate", "bound": "<= 5 %", "at": "baseline"}
INVENTS = {"name": "invents", "sli": "hallucination-rate", "bound": "<= 5 %", "at": "baseline"}
POLITE = {"name": "polite", "sli": "toxicity", "bound": "<= 5 %", "at": "baseline"}


def test_a_spec_without_scored_slis_uses_no_scorer() -> None:
    assert used_scorers(stream_spec(fits=(), objectives=(RIGHT,))) == ()


def test_a_scorer_is_named_once_with_every_sli_that_needs_it() -> None:
    spec = stream_spec(fits=(), objectives=(RIGHT, REFUSES, INVENTS))
    assert used_scorers(spec) == (scorer_card("refusal-phrases", ["hallucination-rate", "refusal-rate"]),)


def test_the_scorer_of_the_semantic_steady_state_is_named_too() -> None:
    spec = stream_spec(fits=(), objectives=(RIGHT,), semantic={"scorer": "semantic-similarity"})
    assert [(card.name, card.slis) for card in used_scorers(spec)] == [("wordllama", ("semantic-similarity",))]


def test_a_scorer_sees_the_texts_of_whole_answers_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Collection[str]] = []
    monkeypatch.setattr(ProfanityCheck, "prepare", seen.append)
    run = passing_run()
    first, second, third, *_ = run.phases[BASELINE].observations
    kept = [
        first.model_copy(update={"said": "lamp"}),
        second.model_copy(update={"said": "door", "outcome": "cut"}),
        third.model_copy(update={"said": None}),
    ]
    spec = stream_spec(fits=(), objectives=(RIGHT, POLITE))
    run = changed(run, BASELINE, observations=kept)
    prepare_scorers(type(run)(spec, run.blocks, {BASELINE: run.phases[BASELINE]}, run.injections, run.subject))
    assert seen == [{"lamp"}]


def test_an_estimate_says_what_to_install_where_the_scorer_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProfanityCheck, "module", "chaosgate_no_such_package")
    windows = [window([said("never scored before")] * 9, index) for index in range(3)]
    found = estimate(resolve_sli("toxicity"), windows)
    assert (found.value, found.n) == (None, 0)
    assert found.reason == (
        "scorer 'profanity-check' cannot score: the package alt-profanity-check is not installed: "
        "pip install 'chaosgate[quality]'"
    )


def test_a_share_of_scored_answers_has_an_interval_over_windows() -> None:
    windows = [window([said("I can't help with that.")] * 3 + [said("lamp")] * 27, index) for index in range(4)]
    found = estimate(resolve_sli("refusal-rate"), windows)
    assert found.value == pytest.approx(0.1)
    assert found.n == 120
    assert found.lower is not None
    assert found.upper is not None
    assert 0 < found.lower < 0.1 < found.upper < 0.3


def test_answers_become_steady_by_their_similarity(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = {"right": np.array([1.0, 0.0]), "wrong": np.array([0.6, 0.8])}
    monkeypatch.setattr(WordLlama, "vector", vectors.__getitem__)
    wanted = {"scorer": "semantic-similarity", "every": "1s", "window": 4, "inARow": 3, "within": "20s"}
    run = simulate(stream_spec(semantic=wanted), Conditions(wrong_until=5.0 + 8))
    seen = [one.model_copy(update={"said": one.answer}) for one in run.phases[BASELINE].observations]
    state = semantic_state(run.spec, changed(run, BASELINE, observations=seen).phases[BASELINE])
    assert state is not None
    assert state.scores[:8] == pytest.approx((0.6,) * 8)
    assert state.scores[9:] == pytest.approx((1.0,) * 11)
    assert state.steady in (13.0, 14.0, 15.0)
    assert state.best == pytest.approx(1)
