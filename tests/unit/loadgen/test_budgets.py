"""Budgets of failed requests and of tokens."""

from __future__ import annotations

import pytest
from scripted_chat import seen

from chaosgate.loadgen.budgets import ErrorBudgetWatch, Spent, why_spent
from chaosgate.loadgen.live import LiveSample, StopWatch
from chaosgate.model.observation import Observation
from chaosgate.model.stopping import ErrorBudget, StopCondition


def budget(**more: object) -> ErrorBudget:
    return ErrorBudget.model_validate({"objective": "99 %", **more})


def second(ok: int = 0, failed: int = 0, warmup: bool = False) -> list[Observation]:
    return [seen(0.5, warmup=warmup)] * ok + [seen(0.5, "error", warmup=warmup)] * failed


def test_the_budget_is_of_the_requests_that_the_phase_plans() -> None:
    watch = ErrorBudgetWatch(budget(), planned=600)
    assert watch.judge(0, second(failed=6)) is None
    assert watch.judge(1, second(ok=90)) is None
    assert watch.judge(2, second(failed=1)) == (
        "stop condition error budget of 99 %: 7 requests failed up to 3 s, 6 of the 600 that the phase plans may"
    )


@pytest.mark.parametrize(("objective", "planned", "may"), [("90 %", 10, 1), ("70 %", 10, 3), ("99.9 %", 5000, 5)])
def test_a_budget_that_is_just_used_up_is_not_overdrawn(objective: str, planned: int, may: int) -> None:
    watch = ErrorBudgetWatch(budget(objective=objective), planned)
    assert watch.judge(0, second(failed=may)) is None
    assert watch.judge(1, second(failed=1)) is not None


def test_a_closed_loop_counts_against_what_ended_once_that_is_enough() -> None:
    watch = ErrorBudgetWatch(budget(), planned=None)
    assert watch.judge(0, second(ok=1, failed=98)) is None
    assert watch.judge(1, second(failed=1)) == (
        "stop condition error budget of 99 %: 99 requests failed up to 2 s, 1 of the 100 that ended so far may"
    )


def test_a_window_forgets_what_ended_before_it() -> None:
    watch = ErrorBudgetWatch(budget(window="3s", minimum=4), planned=600)
    history = [second(ok=3, failed=0), second(), second(failed=1), second(ok=9), second(failed=1)]
    said = [watch.judge(index, each) for index, each in enumerate(history)]
    assert [one is not None for one in said] == [False, False, True, True, True]
    assert said[2] == (
        "stop condition error budget of 99 % in 3s: 1 requests failed up to 3 s, 0.04 of the 4 that ended in the last "
        "3 s may"
    )
    assert [watch.judge(index, second(ok=4)) is not None for index in range(5, 9)] == [True, True, False, False]


def test_warm_up_spends_no_error_budget() -> None:
    assert ErrorBudgetWatch(budget(), planned=10).judge(0, second(failed=5, warmup=True)) is None


def answered(tokens: int, claimed: int | None = None, prompt: int | None = None, warmup: bool = False) -> Observation:
    update = {"tokens": (0.1,) * tokens, "claimed": claimed, "prompt_tokens": prompt}
    return seen(0.5, warmup=warmup).model_copy(update=update)


def test_tokens_are_counted_by_usage_and_else_by_events() -> None:
    spent = Spent(100, 10).more([answered(3), answered(3, claimed=7, prompt=20), answered(2, warmup=True)])
    assert spent == Spent(112, 30)


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"tokens": 112}, "stop condition 112 completion tokens: 112 were used up to 5 s"),
        ({"tokens": 113}, None),
        ({"promptTokens": 30}, "stop condition 30 prompt tokens: 30 were used up to 5 s"),
        ({"promptTokens": 31}, None),
        ({"sli": "error-rate", "bound": "> 1 %"}, None),
    ],
)
def test_a_token_budget_is_spent_when_it_is_reached(spec: dict[str, object], reason: str | None) -> None:
    assert why_spent(StopCondition.model_validate(spec), Spent(112, 30), 5) == reason


def test_the_watch_goes_on_counting_from_what_earlier_phases_cost() -> None:
    watch = StopWatch([StopCondition.model_validate({"tokens": 105})], spent=Spent(100, 0))
    assert watch.judge(LiveSample(0, (answered(4),))) is None
    assert watch.judge(LiveSample(1, (answered(1),))) is not None
    assert watch.spent == Spent(105, 0)


def test_the_watch_halts_when_the_error_budget_is_spent() -> None:
    watch = StopWatch([StopCondition.model_validate({"errorBudget": {"objective": "90 %"}})], planned=10)
    assert watch.judge(LiveSample(0, tuple(second(ok=5, failed=1)))) is None
    assert watch.judge(LiveSample(1, tuple(second(failed=1)))) is not None
