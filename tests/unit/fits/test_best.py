"""The choice among fits: by a criterion that is worked out here by hand, and what may stand beside what."""

from __future__ import annotations

from typing import Any

import pytest
from onsets import RESPONSE as ONSET
from onsets import hockey_stick, swept
from pydantic import ValidationError
from sweeps import counted, knee, sweep

from chaosgate.fits.best import Best
from chaosgate.model.fit import Threshold
from chaosgate.statistics.choice import choose, qaicc

SPEC: dict[str, Any] = {"name": "knee", "kind": "best", "fault": "slow-wire"}
CROSSING = Best(**SPEC, response=knee().response, kinds=("logistic", "isotonic"))


def threshold(outcome: str, deviance: float = 0.0, parameters: float = 3.0, **more: Any) -> Threshold:
    goodness = {"deviance": deviance, "parameters": parameters}
    numbers = {"value": None, "lower": None, "upper": None, "n": 10, "windows": 20, "goodness": goodness}
    return Threshold.model_validate({"outcome": outcome, **numbers, **more})


def test_qaicc_is_burnhams() -> None:
    # K = 4 with the dispersion: 30 / 2 + 8 + 40 / (20 - 5).
    assert qaicc(threshold("refused", 30.0), 20, 2.0) == pytest.approx(15 + 8 + 40 / 15)
    assert qaicc(threshold("refused", 30.0), 5, 2.0) == float("inf")


def test_a_logistic_sweep_is_given_to_the_curve_with_fewer_parameters() -> None:
    found = CROSSING.fit(sweep(0.2, seed=1), 7, "duration")
    assert (found.outcome, found.chosen) == ("fitted", "logistic")
    assert found.goodness["QAICc of logistic"] < found.goodness["QAICc of isotonic"]
    assert found.reason is not None
    assert found.reason.startswith("logistic fits best by QAICc")


def test_the_interval_takes_in_what_the_data_hardly_tell_from_it() -> None:
    one = threshold("fitted", 20.0, value=0.2, lower=0.15, upper=0.25)
    windows = counted([(0, 0), (0.1, 4), (0.2, 20)])
    near = threshold("fitted", 21.0, value=0.22, lower=0.18, upper=0.3)
    far = threshold("fitted", 60.0, value=0.4, lower=0.35, upper=0.5)
    openly = threshold("fitted", 21.0, value=0.22, lower=None, upper=0.3)
    found = choose({"a": one, "b": near, "c": far}, windows)
    assert (found.chosen, found.value, found.lower, found.upper) == ("a", 0.2, 0.15, 0.3)
    assert found.reason == ("a fits best by QAICc; the interval takes in b, which the data hardly tell from it")
    assert choose({"a": one, "b": openly}, windows).lower is None


def test_a_bracket_stands_only_where_nothing_is_fitted_and_reasons_only_where_all_refuse() -> None:
    windows = counted([(0, 0), (0.1, 4), (0.2, 20)])
    bracket = threshold("bracketed", lower=0.1, upper=0.2, reason="the doses separate")
    no, never = threshold("refused", reason="no rise"), threshold("refused", reason="too few")
    fitted = threshold("fitted", 1.0, value=0.1)
    assert choose({"a": bracket, "b": fitted}, windows).chosen == "b"
    assert choose({"a": no, "b": bracket}, windows).chosen == "b"
    assert choose({"a": no, "b": never}, windows).reason == "a: no rise; b: too few"
    assert choose({"a": no, "b": no}, windows).reason == "no rise"


def test_kinds_that_find_the_onset_choose_among_themselves() -> None:
    best = Best(**SPEC, response=ONSET, kinds=("segmented", "phase-change"))
    found = best.fit(swept(hockey_stick(0.17, 0.2, 0.02, 0.9), 3), 7, "duration")
    assert found.chosen == "segmented"
    assert best.finds() == "the share of requests that break ttft <= 300ms begins to rise"


@pytest.mark.parametrize(
    ("kinds", "sentence"),
    [
        (("logistic", "segmented"), "read 'segmented' in `kinds`, which does not fit a response with a share"),
        (("logistic", "usl"), "read 'usl' in `kinds`, which does not fit a response with a share"),
        (("logistic", "best"), "read 'best' in `kinds`, which does not fit a response with a share"),
        (("logistic", "logistic"), "read logistic, logistic in `kinds`; write each once"),
        (("logistic",), "at least 2 items"),
        (("logistic", "isotonik"), "isotonic"),
    ],
)
def test_what_answers_another_question_is_refused(kinds: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        Best(**SPEC, response=knee().response, kinds=kinds)
