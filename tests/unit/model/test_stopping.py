"""The forms of a stop condition, and what is said of one that is none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.model.stopping import ErrorBudget, StopCondition
from chaosgate.model.validation import validate

ERRORS = {"sli": "error-rate", "bound": "> 50 %"}
QUEUE = {"gauge": "vllm:num_requests_waiting", "bound": "> 128"}
FULL = {"gauge": "vllm:kv_cache_usage_perc", "bound": "> 92 %"}


@pytest.mark.parametrize(
    ("written", "words", "needed", "last"),
    [
        (ERRORS, "error-rate > 50 % in 3 one-second samples in a row", 3, 3),
        ({**ERRORS, "consecutive": 7}, "error-rate > 50 % in 7 one-second samples in a row", 7, 7),
        ({**ERRORS, "share": "50 %"}, "error-rate > 50 % in 10 of the last 20 one-second samples", 10, 20),
        ({**ERRORS, "share": "30 %", "of": 10}, "error-rate > 50 % in 3 of the last 10 one-second samples", 3, 10),
        ({**ERRORS, "share": "1 %", "of": 2}, "error-rate > 50 % in 1 of the last 2 one-second samples", 1, 2),
        (QUEUE, "vllm:num_requests_waiting > 128 in 3 one-second samples in a row", 3, 3),
        (
            {"all": [QUEUE, FULL]},
            "vllm:num_requests_waiting > 128 and vllm:kv_cache_usage_perc > 92 % in 3 one-second samples in a row",
            3,
            3,
        ),
        ({"errorBudget": {"objective": "99.5 %"}}, "error budget of 99.5 % is spent", 3, 3),
        ({"errorBudget": {"objective": "99 %", "window": "1m"}}, "error budget of 99 % in 60s is spent", 3, 3),
        ({"tokens": 200000}, "200000 completion tokens are spent", 3, 3),
        ({"promptTokens": 5}, "5 prompt tokens are spent", 3, 3),
    ],
)
def test_every_form_reads_as_a_sentence(written: dict[str, Any], words: str, needed: int, last: int) -> None:
    condition, problems = validate(StopCondition, written)
    assert problems == []
    assert condition is not None
    assert (str(condition), condition.needed, condition.last) == (words, needed, last)
    assert StopCondition.model_validate(condition.to_json()) == condition


FORMS = "a stop condition has one of `sli`, `gauge`, `all`, `errorBudget`, `tokens`, `promptTokens`; read "


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({}, FORMS + "none of them"),
        ({"bound": "> 1"}, FORMS + "none of them"),
        ({**ERRORS, "tokens": 5}, FORMS + "`sli` and `tokens`"),
        ({"sli": "error-rate"}, '`sli` needs a `bound`, what is too bad, such as "> 50 %"'),
        ({"tokens": 5, "bound": "> 1"}, "`bound` goes with `sli` or `gauge`, and not with `tokens`"),
        ({"all": [QUEUE, FULL], "bound": "> 1"}, "`bound` goes with `sli` or `gauge`, and not with `all`"),
        ({"tokens": 5, "share": "50 %"}, "`share` goes with samples of `sli`, `gauge` or `all`, and not with `tokens`"),
        (
            {**ERRORS, "share": "50 %", "consecutive": 3},
            "`consecutive` counts samples in a row, `share` those of the last `of`; write one of them",
        ),
        ({**ERRORS, "of": 20}, "`of` goes with `share`: {share: 50 %, of: 20} is half of the last 20 samples"),
        ({"all": [QUEUE, {**FULL, "sli": "error-rate"}]}, "name one of `sli` and `gauge`"),
        ({"all": [QUEUE]}, "has 1 entries; at least 2 is needed"),
        ({"errorBudget": {"objective": "100 %"}}, "read '100 %'; less than 100 % is allowed"),
        ({"tokens": 0}, "read 0; at least 1 is needed"),
    ],
)
def test_what_is_no_condition_is_refused_in_words(written: dict[str, Any], message: str) -> None:
    found, problems = validate(StopCondition, written)
    assert found is None
    assert [problem.message.removeprefix("Value error, ") for problem in problems] == [message]


@pytest.mark.parametrize(("objective", "enough"), [("99 %", 100), ("90 %", 10), ("99.9 %", 1000), ("50 %", 2)])
def test_enough_requests_are_as_many_as_may_fail_once(objective: str, enough: int) -> None:
    budget = ErrorBudget.model_validate({"objective": objective})
    assert budget.enough == enough
    assert budget.allowed(enough) == 1


@given(st.integers(1, 1000), st.integers(2, 3600))
def test_a_share_never_needs_more_samples_than_there_are(tenths: int, of: int) -> None:
    written = {**ERRORS, "share": f"{tenths / 10:g} %", "of": of}
    condition = StopCondition.model_validate(written)
    assert 1 <= condition.needed <= of
    assert condition.needed / of >= tenths / 1000 - 1e-9
