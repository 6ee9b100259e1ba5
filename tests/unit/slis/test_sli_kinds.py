import math

import pytest
from sli_samples import sample

from chaosgate.model.observation import Outcome
from chaosgate.model.sli import SLIS, resolve_sli

FAILED: list[Outcome] = ["error", "cut", "timeout", "refused"]


def test_the_registry_holds_the_built_in_kinds() -> None:
    kinds = {"ttft", "e2e", "error-rate", "exact-match", "answer-accuracy", "accept-rate"}
    assert kinds <= set(SLIS.names())


def test_latencies_count_from_the_schedule_and_not_from_the_sending() -> None:
    assert SLIS.get("ttft").value(sample(first=1.2)) == pytest.approx(0.2)
    assert SLIS.get("e2e").value(sample()) == pytest.approx(1.0)


def test_an_answer_without_tokens_has_no_first_one() -> None:
    assert SLIS.get("ttft").value(sample(first=None)) is None


@pytest.mark.parametrize("outcome", FAILED)
@pytest.mark.parametrize("name", ["ttft", "e2e"])
def test_a_failed_request_is_left_out_of_latencies_and_infinite_in_the_adjusted_view(
    name: str, outcome: Outcome
) -> None:
    assert SLIS.get(name).value(sample(outcome=outcome)) is None
    assert SLIS.get(name).adjusted(sample(outcome=outcome)) == math.inf
    assert SLIS.get(name).adjusted(sample()) == SLIS.get(name).value(sample())


@pytest.mark.parametrize("outcome", FAILED)
def test_every_outcome_but_ok_is_an_error(outcome: Outcome) -> None:
    assert SLIS.get("error-rate").value(sample(outcome=outcome)) == 1
    assert SLIS.get("error-rate").adjusted(sample(outcome=outcome)) == 1
    assert SLIS.get("error-rate").value(sample()) == 0


def test_exact_match_compares_with_the_clean_arm() -> None:
    value = SLIS.get("exact-match").value
    assert value(sample(text="sha256:a", clean="sha256:a")) == 1
    assert value(sample(text="sha256:b", clean="sha256:a")) == 0


def test_exact_match_counts_neither_failed_requests_nor_unknown_clean_arms() -> None:
    value = SLIS.get("exact-match").value
    assert value(sample(outcome="cut", text="sha256:b")) is None
    assert value(sample(clean=None)) is None


def test_answer_accuracy_counts_right_answers_and_passes_over_prompts_without_one() -> None:
    value = SLIS.get("answer-accuracy").value
    assert value(sample(answer="right")) == 1
    assert value(sample(answer="wrong")) == 0
    assert value(sample(answer=None)) is None


@pytest.mark.parametrize("outcome", FAILED)
def test_a_failed_request_has_no_right_answer_whatever_came_of_it(outcome: Outcome) -> None:
    value = SLIS.get("answer-accuracy").value
    assert value(sample(outcome=outcome, answer="right")) == 0
    assert value(sample(outcome=outcome, answer="wrong")) == 0
    assert value(sample(outcome=outcome, answer=None)) is None


@pytest.mark.parametrize(("accepted", "counted"), [(True, 1), (False, 0), (None, None)])
def test_accept_rate_counts_what_the_users_of_the_log_would_take(accepted: bool | None, counted: int | None) -> None:
    assert SLIS.get("accept-rate").value(sample(accepted=accepted)) == counted


def test_names_in_objectives_resolve_with_their_dimension() -> None:
    assert resolve_sli("ttft-p95").dimension == "duration"
    assert resolve_sli("exact-match").dimension == "share"
