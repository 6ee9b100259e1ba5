"""The windows of a sweep: controls, replicates, order, and the length of what is observed after them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from chaosgate.gateway.payload import MAX_TTL
from chaosgate.model.blocks import (
    baseline_length,
    longest_within,
    make_blocks,
    planned_length,
    recovery_windows,
    sweep_windows,
)
from chaosgate.model.fault import MAX_HOLD
from chaosgate.model.load import load_spec
from chaosgate.model.spec import ChaosSpec, Workload


@pytest.fixture(scope="module")
def spec() -> ChaosSpec:
    return load_spec(Path("chaos-specs/scenarios/stream-degradation.yaml"))


def test_two_controls_stand_first_between_and_last(spec: ChaosSpec) -> None:
    doses = [window.dose for window in sweep_windows(spec.spec.faults[0], 7, 0)]
    assert len(doses) == 5 * 4 + 6
    assert [index for index, dose in enumerate(doses) if dose == 0] == [0, 1, 12, 13, 24, 25]


def test_every_dose_is_held_as_often_as_asked(spec: ChaosSpec) -> None:
    counts = Counter(window.dose for window in sweep_windows(spec.spec.faults[0], 7, 0))
    assert counts == {0.0: 6, 0.1: 4, 0.18: 4, 0.22: 4, 0.26: 4, 0.32: 4}


@given(seed=st.integers(0, 2**32), first=st.integers(0, 1000))
def test_windows_are_numbered_in_order_whatever_the_seed(seed: int, first: int) -> None:
    fault = load_spec(Path("chaos-specs/scenarios/stream-degradation.yaml")).spec.faults[0]
    windows = sweep_windows(fault, seed, first)
    assert [window.index for window in windows] == list(range(first, first + len(windows)))


def test_the_order_is_random_but_follows_the_seed(spec: ChaosSpec) -> None:
    fault = spec.spec.faults[0]
    orders = {tuple(window.dose for window in sweep_windows(fault, seed, 0)) for seed in range(20)}
    assert len(orders) == 20
    assert sweep_windows(fault, 3, 0) == sweep_windows(fault, 3, 0)


def test_each_dose_is_equally_likely_to_come_first(spec: ChaosSpec) -> None:
    firsts = Counter(sweep_windows(spec.spec.faults[0], seed, 0)[2].dose for seed in range(1000))
    # Five doses, 1,000 draws: 200 each; 5 standard deviations are 63.
    assert all(abs(count - 200) < 63 for count in firsts.values())
    assert len(firsts) == 5


def test_recovery_covers_within_and_four_windows_after_it(spec: ChaosSpec) -> None:
    # within 5 s in windows of 2 s is 3 windows; 4 more are judged.
    assert recovery_windows(spec, 2.0) == 7
    assert recovery_windows(spec, 2.5) == 6


def test_the_gateway_keeps_a_fault_for_any_hold_that_is_allowed_and_its_margin() -> None:
    assert MAX_HOLD + 5 == MAX_TTL


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_is_a_number_of_63_bits(spec: ChaosSpec, seed: int) -> None:
    workload = spec.spec.workload.to_json()
    assert Workload.model_validate({**workload, "seed": 2**63 - 1}).seed == 2**63 - 1
    with pytest.raises(ValidationError):
        Workload.model_validate({**workload, "seed": seed})


def test_the_longest_within_is_that_of_any_objective(spec: ChaosSpec) -> None:
    assert longest_within(spec) == 5.0
    objectives = tuple(objective for objective in spec.spec.objectives if objective.within is None)
    body = spec.spec.model_copy(update={"objectives": objectives})
    assert longest_within(spec.model_copy(update={"spec": body})) == 0.0


def test_lengths_add_up(spec: ChaosSpec) -> None:
    (block,) = make_blocks(spec)
    assert block.recovery == pytest.approx(0.2 + 7 * 2)
    assert baseline_length(spec) == pytest.approx(5 + 3 * 4)
    assert block.length == pytest.approx(26 * 2.5 + 14.2)
    assert planned_length(spec) == pytest.approx(17 + 79.2)
