from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.errors import UsageError
from chaosgate.loadgen.summary import LATENCIES, Distribution, Summary, summarise
from chaosgate.model.observation import Observation, RequestBound
from chaosgate.statistics.ranks import quantile_of
from chaosgate.units import Bound

OK = {"scheduled": 1.0, "sent": 1.0, "first": 1.25, "tokens": [1.25, 1.5, 1.75], "end": 2.0, "outcome": "ok"}


def request(**changed: Any) -> Observation:
    """A request due and sent at 1 s, with tokens at 1.25, 1.5 and 1.75 s, that ended at 2 s."""
    fixed = {"request": "7.load.1", "phase": "load", "prompt": "recall-24/1", "status": 200, "answer": None, "text": ""}
    return Observation.model_validate(fixed | OK | changed)


def failed(outcome: str = "cut", **changed: Any) -> Observation:
    return request(outcome=outcome, **{"first": None, "tokens": [], **changed})


def test_a_load_by_hand() -> None:
    """Two whole answers, a cut one, one that the client cancelled and one of the warm-up, in 10 s less 2 s."""
    seen = [
        request(scheduled=2.0, sent=2.0, first=2.5, tokens=[2.5, 2.75], end=3.0, claimed=5, prompt_tokens=7),
        request(scheduled=4.0, sent=4.5, first=5.0, tokens=[5.0, 6.0], end=6.5, prompt_tokens=9),
        failed(scheduled=5.0, sent=5.0, end=6.0),
        failed("cancelled", scheduled=6.0, sent=6.0, end=6.5),
        request(warmup=True),
    ]
    found = summarise(seen, 10.0, 2.0, [RequestBound(sli="ttft", bound=Bound.parse("<= 500ms"))])
    assert (found.seconds, found.requests) == (8.0, 4)
    assert found.outcomes == {"ok": 2, "error": 0, "cut": 1, "timeout": 0, "refused": 0, "cancelled": 1}
    assert found.error_rate == pytest.approx(1 / 3)
    ttft = found.latencies["ttft"]
    assert (ttft.n, ttft.mean, ttft.p50, ttft.p99, ttft.max) == (2, 0.75, 0.5, 1.0, 1.0)
    assert (found.latencies["itl"].n, found.latencies["itl"].mean) == (2, 0.625)
    # (2.75 - 2.5) / (5 - 1) and (6 - 5) / (2 - 1).
    assert (found.latencies["tpot"].p50, found.latencies["tpot"].max) == (0.0625, 1.0)
    assert (found.service_times.p50, found.service_times.max) == (1.0, 2.0)
    assert (found.latencies["e2e"].p50, found.latencies["e2e"].max) == (1.0, 2.5)
    assert (found.schedule_delay.n, found.schedule_delay.p50, found.schedule_delay.max) == (4, 0.0, 0.5)
    assert (found.output_tokens, found.prompt_tokens) == (7, 16)
    rates = {"request-rate": 2 / 8, "tokens-per-second": 7 / 8, "goodput": 1 / 8, "input-tokens-per-second": 16 / 8}
    assert found.rates == rates
    assert (found.requested_rate, found.achieved_rate) == (0.5, 0.5)
    assert found.concurrency == pytest.approx((1 + 2 + 1 + 0.5) / 8)


def test_requests_that_end_late_stretch_the_time_over_which_rates_are_taken() -> None:
    found = summarise([request(scheduled=3.0, sent=9.0, first=9.5, tokens=[9.5], end=10.0)], 4.0)
    assert (found.seconds, found.rates["request-rate"]) == (10.0, 0.1)
    assert (found.requested_rate, found.achieved_rate) == (0.25, pytest.approx(1 / 9))


def test_a_client_that_lags_makes_the_measurement_invalid() -> None:
    on_time, late = [request(sent=1.046875)] * 100, [request(sent=1.0625)] * 2
    assert summarise(on_time, 10.0).invalid is None
    assert summarise([*on_time, *late], 10.0).invalid == (
        "the client lagged behind its schedule: P99 of the delay is 62.5ms, at most 50ms is allowed; send less, or use "
        "more workers"
    )


def test_a_load_without_requests_has_no_numbers() -> None:
    found = summarise([], 5.0)
    assert (found.requests, found.error_rate, found.invalid, found.prompt_tokens) == (0, None, None, None)
    assert found.latencies == {name: Distribution(dimension="duration", n=0) for name in LATENCIES}
    assert found.rates == {"request-rate": 0, "tokens-per-second": 0}


def test_prompt_tokens_are_known_only_if_the_server_counts_all() -> None:
    assert summarise([request(prompt_tokens=7), request()], 5.0).prompt_tokens is None
    assert "input-tokens-per-second" not in summarise([request(prompt_tokens=7), request()], 5.0).rates


def test_a_request_that_got_no_connection_was_not_achieved() -> None:
    found = summarise([request(), failed("refused")], 4.0)
    assert (found.requested_rate, found.achieved_rate) == (0.5, 0.25)


@pytest.mark.parametrize("warmup", [5.0, 6.0, -1.0])
def test_a_warmup_that_is_no_part_of_the_load_is_refused(warmup: float) -> None:
    with pytest.raises(UsageError, match=r"read a warm-up of -?[0-9] s in a load of 5 s; write a shorter one"):
        summarise([request()], 5.0, warmup)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=50))
def test_quantiles_are_those_of_every_other_place(delays: list[float]) -> None:
    found = summarise([request(scheduled=0.0, sent=each) for each in delays], 5.0).schedule_delay
    wanted = [quantile_of(delays, quantile) for quantile in (0.5, 0.9, 0.95, 0.99)]
    assert [found.p50, found.p90, found.p95, found.p99] == wanted
    assert found.max == max(delays)


def test_a_summary_reads_back_from_its_json() -> None:
    found = summarise([request(), failed()], 5.0)
    assert Summary.model_validate_json(json.dumps(found.to_json())) == found
