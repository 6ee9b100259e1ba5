"""Change points of a run: how it is cut, what a slice says, and who told first."""

from __future__ import annotations

import math

import pytest
from simulated_run import KNEE, Conditions, passing_run, simulate, stream_spec

from chaosgate.estimate.change_points import MOST_SLICES, Slice, cut, find_changes, first_to_tell, slice_value, watched
from chaosgate.estimate.windows import place_requests
from chaosgate.model.change_points import ChangePoint, SliChanges
from chaosgate.model.observation import Sample
from chaosgate.model.sli import resolve_sli

SEEN = next(one for one in passing_run().phases["baseline"].observations if not one.warmup)


def sample(took: float = 0.1, outcome: str = "ok") -> Sample:
    changes = {"scheduled": 1.0, "sent": 1.0, "first": 1.0 + took, "outcome": outcome}
    return Sample(SEEN.model_copy(update=changes), None)


def test_a_run_is_cut_into_whole_seconds_and_its_last_part_left_out() -> None:
    slices = cut([(2.3 + 0.05 * number, sample()) for number in range(100)])
    assert [(one.start, one.length) for one in slices] == [(2 + number, 1.0) for number in range(5)]
    assert [len(one.samples) for one in slices] == [14, 20, 20, 20, 20]


@pytest.mark.parametrize(("count", "gap", "length"), [(4000, 0.1, 4.0), (100, 1.0, 10.0)])
def test_slices_are_longer_where_there_would_be_too_many_or_too_empty_ones(
    count: int, gap: float, length: float
) -> None:
    slices = cut([(gap * number, sample()) for number in range(count)])
    assert {one.length for one in slices} == {length}
    assert len(slices) <= MOST_SLICES


def test_no_requests_make_no_slices() -> None:
    assert cut([]) == []


@pytest.mark.parametrize(
    ("sli", "value"), [("ttft-p50", 0.2), ("ttft-p95", math.inf), ("error-rate", 0.25), ("request-rate", 1.5)]
)
def test_a_slice_has_the_number_of_its_requests(sli: str, value: float) -> None:
    samples = [sample(0.1), sample(0.2), sample(0.3), sample(0.1, "error")]
    assert slice_value(resolve_sli(sli), Slice(0.0, 2.0, samples)) == pytest.approx(value)


def test_a_slice_without_requests_has_none() -> None:
    assert slice_value(resolve_sli("ttft-p95"), Slice(0.0, 2.0, [])) is None


def test_what_is_judged_is_watched_and_a_fit_by_its_p95() -> None:
    spec = stream_spec(fits=({**KNEE, "response": {"sli": "e2e", "bound": "<= 1s", "share": "5 %"}},))
    names = [sli.name for sli in watched(spec)]
    assert "e2e-p95" in names
    assert len(set(names)) == len(names)
    assert {steady.sli for steady in spec.spec.steady_state.objectives} <= set(names)


def changes(sli: str, *found: tuple[float, float | None]) -> SliChanges:
    points = [
        ChangePoint(at=at, lower=at, upper=at, told=told, p=0.001, before=1, after=2, fault="f", detected_after=told)
        for at, told in found
    ]
    return SliChanges(sli=sli, dimension="number", slice=1.0, at=(0.0,), values=(1.0,), changes=tuple(points))


def test_the_first_sli_to_tell_is_the_one_whose_evidence_came_first() -> None:
    late, early = changes("late", (10.0, 19.0), (30.0, 33.0)), changes("early", (11.0, 14.0))
    first = first_to_tell([late, changes("never", (5.0, None)), early])
    assert first is not None
    assert (first[0].sli, first[1].told) == ("early", 14.0)
    assert first_to_tell([changes("quiet")]) is None


def test_the_first_sli_to_tell_is_named_with_its_time_to_detect() -> None:
    run = simulate()
    windows = place_requests(run)
    found = {one.sli: one for one in find_changes(run, windows)}
    on = min(window.start for window in windows.at_doses("slow-wire", lambda dose: dose > 0))
    assert found["error-rate"].changes == ()
    first = first_to_tell(found.values())
    assert first is not None
    one, change = first
    assert one.sli == "ttft-p95"
    assert change.lower - 1 <= on <= change.upper + 1
    assert change.fault == "slow-wire"
    assert change.told is not None
    assert change.detected_after == pytest.approx(change.told - on, abs=3.0)


def test_an_sli_that_is_never_seen_says_why() -> None:
    run = simulate(conditions=Conditions(refused=1.0))
    found = {one.sli: one for one in find_changes(run, place_requests(run))}
    assert found["exact-match"].reason == "0 of 6 slices needed have a number of it; hold the doses longer"
