from __future__ import annotations

from typing import Any

import pytest
from simulated_run import KNEE, LATENCY, OBJECTIVES, Conditions, Json, simulate, stream_spec

from chaosgate.estimate import estimate_run
from chaosgate.estimate.objectives import Estimator, estimate_objective, judged_doses, named_slis
from chaosgate.estimate.windows import place_requests
from chaosgate.model.result import Estimate, Estimates, ObjectiveEstimate

FAULTS = (LATENCY, {**LATENCY, "name": "other-wire"})


def estimated(*objectives: Json, conditions: Conditions | None = None, **spec: Any) -> Estimates:
    return estimate_run(simulate(stream_spec(fits=(), objectives=objectives, **spec), conditions))


def one(objective: Json, **more: Any) -> ObjectiveEstimate:
    (found,) = estimated(objective, **more).objectives
    return found


def dose(at: str, **more: Any) -> Json:
    return {"name": "first-token", "sli": "ttft-p95", "bound": "<= 300ms", "at": {"dose": at}, **more}


def test_a_dose_range_pools_its_doses_without_the_controls() -> None:
    found = one(dose("<= 180ms"))
    (estimate,) = found.estimates

    assert (estimate.at, estimate.place, estimate.fault, estimate.dose) == ("dose <= 180ms", "dose", "slow-wire", None)
    assert estimate.windows == 8
    assert estimate.value is not None
    # P95 over 100 and 180 ms alike is the P90 at 180 ms: 180 + 30 + 10 * ln 10 = 233 ms; controls would lower it.
    assert 0.225 < estimate.value < 0.245
    assert found.baseline is not None
    assert found.recovery is not None
    assert (found.baseline.at, found.recovery.at) == ("baseline", "recovery")


def test_all_means_every_dose() -> None:
    (estimate,) = one(dose("all")).estimates

    assert (estimate.at, estimate.windows) == ("all doses", 20)


def test_each_judges_one_by_one() -> None:
    found = one(dose("<= 220ms", each=True))

    assert [estimate.at for estimate in found.estimates] == ["dose 100ms", "dose 180ms", "dose 220ms"]
    assert [estimate.windows for estimate in found.estimates] == [4, 4, 4]


@pytest.mark.parametrize("each", [False, True])
def test_a_range_without_doses_has_an_estimate_with_a_reason(each: bool) -> None:
    (estimate,) = one(dose("<= 50ms", each=each)).estimates

    assert (estimate.value, estimate.n) == (None, 0)
    assert estimate.reason == "no request counts for ttft-p95 in 0 windows"


def test_an_objective_names_its_fault() -> None:
    found = one(dose("all", fault="other-wire"), faults=FAULTS)

    assert found.estimates[0].fault == "other-wire"


def test_at_baseline() -> None:
    (estimate,) = one({"name": "base", "sli": "ttft-p95", "bound": "<= 1s", "at": "baseline"}).estimates

    assert (estimate.at, estimate.place, estimate.windows) == ("baseline", "baseline", 3)


BACK = {"name": "back", "sli": "ttft-p95", "bound": "<= 300ms", "at": "recovery"}


@pytest.mark.parametrize(
    ("slow", "within", "after", "windows"),
    [
        (0.0, "5s", 0.2, 7),
        (2.0, "5s", 4.2, 5),
        (3.0, "5s", 4.2, 5),
        (3.0, "4s", 2.2, 5),
        (30.0, "5s", 4.2, 5),
        (3.0, None, 0.2, 4),
    ],
)
def test_recovery_is_taken_as_a_whole_or_from_the_latest_allowed_start(
    slow: float, within: str | None, after: float, windows: int
) -> None:
    objective = BACK if within is None else {**BACK, "within": within}

    found = one(objective, conditions=Conditions(slow_recovery=slow))

    assert found.after == pytest.approx(after, abs=1e-5)
    assert found.estimates[0].windows == windows


def test_a_recovery_is_looked_at_twice_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []
    recovery = Estimator.recovery

    def counted(self: Estimator, sli: str, fault: str | None = None, after: float = 0.0) -> Estimate:
        looks.append(after)
        return recovery(self, sli, fault, after)

    run = simulate(stream_spec(fits=(), objectives=({**BACK, "within": "9s"},)), Conditions(slow_recovery=30))
    estimator = Estimator(run.spec, place_requests(run))
    monkeypatch.setattr(Estimator, "recovery", counted)
    found = estimate_objective(estimator, run.spec.spec.objectives[0])

    # 0 is the column to compare with; five window starts lie within 9 s.
    assert sorted({round(after, 3) for after in looks}) == [0.0, 0.2, 8.2]
    assert found.after == pytest.approx(8.2, abs=1e-5)


@pytest.mark.parametrize(("slow", "back"), [(0.0, True), (5.5, True), (30.0, False)])
def test_the_steady_state_is_looked_at_again_once_every_within_has_passed(slow: float, back: bool) -> None:
    found = estimated(
        {**BACK, "within": "5s"}, {**BACK, "name": "soon"}, conditions=Conditions(slow_recovery=slow)
    ).recovered

    assert [(e.sli, e.at, e.place, e.windows) for e in found] == [
        ("error-rate", "recovery", "recovery", 4),
        ("ttft-p95", "recovery", "recovery", 4),
    ]
    assert found[1].value is not None
    assert (found[1].value < 0.3) == back


def test_a_service_that_loses_its_requests_has_no_quantile_and_says_so() -> None:
    (estimate,) = one(dose("all"), conditions=Conditions(failing=0.2)).estimates

    assert (estimate.value, estimate.lower, estimate.upper, estimate.unbounded) == (None, None, None, True)
    assert estimate.reason is not None
    assert estimate.reason.endswith(f" of {estimate.n} requests failed and count as infinitely slow")


def test_the_doses_that_are_judged() -> None:
    spec = stream_spec(
        faults=FAULTS,
        fits=(),
        objectives=(
            dose("<= 180ms", fault="slow-wire"),
            {**dose(">= 320ms", fault="slow-wire"), "name": "top"},
            {**BACK, "fault": "other-wire"},
        ),
    )

    assert [judged_doses(spec, fault) for fault in spec.spec.faults] == [{0.1, 0.18, 0.32}, set()]


def test_the_table_has_every_named_sli_at_every_dose() -> None:
    spec = stream_spec(
        faults=FAULTS, fits=(KNEE,), objectives=tuple(o for o in OBJECTIVES if o["name"] != "first-token")
    )
    table = estimate_run(simulate(spec)).doses

    assert named_slis(spec) == ["error-rate", "ttft-p95", "exact-match"]
    assert [(e.fault, e.sli, e.dose) for e in table] == [
        (fault, sli, dose)
        for fault in ("slow-wire", "other-wire")
        for sli in ("error-rate", "ttft-p95", "exact-match")
        for dose in (0.0, 0.1, 0.18, 0.22, 0.26, 0.32)
    ]
    assert {e.place for e in table if e.dose == 0} == {"control"}
    assert {e.at for e in table if e.dose == 0.18} == {"dose 180ms"}
    assert all(e.windows == (6 if e.dose == 0 else 4) for e in table)
