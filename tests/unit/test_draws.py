"""Draws: pure functions of what they are for, uniform, independent of each other and of everything else."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from chaosgate.draws import Draw, exponential, shuffled, uniform
from chaosgate.faults.stream.cut import StreamCut
from chaosgate.faults.wire.error import WireError
from chaosgate.model.fault import WireFault

N = 5000
ALPHA = 1e-3
"""Seeds are fixed, so these tests always give the same answer; a generator that is off fails by orders of magnitude."""

FROZEN = 0.15611756851249348
"""The value when the generator was chosen: a change of it changes the planned ledger of every recorded run."""


def requests(seed: int) -> list[float]:
    return [Draw(seed, "slow", f"{seed}.block1.{number}").at("hit") for number in range(N)]


@pytest.mark.parametrize("seed", [0, 1, 7, -3, 10**17])
def test_draws_over_requests_are_uniform(seed: int) -> None:
    assert stats.kstest(requests(seed), "uniform").pvalue > ALPHA


@pytest.mark.parametrize("site", ["hit", "jitter", "select"])
def test_draws_over_seeds_are_uniform(site: str) -> None:
    counts = Counter(int(10 * Draw(seed, "slow", "r").at(site)) for seed in range(N))
    assert stats.chisquare([counts[cell] for cell in range(10)]).pvalue > ALPHA


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda number: uniform(1, "f", number, "hit"), lambda number: uniform(1, "f", number, "jitter")),
        (lambda number: uniform(1, "f", number, "hit"), lambda number: uniform(1, "g", number, "hit")),
        (lambda number: uniform(1, "f", number, "hit"), lambda number: uniform(2, "f", number, "hit")),
        (lambda number: uniform(1, "f", number, "hit"), lambda number: uniform(1, "f", number + 1, "hit")),
    ],
    ids=["sites", "faults", "seeds", "neighbours"],
)
def test_draws_for_different_words_are_independent(one: object, other: object) -> None:
    cells = Counter((int(4 * one(number)), int(4 * other(number))) for number in range(N))  # type: ignore[operator]
    table = [[cells[row, column] for column in range(4)] for row in range(4)]
    assert stats.chi2_contingency(table).pvalue > ALPHA


def test_words_cannot_be_shifted_into_each_other() -> None:
    assert uniform(1, "ab", "c") != uniform(1, "a", "bc")
    assert uniform(1, "a", "b") != uniform(1, "ab")


@given(st.integers(), st.text(max_size=20), st.text(max_size=20))
def test_a_draw_is_in_the_unit_interval_and_repeatable(seed: int, fault: str, request: str) -> None:
    value = Draw(seed, fault, request).at("hit")
    assert 0 <= value < 1
    assert Draw(seed, fault, request).at("hit") == value


def test_a_draw_is_the_same_on_every_machine() -> None:
    assert uniform(7, "slow-wire", "7.block1.17", "hit") == pytest.approx(FROZEN, abs=0)


def test_the_order_of_asking_changes_nothing() -> None:
    forward = [Draw(3, "f", str(number)).at("hit") for number in range(100)]
    backward = [Draw(3, "f", str(number)).at("hit") for number in reversed(range(100))]
    assert forward == backward[::-1]


def fault(kind: type[WireFault]) -> WireFault:
    dose = {"parameter": "probability", "values": ("5 %",), "hold": "1s", "washout": "1s"}
    registered = {WireError: "wire.error", StreamCut: "stream.cut"}[kind]  # type: ignore[index]
    return kind.model_validate({"name": "f", "kind": registered, "dose": dose})


def hits(wire: WireFault, dose: float, draw: Draw) -> bool:
    return bool(wire.effects(dose, draw)) or wire.editor(dose, draw) is not None


@pytest.mark.parametrize("kind", [WireError, StreamCut])
def test_whoever_is_hit_at_a_dose_is_hit_at_every_higher_one(kind: type[WireFault]) -> None:
    wire = fault(kind)
    before: set[int] = set()
    for dose in (0.0, 0.05, 0.2, 0.5, 1.0):
        hit = {number for number in range(500) if hits(wire, dose, wire.draw(7, str(number)))}
        assert before <= hit
        assert len(hit) == pytest.approx(500 * dose, abs=4 * math.sqrt(500 * 0.25))
        before = hit
    assert len(before) == 500


def test_exponential_draws_have_the_distribution_they_are_named_for() -> None:
    draws = [exponential(0.05, 11, "arrival", number) for number in range(N)]
    assert stats.kstest(draws, "expon", args=(0, 0.05)).pvalue > ALPHA


def test_a_shuffle_is_a_permutation_and_every_order_comes_up() -> None:
    orders = Counter(tuple(shuffled([1, 2, 3], seed, "f")) for seed in range(1200))
    assert set(map(frozenset, orders)) == {frozenset({1, 2, 3})}
    assert len(orders) == 6
    assert stats.chisquare(list(orders.values())).pvalue > ALPHA
