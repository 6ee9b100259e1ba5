"""Each arrival process is what its name says: its counts, gaps and rates, alone, with spikes and merged with others."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from chaosgate.loadgen.arrivals import gamma_units, schedule, time_changed
from chaosgate.model.arrivals import Piece, expected
from chaosgate.model.workload import Workload

SECONDS = 500.0


def workload(arrivals: dict[str, Any], **more: Any) -> Workload:
    return Workload.model_validate({"arrivals": arrivals, "prompts": {"set": "recall-24"}, "seed": 7, **more})


def times_of(arrivals: dict[str, Any], seconds: float = SECONDS, **more: Any) -> list[float]:
    return [due.at for due in schedule(workload(arrivals, **more), seconds, "block1")]


def dispersion(times: list[float], seconds: float = SECONDS) -> float:
    """The variance of the counts in stretches of a second over their mean: 1 of a Poisson process."""
    counts = np.bincount(np.floor(times).astype(int), minlength=int(seconds))
    return float(counts.var(ddof=1) / counts.mean())


def poisson_dispersion(seconds: float = SECONDS) -> tuple[float, float]:
    low, high = stats.chi2.ppf([0.005, 0.995], seconds - 1) / (seconds - 1)
    return float(low), float(high)


@pytest.mark.parametrize("shape", [0.25, 0.5, 1.0, 4.0, 16.0])
def test_gamma_gaps_are_gamma_and_vary_by_one_over_the_root_of_the_shape(shape: float) -> None:
    times = times_of({"process": "gamma", "rate": "20/s", "burstiness": shape}, 1000.0)
    gaps = np.diff([0.0, *times])
    assert stats.kstest(gaps, stats.gamma(shape, scale=1 / (20 * shape)).cdf).pvalue > 0.01
    assert gaps.std() / gaps.mean() == pytest.approx(1 / np.sqrt(shape), rel=0.05)
    assert len(times) / 1000 == pytest.approx(20, rel=0.1)


def test_gamma_gaps_of_shape_one_are_those_of_poisson_arrivals() -> None:
    gamma = list(islice(gamma_units(1.0, 7, "block1"), 200))
    assert gamma == pytest.approx(times_of({"process": "poisson", "rate": "1/s"}, 400.0)[:200])


def test_a_huge_burstiness_gives_even_gaps_and_no_nan() -> None:
    """numpy's generator has none for an infinite shape, and a benchmark that divides by the rate made NaN of it."""
    gaps = np.diff(times_of({"process": "gamma", "rate": "10/s", "burstiness": 10_000}, 60.0))
    assert np.isfinite(gaps).all()
    assert gaps == pytest.approx(0.1, rel=0.05)


@pytest.mark.parametrize("process", ["poisson", "constant", "gamma"])
def test_a_rate_is_sent_in_full(process: str) -> None:
    """A generator that sleeps from request to request sends 9 % less than 200/s; a schedule that is fixed does not."""
    shape = {"burstiness": 2.0} if process == "gamma" else {}
    assert len(times_of({"process": process, "rate": "200/s", **shape}, 100.0)) == pytest.approx(20_000, rel=0.025)


RAMP = {"process": "ramp", "from": "0/s", "to": "40/s", "over": "100s"}
STAIRCASE = {"process": "staircase", "steps": ["5/s", "0/s", "20/s"], "hold": "50s"}


def test_a_ramp_has_as_many_requests_as_the_integral_of_its_rate() -> None:
    """A ramp from 0 is a ramp, and no pause: 40/s * 100 s / 2, then 40/s."""
    times = times_of({**RAMP, "gaps": "constant"}, 150.0)
    counts, _ = np.histogram(times, bins=[0, 25, 50, 75, 100, 150])
    assert list(counts) == pytest.approx([125, 375, 625, 875, 2000], abs=1)


def test_a_poisson_ramp_changes_its_rate_and_stays_poisson() -> None:
    times = times_of(RAMP, 150.0)
    # By the integral of its rate a non-homogeneous Poisson process becomes one of rate 1.
    pieces = workload(RAMP).arrivals.pieces()  # type: ignore[union-attr]
    gaps = np.diff([0.0, *(expected(pieces, at) for at in times)])
    assert stats.kstest(gaps, "expon").pvalue > 0.01
    counts, _ = np.histogram(times, bins=[0, 25, 50, 75, 100, 150])
    assert stats.chisquare(counts, np.array([125, 375, 625, 875, 2000]) / 4000 * sum(counts)).pvalue > 0.01


def test_a_ramp_may_go_down_to_nothing() -> None:
    times = times_of({"process": "ramp", "from": "40/s", "to": "0/s", "over": "10s", "gaps": "constant"}, 60.0)
    assert len(times) == pytest.approx(200, abs=1)
    assert times[-1] <= 10.0


def test_a_staircase_holds_each_step_pauses_where_it_says_and_goes_on_with_the_last() -> None:
    counts, _ = np.histogram(times_of({**STAIRCASE, "gaps": "constant"}, 200.0), bins=[0, 50, 100, 150, 200])
    assert list(counts) == [250, 0, 1000, 1000]
    poisson = times_of(STAIRCASE, 200.0)
    counts, _ = np.histogram(poisson, bins=[0, 50, 100, 150, 200])
    assert counts[1] == 0
    assert [counts[0], counts[2], counts[3]] == pytest.approx([250, 1000, 1000], rel=0.2)


def test_a_pause_at_the_start_sends_nothing() -> None:
    staircase = {"process": "staircase", "steps": ["0/s", "10/s"], "hold": "5s", "gaps": "constant"}
    assert times_of(staircase, 6.0)[0] == 5.0


rate = st.just(0.0) | st.floats(0.01, 100)
pieces = st.lists(st.builds(Piece, st.floats(0.1, 50), rate, rate), min_size=1, max_size=6).map(tuple)


@given(pieces, st.lists(st.floats(0, 500), max_size=40).map(sorted))
def test_changed_times_ascend_and_lead_back_to_where_they_came_from(
    rates: tuple[Piece, ...], units: list[float]
) -> None:
    times = list(time_changed(units, rates))
    assert all(earlier <= later for earlier, later in pairwise(times))
    for unit, at in zip(units, times, strict=False):
        assert expected(rates, at) == pytest.approx(unit, rel=1e-6, abs=1e-4)


SPIKES = {"rate": "200/s", "width": "1s", "every": "20s"}


def test_spikes_come_on_top_when_they_are_due() -> None:
    base = times_of({"process": "constant", "rate": "5/s"}, 100.0)
    both = times_of({"process": "constant", "rate": "5/s"}, 100.0, spikes=SPIKES)
    added = sorted(set(both) - set(base))
    assert set(base) <= set(both)
    assert {int(at // 1) for at in added} == {20, 40, 60, 80}
    counts = [sum(start <= at < start + 1 for at in added) for start in (20, 40, 60, 80)]
    assert all(160 < count < 240 for count in counts)
    assert len(set(counts)) > 1
    assert both == sorted(both)


def test_spikes_are_poisson_in_themselves() -> None:
    load = workload({"process": "constant", "rate": "1/min"}, spikes=SPIKES)
    times = [due.at for due in schedule(load, 2000.0, "block1") if due.at >= 20]
    within = [at % 20 + int(at // 20 - 1) for at in times if at % 20 < 1]
    assert stats.kstest(np.diff([0.0, *within]), stats.expon(scale=1 / 200).cdf).pvalue > 0.01


def tenants(*rates: str, process: str = "poisson") -> Workload:
    return Workload.model_validate(
        {
            "tenants": [
                {"name": f"t{at}", "arrivals": {"process": process, "rate": rate}, "prompts": {"set": "recall-24"}}
                for at, rate in enumerate(rates)
            ],
            "seed": 7,
        }
    )


def test_merged_tenants_keep_their_rates_and_are_one_poisson_process() -> None:
    due = list(schedule(tenants("5/s", "15/s"), SECONDS, "block1"))
    times = [one.at for one in due]
    assert times == sorted(times)
    assert stats.kstest(np.diff([0.0, *times]), stats.expon(scale=1 / 20).cdf).pvalue > 0.01
    low, high = poisson_dispersion()
    assert low < dispersion(times) < high
    share = sum(one.stream == 0 for one in due) / len(due)
    assert share == pytest.approx(0.25, abs=0.02)
    # Whose request comes next does not depend on whose came before, as in a superposition.
    streams = [one.stream for one in due]
    after_first = np.mean([later for earlier, later in pairwise(streams) if earlier == 0])
    assert after_first == pytest.approx(0.75, abs=0.03)


def test_tenants_of_one_rate_draw_apart_and_each_asks_its_prompts_in_order() -> None:
    due = list(schedule(tenants("5/s", "5/s"), 60.0, "block1"))
    first, second = ([one.at for one in due if one.stream == at] for at in (0, 1))
    assert not set(first) & set(second)
    assert [one.index for one in due if one.stream == 1] == list(range(len(second)))


def test_a_schedule_is_a_function_of_seed_and_phase() -> None:
    load = workload({"process": "gamma", "rate": "20/s", "burstiness": 0.5}, spikes=SPIKES)
    assert list(schedule(load, 60.0, "block1")) == list(schedule(load, 60.0, "block1"))
    longer = list(schedule(load, 120.0, "block1"))
    assert [one for one in longer if one.at < 60] == list(schedule(load, 60.0, "block1"))
    assert longer != list(schedule(load, 120.0, "block2"))
    other = load.model_copy(update={"seed": 8})
    assert longer != list(schedule(other, 120.0, "block1"))


def test_a_closed_loop_has_nothing_due() -> None:
    assert times_of({"process": "closed", "concurrency": 4}) == []


@pytest.mark.parametrize(
    "arrivals",
    [
        {"process": "poisson", "rate": "20/s"},
        {"process": "gamma", "rate": "20/s", "burstiness": 1.0},
        {"process": "staircase", "steps": ["20/s"], "hold": "1s"},
        {"process": "ramp", "from": "20/s", "to": "20/s", "over": "1s"},
    ],
)
def test_what_is_poisson_by_another_name_is_as_dispersed(arrivals: dict[str, Any]) -> None:
    low, high = poisson_dispersion()
    assert low < dispersion(times_of(arrivals)) < high


def test_bursts_are_more_dispersed_and_even_gaps_less() -> None:
    bursty = times_of({"process": "gamma", "rate": "20/s", "burstiness": 0.25})
    even = times_of({"process": "gamma", "rate": "20/s", "burstiness": 16.0})
    # The index of dispersion of a renewal process tends to its gaps' squared coefficient of variation, 1 / shape.
    assert 2.5 < dispersion(bursty) < 5.0
    assert dispersion(even) < 0.2
