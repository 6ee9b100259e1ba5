"""Whether a plan suffices: by the very rules by which a run is judged."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_run import LATENCY, OBJECTIVES, stream_spec

from chaosgate.cli.outlook import Outlook, Place, _quantile, _share, fit_outlook, outlooks
from chaosgate.estimate.windows import place_requests
from chaosgate.model.blocks import make_blocks
from chaosgate.model.load import load_spec
from chaosgate.model.spec import ChaosSpec
from chaosgate.statistics.intervals import Group, share_interval
from chaosgate.units import Bound

SCENARIOS = Path(__file__).parents[3] / "chaos-specs" / "scenarios"


def of(spec: ChaosSpec) -> dict[str, Outlook]:
    """The outlook of each objective by name; of the steady state by SLI and place."""
    found = (*outlooks(spec, make_blocks(spec)), *fit_outlook(spec))
    return {one.objective or f"{one.what} {one.at}": one for one in found}


def with_objective(fault: dict[str, Any] = LATENCY, **objective: Any) -> Outlook:
    spec = stream_spec(faults=(fault,), objectives=({"name": "it", **objective},), fits=())
    return of(spec)["it"]


def latency(windows: int, hold: str, values: tuple[str, ...] = ("100ms", "180ms")) -> dict[str, Any]:
    return {**LATENCY, "dose": {**LATENCY["dose"], "windows": windows, "hold": hold, "values": list(values)}}


def test_the_quickstart_suffices_everywhere() -> None:
    found = of(load_spec(SCENARIOS / "stream-degradation.yaml"))
    assert {name: one.chance for name, one in found.items() if one.chance != "enough"} == {"headroom": "depends"}
    first = found["first-token"]
    assert (first.requests, first.windows, first.at) == (320.0, 8, "at doses <= 180ms of slow-wire")
    assert found["same-answers"].why == "at most 2 of them may count against it, fewer where they come together"


def test_requests_and_windows_are_those_of_a_run() -> None:
    """As many windows at each place as a simulated run has, and about as many requests."""
    from simulated_run import simulate

    run = simulate()
    windows = place_requests(run)
    found = of(run.spec)
    places = {
        "first-token": windows.at_doses("slow-wire", lambda dose: 0 < dose <= 0.18),
        "same-answers": windows.at_doses("slow-wire", lambda dose: dose > 0),
        "back": windows.recovered(None),
        "error-rate in the baseline": windows.baseline,
        "error-rate at the end of the recovery": windows.recovered(None, 5.0),
    }
    for name, there in places.items():
        assert found[name].windows == len(there), name
        seen = sum(len(window.samples) for window in there)
        assert abs(seen - found[name].requests) < 4 * math.sqrt(found[name].requests), name


@pytest.mark.parametrize(
    ("sli", "hold", "chance", "why"),
    [
        ("ttft-p95", "200ms", "never", "a P95 needs 72 requests"),
        ("ttft-p95", "600ms", "luck", "a P95 needs 72 requests, and some runs have fewer"),
        ("ttft-p95", "5s", "enough", "a P95 needs 72 requests; these tell as much as"),
        ("ttft-p99", "2s", "never", "a P99 needs 368 requests"),
        ("e2e-p50", "1s", "enough", "a P50 needs 6 requests; these tell as much as"),
    ],
)
def test_a_quantile_needs_its_requests(sli: str, hold: str, chance: str, why: str) -> None:
    one = with_objective(latency(3, hold), sli=sli, bound="<= 500ms", at={"dose": "all"})
    assert (one.chance, one.why[: len(why)]) == (chance, why)


def test_a_quantile_with_hardly_enough_requests_has_no_end_where_windows_differ_by_chance() -> None:
    place = Place("there", 3, 30.0, 2, varies=False)
    chance, why = _quantile(0.95, place)
    assert chance == "luck"
    assert why == "a P95 needs 72 requests, and these tell as much as 18 independent ones where the windows agree"


@pytest.mark.parametrize(
    ("bound", "hold", "chance", "why"),
    [
        ("<= 0.1 %", "2s", "never", "even if none counts against it, the interval reaches to 1.525 %"),
        ("<= 1.6 %", "2s", "luck", "even if none counts against it, the interval reaches to 1.525 %, and in some runs"),
        ("<= 2 %", "2s", "tight", "not one request may count against it: even if none counts against it"),
        ("<= 5 %", "2s", "enough", "at most 4 of them may count against it, fewer where they come together"),
        (">= 95 %", "2s", "enough", "at most 4 of them may count against it, fewer where they come together"),
        (">= 99.9 %", "2s", "never", "even if none counts against it, the interval reaches to 98.47 %"),
    ],
)
def test_zero_errors_still_leave_an_upper_end(bound: str, hold: str, chance: str, why: str) -> None:
    sli = "exact-match" if bound.startswith(">") else "error-rate"
    one = with_objective(latency(3, hold), sli=sli, bound=bound, at={"dose": "all"})
    assert one.requests == 240.0
    assert (one.chance, one.why[: len(why)]) == (chance, why)


@settings(max_examples=60)
@given(
    per_window=st.integers(5, 300),
    windows=st.integers(3, 5),
    percent=st.floats(0.2, 40).map(lambda share: round(share, 1)),
)
def test_what_it_allows_is_what_the_judge_allows(per_window: int, windows: int, percent: float) -> None:
    """With so many requests and one fewer or more against it, spread as evenly as they go, the bound is kept or not."""
    place = Place("there", windows, float(per_window), 0, varies=False)
    bound = Bound.parse(f"<= {percent} %")
    chance, why = _share(bound, place)
    # Arrivals that are constant may miss one request a window.
    n = (per_window - 1) * windows

    def kept(against: int) -> bool:
        hits = np.array([float(against // windows + (number < against % windows)) for number in range(windows)])
        group = Group(hits, np.full(windows, float(per_window - 1)))
        return bound.holds(share_interval([group], [], 7)[1])

    if chance == "enough":
        allowed = int(why.split()[2])
        assert not kept(allowed + 1) or allowed + 1 > n
    elif chance == "tight":
        assert kept(0)
        assert not kept(1)
    elif chance == "never":
        assert not kept(0)


def test_windows_that_may_be_empty_leave_it_to_luck() -> None:
    one = with_objective(latency(3, "100ms"), sli="error-rate", bound="<= 60 %", at={"dose": "all"})
    assert one.chance == "luck"
    assert one.why == "a window of about 2 requests may hold none, and then there is no interval"


def test_each_dose_is_judged_with_its_own_requests() -> None:
    spec = stream_spec(
        objectives=({"name": "it", "sli": "error-rate", "bound": "<= 5 %", "at": {"dose": "all"}, "each": True},),
        fits=(),
    )
    found = [one for one in outlooks(spec, make_blocks(spec)) if one.objective == "it"]
    assert [one.at for one in found] == [
        f"at {dose} of slow-wire" for dose in ("100ms", "180ms", "220ms", "260ms", "320ms")
    ]
    assert {one.requests for one in found} == {160.0}


def test_a_steady_state_whose_quantile_lacks_requests_never_holds() -> None:
    spec = stream_spec()
    short = spec.model_copy(
        update={
            "spec": spec.spec.model_copy(
                update={"steady_state": spec.spec.steady_state.model_copy(update={"hold": 0.5})}
            )
        }
    )
    found = of(short)
    assert found["ttft-p95 in the baseline"].chance == "never"
    assert found["error-rate in the baseline"].chance == "enough"
    assert found["ttft-p95 in the baseline"].objective is None


def test_prompts_the_baseline_does_not_reach_do_not_count() -> None:
    spec = stream_spec()
    few = spec.spec.steady_state.model_copy(update={"hold": 0.2})
    short = spec.model_copy(update={"spec": spec.spec.model_copy(update={"steady_state": few})})
    # 3 windows of 200 ms at 20/s: 12 of the 24 prompts.
    assert of(short)["same-answers"].requests == pytest.approx(of(spec)["same-answers"].requests / 2)


@pytest.mark.parametrize(
    ("objective", "chance"),
    [
        ({"lower": ">= 180ms"}, "depends"),
        ({"lower": ">= 400ms"}, "never"),
        ({"upper": ">= 321ms"}, "never"),
        ({"upper": "<= 200ms"}, "depends"),
    ],
)
def test_a_threshold_lies_among_the_doses(objective: dict[str, str], chance: str) -> None:
    spec = stream_spec(objectives=(*OBJECTIVES[:1], {"name": "it", "fit": "knee", **objective}))
    one = of(spec)["it"]
    assert one.chance == chance
    if chance == "never":
        assert one.why == "a threshold is found among the doses, and the largest is 320ms; add larger ones"


def test_json_holds_every_part() -> None:
    (one, *_) = outlooks(stream_spec(), make_blocks(stream_spec()))
    assert one.to_json()["chance"] == "enough"
