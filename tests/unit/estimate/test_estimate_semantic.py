"""When the answers of a service are steady: a model that begins wrong and becomes right, and one that never does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_run import Conditions, changed, simulate, stream_spec, verdict_of

from chaosgate.estimate import estimate_run
from chaosgate.estimate.semantic import first_row, semantic_state, window_means
from chaosgate.judge import semantic_reasons
from chaosgate.model.steady import SemanticSteadyState

WARMUP = 5.0
ASKED: dict[str, Any] = {"scorer": "exact-match", "every": "1s", "window": 4, "inARow": 3, "within": "20s"}


def run(conditions: Conditions, **more: Any) -> Any:
    return simulate(stream_spec(semantic={**ASKED, **more}), conditions)


@pytest.mark.parametrize("scorer", ["exact-match", "answer-accuracy"])
def test_a_service_that_is_right_is_steady_as_soon_as_can_be(scorer: str) -> None:
    found = run(Conditions(), scorer=scorer)
    state = semantic_state(found.spec, found.phases["baseline"])
    assert state is not None
    assert (state.scorer, state.steady, state.best) == (scorer, 6.0, 1.0)
    assert state.scores == (1.0,) * 20


@pytest.mark.parametrize("scorer", ["exact-match", "answer-accuracy"])
def test_one_that_begins_wrong_and_becomes_right_is_steady_then(scorer: str) -> None:
    found = run(Conditions(wrong_until=WARMUP + 8), scorer=scorer)
    state = semantic_state(found.spec, found.phases["baseline"])
    assert state is not None
    assert state.scores[:8] == (0.0,) * 8
    assert state.scores[9:] == (1.0,) * 11
    # The first window that keeps 85 % holds the samples 8 to 11, but for requests on the way at the 13th second.
    assert state.steady in (14.0, 15.0)
    assert verdict_of(found).verdict == "pass"


def test_one_that_never_becomes_right_is_never_steady_and_nothing_passes() -> None:
    found = run(Conditions(wrong_until=WARMUP + 19))
    state = semantic_state(found.spec, found.phases["baseline"])
    assert state is not None
    assert state.steady is None
    (reason,) = semantic_reasons(found.spec, state)
    assert reason.verdict == "inconclusive"
    assert reason.text.startswith(
        "the answers did not become steady within 20s: exact-match >= 85 % as the mean of 4 samples of 1s, 3 windows "
        "in a row; the best window had "
    )
    assert verdict_of(found).verdict == "inconclusive"


def test_what_it_said_while_it_settled_is_not_judged_and_not_the_clean_answer() -> None:
    found = run(Conditions(wrong_until=WARMUP + 8))
    estimates = estimate_run(found)
    exact = next(one for one in estimates.objectives if one.objective == "same-answers").estimates[0]
    assert exact.value == 1.0
    assert estimates.steady_state[0].n == pytest.approx(240, abs=60)
    assert estimates.semantic is not None


def test_the_reason_of_a_steady_service_says_when() -> None:
    found = run(Conditions())
    (reason,) = semantic_reasons(found.spec, semantic_state(found.spec, found.phases["baseline"]))
    assert (reason.verdict, reason.text) == (
        "pass",
        "the answers were steady 6s after the warm-up: exact-match >= 85 % as the mean of 4 samples of 1s, 3 windows "
        "in a row",
    )


def test_a_spec_that_does_not_ask_has_no_state() -> None:
    found = simulate()
    assert semantic_state(found.spec, found.phases["baseline"]) is None
    assert list(semantic_reasons(found.spec, None)) == []


def test_samples_without_requests_are_said_to_be_empty() -> None:
    found = run(Conditions())
    empty = changed(found, "baseline", observations=[], ledger=[])
    (reason,) = semantic_reasons(found.spec, semantic_state(found.spec, empty.phases["baseline"]))
    assert reason.text.endswith("20 of 20 samples hold no request that counts; send more, or sample longer")


@pytest.mark.parametrize("missing", ["phase", "started"])
def test_a_baseline_that_cannot_be_read_is_not_steady(missing: str) -> None:
    found = run(Conditions())
    baseline = None if missing == "phase" else replace(found.phases["baseline"], timeline=())
    (reason,) = semantic_reasons(found.spec, semantic_state(found.spec, baseline))
    assert reason.verdict == "inconclusive"
    assert reason.text.endswith("; the baseline's timeline does not tell when its load began")


def test_unguarded_requests_do_not_count() -> None:
    spec = stream_spec(semantic=ASKED, unguarded="50 %")
    found = simulate(spec)
    phase = found.phases["baseline"]
    spoilt = [
        seen.model_copy(update={"text": "sha256:other"}) if spec.unguards(seen.request) else seen
        for seen in phase.observations
    ]
    state = semantic_state(spec, replace(phase, observations=spoilt))
    assert state is not None
    assert state.best == 1.0


def wanted(**more: Any) -> SemanticSteadyState:
    return SemanticSteadyState.model_validate({**ASKED, **more})


@pytest.mark.parametrize(
    ("means", "row"),
    [
        ([], None),
        ([0.9, 0.9], None),
        ([0.9, 0.9, 0.85], 2),
        ([0.9, 0.9, 0.84, 0.9, 0.9, 0.9], 5),
        ([0.9, 0.9, None, 0.9, 0.9, 0.9], 5),
        ([0.9, None, 0.9, None, 0.9, None], None),
    ],
)
def test_windows_in_a_row_keep_the_bound(means: list[float | None], row: int | None) -> None:
    assert first_row(means, wanted()) == row


@given(st.lists(st.none() | st.floats(0, 1), max_size=30), st.integers(1, 8))
def test_a_window_slides_by_one_sample_and_has_no_mean_without_one_of_them(
    scores: list[float | None], window: int
) -> None:
    means = list(window_means(scores, window))
    assert len(means) == max(0, len(scores) - window + 1)
    for first, mean in enumerate(means):
        held = scores[first : first + window]
        assert (mean is None) == (None in held)
        if mean is not None:
            assert mean == pytest.approx(sum(value for value in held if value is not None) / window)
