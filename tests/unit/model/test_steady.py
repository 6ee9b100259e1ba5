"""The semantic steady state of a spec: defaults, what has no room, and the digest of specs that do not use it."""

from __future__ import annotations

import pytest
from simulated_run import stream_spec

from chaosgate.model.blocks import baseline_length, baseline_warmup
from chaosgate.model.steady import SemanticSteadyState
from chaosgate.model.validation import validate


def test_the_defaults_are_three_windows_of_a_minute_that_slide() -> None:
    wanted, problems = validate(SemanticSteadyState, {"scorer": "exact-match"})
    assert problems == []
    assert wanted is not None
    assert (wanted.every, wanted.window, wanted.in_a_row, str(wanted.bound)) == (5.0, 12, 3, ">= 85 %")
    assert (wanted.within, wanted.samples) == (120.0, 24)


def test_the_shortest_time_is_that_of_the_windows() -> None:
    assert validate(SemanticSteadyState, {"scorer": "exact-match", "within": "70s"})[0] is not None
    _, problems = validate(SemanticSteadyState, {"scorer": "exact-match", "within": "69s"})
    assert [problem.message for problem in problems] == [
        "`within` has room for 13 samples; 3 windows of 12 in a row take 70s: write at least that, or a smaller "
        "`window`"
    ]


@pytest.mark.parametrize(("every", "within", "samples"), [("5s", "1m", 12), ("0.7s", "2.1s", 3), ("5s", "64s", 12)])
def test_samples_are_whole(every: str, within: str, samples: int) -> None:
    wanted = {"scorer": "exact-match", "every": every, "within": within, "window": 1, "inARow": 1}
    assert SemanticSteadyState.model_validate(wanted).samples == samples


def test_the_baseline_is_longer_by_the_time_it_may_take() -> None:
    plain = stream_spec()
    waits = stream_spec(semantic={"scorer": "exact-match", "within": "90s"})
    assert (baseline_warmup(plain), baseline_length(plain)) == (5.0, 17.0)
    assert (baseline_warmup(waits), baseline_length(waits)) == (95.0, 107.0)


def test_only_a_spec_that_uses_it_has_another_digest() -> None:
    plain = stream_spec()
    assert "semantic" not in plain.digested()["steadyState"]
    assert "metrics" not in plain.digested()
    assert plain.digest() != stream_spec(semantic={"scorer": "exact-match"}).digest()
