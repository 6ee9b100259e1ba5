"""What a sweep's steps tell, on a server that is simulated: a law of throughput, and failures that grow."""

from __future__ import annotations

import numpy as np
import pytest

from chaosgate.cli.load_fits import critical_rate, critical_words, peak_load, peak_words
from chaosgate.model.observation import Observation, RequestBound
from chaosgate.units import Bound

HOLD = 20.0


def request(number: int, sent: float, took: float, outcome: str = "ok") -> Observation:
    first = sent + took / 2
    return Observation.model_validate(
        {
            "request": f"1.step.{number}",
            "phase": "step",
            "prompt": "recall-24/0",
            "scheduled": sent,
            "sent": sent,
            "first": first,
            "tokens": (first,),
            "end": sent + took,
            "status": 200,
            "outcome": outcome,
            "answer": None,
            "text": "sha256:0",
        }
    )


def scalable(load: int, seed: int) -> list[Observation]:
    """A closed loop of `load` requests on a server whose throughput peaks at 14 of them."""
    random = np.random.default_rng(seed)
    coherency = 0.98 / 14**2
    rate = 20 * load / (1 + 0.02 * (load - 1) + coherency * load * (load - 1))
    took = load / rate
    seen = []
    for user in range(load):
        at = -took * user / load
        while at < HOLD:
            seen.append(request(len(seen), at, took * random.uniform(0.9, 1.1)))
            at = seen[-1].end
    return [one for one in seen if one.sent >= 0]


def failing(rate: float, seed: int, share: float) -> list[Observation]:
    random = np.random.default_rng(seed)
    times = np.arange(0, HOLD, 1 / rate)
    return [request(i, float(at), 0.1, "error" if random.random() < share else "ok") for i, at in enumerate(times)]


def test_the_peak_is_told_in_requests_in_flight() -> None:
    steps = {float(load): scalable(load, load) for load in (1, 2, 4, 8, 16, 32, 48)}
    found = peak_load(steps, HOLD)
    assert found.outcome == "fitted"
    assert found.value == pytest.approx(14, rel=0.1)
    assert peak_words(found).startswith("throughput is greatest, ")
    assert "requests in flight [" in peak_words(found)


def test_a_sweep_that_ends_before_the_peak_says_so() -> None:
    found = peak_load({float(load): scalable(load, load) for load in (1, 2, 4, 8)}, HOLD)
    assert found.outcome == "refused"
    assert peak_words(found).startswith("load of greatest throughput: not told: throughput still rises at the last")


def test_failures_that_grow_have_a_critical_rate() -> None:
    shares = {20.0: 0.02, 40.0: 0.02, 60.0: 0.02, 80.0: 0.05, 100.0: 0.15, 120.0: 0.45}
    found = critical_rate({rate: failing(rate, int(rate), share) for rate, share in shares.items()}, HOLD, ())
    assert found.outcome == "fitted"
    assert found.value == pytest.approx(62, abs=12)
    assert critical_words(found).startswith("failures grow exponentially beyond ")


def test_a_broken_bound_is_a_failure_and_a_cancelled_request_is_none() -> None:
    slow = RequestBound(sli="e2e", bound=Bound.parse("<= 50ms"))
    steps = {rate: failing(rate, 1, 0.0) for rate in (20.0, 40.0, 60.0, 80.0)}
    assert sum(point.share * point.n for point in critical_rate(steps, HOLD, ()).points) == 0
    assert {point.share for point in critical_rate(steps, HOLD, (slow,)).points} == {1.0}
    gone = {rate: [one.model_copy(update={"outcome": "cancelled"}) for one in seen] for rate, seen in steps.items()}
    assert critical_rate(gone, HOLD, ()).n == 0


def test_a_sweep_without_failures_says_why_nothing_is_told() -> None:
    found = critical_rate({rate: failing(rate, 1, 0.0) for rate in (20.0, 40.0, 60.0, 80.0)}, HOLD, ())
    assert critical_words(found) == (
        "critical rate: not told: 0 of 10 requests needed broke the bound; hold the doses longer"
    )
