from __future__ import annotations

import re
from dataclasses import replace

import pytest
from simulated_run import LATENCY, OBJECTIVES, Conditions, changed, passing_run, simulate, stream_spec

from chaosgate.estimate.drift import criteria, find_drift
from chaosgate.estimate.windows import place_requests


def test_what_is_judged_at_a_dose_can_drift() -> None:
    found = criteria(passing_run().spec)

    assert [(each.fault, each.name, str(each.bound)) for each in found] == [
        ("slow-wire", "ttft-p95", "<= 500ms"),
        ("slow-wire", "exact-match", ">= 99 %"),
        ("slow-wire", "ttft", "<= 300ms"),
    ]


@pytest.mark.thorough
@pytest.mark.slow
def test_a_steady_service_does_not_drift() -> None:
    for seed in range(10):
        run = simulate(seed=seed)
        assert list(find_drift(run.spec, place_requests(run))) == []


def test_a_service_that_grows_slower_drifts() -> None:
    run = simulate(conditions=Conditions(drift=0.5))
    (sentence,) = find_drift(run.spec, place_requests(run))

    assert re.fullmatch(
        r"slow-wire: the controls drifted: 0 % \(0 % to [\d.]+ %\) of requests broke ttft <= 300ms in the first, "
        r"100 % \([\d.]+ % to 100 %\) in the last",
        sentence,
    )


def test_controls_in_which_nothing_counts_are_not_passed_over() -> None:
    run = passing_run()
    last = {row.request for row in run.phases["block1"].ledger if row.window in (24, 25)}
    seen = [
        o.model_copy(update={"outcome": "error", "first": None, "tokens": ()}) if o.request in last else o
        for o in run.phases["block1"].observations
    ]
    run = changed(run, "block1", observations=seen)

    assert (
        "slow-wire: nothing tells whether the controls drifted: no request of the last counts for exact-match"
    ) in list(find_drift(run.spec, place_requests(run)))


def test_each_fault_has_its_own_controls() -> None:
    faults = (LATENCY, {**LATENCY, "name": "later-wire"})
    objectives = ({**OBJECTIVES[0], "bound": "<= 300ms", "fault": "later-wire"},)
    run = simulate(stream_spec(faults=faults, fits=(), objectives=objectives), Conditions(drift=0.4))
    (sentence,) = find_drift(run.spec, place_requests(run))

    assert sentence.startswith("later-wire: the controls drifted: ")


def test_fewer_than_two_pairs_of_controls_say_nothing() -> None:
    run = simulate(conditions=Conditions(drift=0.5))
    placed = place_requests(run)
    cut = replace(placed, sweeps={"slow-wire": placed.sweeps["slow-wire"][:3]})

    assert list(find_drift(run.spec, cut)) == []
