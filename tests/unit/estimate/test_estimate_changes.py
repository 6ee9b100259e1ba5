from __future__ import annotations

import pytest
from simulated_run import Conditions, Json, simulate, stream_spec

from chaosgate.estimate import estimate_run
from chaosgate.estimate.changes import change_of, margin_bound
from chaosgate.model.result import Estimate
from chaosgate.units import Margin


def one(objective: Json, conditions: Conditions | None = None) -> tuple[Estimate, ...]:
    (found,) = estimate_run(simulate(stream_spec(fits=(), objectives=(objective,)), conditions)).objectives
    return found.estimates


def slower(change: str, **more: object) -> Json:
    return {"name": "slower", "sli": "ttft-p95", "change": change, "at": {"dose": "all"}, **more}


def test_a_quantile_changes_by_the_delay() -> None:
    found = one(slower("<= +50ms", each=True))

    assert [each.at for each in found] == [f"dose {dose}ms" for dose in (100, 180, 220, 260, 320)]
    for each, delay in zip(found, (0.1, 0.18, 0.22, 0.26, 0.32), strict=True):
        assert (each.change, each.dimension, each.paired) == ("absolute", "duration", False)
        assert each.lower is not None
        assert each.upper is not None
        assert each.lower - 0.005 <= delay <= each.upper + 0.005


def test_per_cent_of_a_duration_are_relative_to_the_baseline() -> None:
    (found,) = one(slower("<= +10 %"))

    assert (found.change, found.dimension) == ("relative", "share")
    assert found.value is not None
    # From some 60 ms to some 360 ms.
    assert 3.5 < found.value < 6.5


def test_shares_change_prompt_by_prompt_in_percentage_points() -> None:
    right: Json = {"name": "right", "sli": "answer-accuracy", "change": ">= -0.5 %", "at": {"dose": "all"}}
    (found,) = one(right, Conditions(wrong=0.1))

    assert (found.change, found.dimension, found.paired) == ("absolute", "share", True)
    assert found.value == pytest.approx(-0.1, abs=0.03)
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower < -0.1 < found.upper < -0.05


def test_a_change_is_judged_in_the_recovery_too() -> None:
    (found,) = one({"name": "back", "sli": "ttft-p95", "change": "<= +20ms", "at": "recovery"})

    assert (found.at, found.change) == ("recovery", "absolute")
    assert found.value == pytest.approx(0.0, abs=0.02)


def test_too_many_failures_leave_no_change_and_say_so() -> None:
    (found,) = one(slower("<= +50ms"), Conditions(failing=0.2))

    assert (found.value, found.upper) == (None, None)
    assert found.reason is not None
    assert found.reason.startswith("baseline: ")
    assert "failed and count as infinitely slow; then: " in found.reason


def test_a_rate_changes_as_a_whole() -> None:
    (found,) = one({"name": "rate", "sli": "request-rate", "change": ">= -25 %", "at": {"dose": "all"}})

    assert (found.change, found.dimension, found.paired) == ("relative", "share", False)
    assert found.value == pytest.approx(0.0, abs=0.2)


def test_nothing_is_relative_to_a_baseline_of_zero() -> None:
    rate: Json = {"name": "rate", "sli": "request-rate", "change": ">= -25 %", "at": {"dose": "all"}}
    (found,) = one(rate, Conditions(failing=1.0))

    assert found.value is None
    assert found.reason == "request-rate of the baseline is 0: no change is relative to that"


def test_what_a_margin_comes_to() -> None:
    assert change_of(Margin.parse(">= -1 %"), "share") == "absolute"
    assert change_of(Margin.parse(">= -1 %"), "rate") == "relative"
    assert str(margin_bound(Margin.parse("<= +10 %"), "duration", 0.2)) == "<= 220ms"
    assert str(margin_bound(Margin.parse("<= +50ms"), "duration", 0.2)) == "<= 250ms"
    assert str(margin_bound(Margin.parse(">= -1 %"), "share", 0.95)) == ">= 94 %"
    assert margin_bound(Margin.parse(">= -1 %"), "share", 0.0).value == 0


@pytest.mark.parametrize("drift", [0.1, 0.3, 0.5, 0.8])
def test_a_control_that_drifts_is_seen_by_what_a_change_judges(drift: float) -> None:
    spec = stream_spec(fits=(), objectives=(slower("<= +50ms"),))
    found = estimate_run(simulate(spec, Conditions(drift=drift))).health.drift

    assert any("the controls drifted" in sentence and "ttft-p95 <= " in sentence for sentence in found)


def test_controls_that_do_not_drift_are_no_matter_for_a_change() -> None:
    spec = stream_spec(fits=(), objectives=(slower("<= +50ms"),))

    assert not estimate_run(simulate(spec)).health.drift
