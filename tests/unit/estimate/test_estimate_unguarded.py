"""Two arms of one run: a witness reads the unguarded requests, and everything else is of the guarded ones."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from simulated_run import OBJECTIVES, Conditions, changed, simulate, stream_spec

from chaosgate.estimate import estimate_run, estimate_steady_state
from chaosgate.estimate.checks import find_gaps, find_problems
from chaosgate.estimate.data import RunData
from chaosgate.estimate.series import make_series
from chaosgate.estimate.windows import place_baseline, place_requests
from chaosgate.estimate.witness import read_witness
from chaosgate.judge import judge
from chaosgate.model.filter import UNGUARDED
from chaosgate.model.fit import FITS
from chaosgate.model.observation import Window
from chaosgate.model.result import Fits, Reason, Verdict, WitnessReading
from chaosgate.model.spec import ChaosSpec

FAULT = {
    "name": "hijack",
    "kind": "prompt.injection",
    "dose": {"parameter": "probability", "values": ["50 %"], "windows": 4, "hold": "4s", "washout": "500ms"},
}
CURED = {"name": "cured", "sli": "exact-match", "bound": ">= 95 %", "at": {"dose": "all"}}


def spec(unguarded: str = "30 %", fault: dict[str, Any] = FAULT) -> ChaosSpec:
    return stream_spec(faults=(fault,), fits=(), objectives=(CURED, OBJECTIVES[3]), unguarded=unguarded)


@cache
def run(*, cured: bool = True, unguarded: str = "30 %") -> RunData:
    """Half of the answers at the dose are wrong; with a cure only those of unguarded requests."""
    return simulate(spec(unguarded), Conditions(wrong=0.5, cured=cured))


def reading(data: RunData) -> WitnessReading:
    return read_witness(data, place_requests(data), data.spec.spec.faults[0])


def verdict(data: RunData) -> Verdict:
    return judge(data.spec, estimate_run(data), data.injections, Fits(fits=()), data.subject)


def reason_of(found: Verdict, objective: str) -> Reason:
    return next(reason for reason in found.reasons if reason.objective == objective)


def all_windows(data: RunData) -> list[Window]:
    placed = place_requests(data)
    return [*placed.baseline, *placed.sweeps["hijack"], *placed.recoveries[0].windows]


def test_a_cure_that_works_passes_in_one_run() -> None:
    found = verdict(run())
    assert found.verdict == "pass", found.reasons
    cured = reason_of(found, "cured")
    assert f"{cured.n} guarded requests in 4 windows" in cured.text
    assert (cured.value, cured.n) == (1.0, sum(len(w.samples) for w in all_windows(run()) if w.dose))


def test_without_an_unguarded_arm_nobody_sees_the_fault() -> None:
    data = simulate(stream_spec(faults=(FAULT,), fits=(), objectives=(CURED,)), Conditions())
    assert verdict(data).verdict == "inconclusive"
    assert reading(data).bitten is False


def test_a_cure_that_does_not_work_fails() -> None:
    found = verdict(run(cured=False))
    assert found.verdict == "fail"
    assert reason_of(found, "cured").verdict == "fail"


def test_every_request_of_a_window_is_in_one_arm() -> None:
    guarded, both = all_windows(run()), all_windows(run(unguarded="0 %"))
    for window, whole in zip(guarded, both, strict=True):
        arms = [{sample.observation.request for sample in arm} for arm in (window.samples, window.unguarded)]
        assert not arms[0] & arms[1]
        assert arms[0] | arms[1] == {sample.observation.request for sample in whole.samples}
        assert all(map(run().spec.unguards, arms[1]))
        assert not any(map(run().spec.unguards, arms[0]))
        assert whole.unguarded == ()
    shown = sum(len(window.unguarded) for window in guarded)
    assert 0.25 < shown / sum(len(window.samples) for window in both) < 0.35


def test_each_arm_is_compared_with_answers_of_its_own() -> None:
    """A filter that repairs answers makes those of guarded requests other ones, fault or not."""
    data = run()
    for phase, part in data.phases.items():
        seen = [
            o if data.spec.unguards(o.request) else o.model_copy(update={"text": "repaired"}) for o in part.observations
        ]
        data = changed(data, phase, observations=seen)
    found = reading(data)
    assert (found.before, found.after, found.bitten, found.gone) == (0.0, 0.0, True, True)
    clean = {sample.clean for window in all_windows(data) for sample in window.samples}
    assert clean == {"repaired"}


def test_the_witness_reads_and_counts_unguarded_requests_alone() -> None:
    found = reading(run())
    hit = [w for w in all_windows(run()) if w.dose]
    differ = [s.observation.text != s.clean for w in hit for s in w.unguarded if s.clean is not None]
    assert found.during == sum(differ) / len(differ)
    assert found.applied == sum(len(window.unguarded) for window in hit)
    assert found.what == "share of answers that differ from the clean ones among the unguarded requests"
    (sentence,) = [r.text for r in verdict(run()).reasons if "came and went" in r.text]
    assert sentence.endswith(f"({found.applied} unguarded requests touched)")


def test_reasons_name_the_unguarded_requests() -> None:
    data, unguards = run(), run().spec.unguards
    rows = [
        r.model_copy(update={"applied": r.applied and not unguards(r.request)}) for r in data.phases["block1"].ledger
    ]
    untouched = reading(changed(data, "block1", ledger=rows)).reason or ""
    assert untouched.startswith("touched nothing: no unguarded request of the ledger was changed at a dose above 0")
    guarded = [seen for seen in data.phases["baseline"].observations if not unguards(seen.request)]
    names = {seen.request for seen in guarded}
    rows = [row for row in data.phases["baseline"].ledger if row.request in names]
    unknown = reading(changed(data, "baseline", observations=guarded, ledger=rows)).reason or ""
    assert unknown.endswith("before the fault is unknown: no unguarded request shows it")


def test_a_judged_dose_that_touched_unguarded_requests_alone_is_a_gap() -> None:
    data, unguards = run(), run().spec.unguards
    rows = [r.model_copy(update={"applied": r.applied and unguards(r.request)}) for r in data.phases["block1"].ledger]
    spoilt = changed(data, "block1", ledger=rows)
    gap = "hijack: no request was touched at dose 50 %; hold it longer or raise the share"
    assert gap in list(find_gaps(spoilt, place_requests(spoilt)))
    assert gap not in list(find_gaps(data, place_requests(data)))


def test_the_steady_state_is_that_of_the_guarded_requests() -> None:
    data = run()
    broken = [
        seen.model_copy(update={"outcome": "error", "status": 500}) if data.spec.unguards(seen.request) else seen
        for seen in data.phases["baseline"].observations
    ]
    baseline = replace(data.phases["baseline"], observations=broken)
    errors, _ = estimate_steady_state(data.spec, baseline)
    assert errors.value == 0.0
    assert errors.n == sum(len(window.samples) for window in place_baseline(data.spec, baseline))


def test_fits_count_guarded_requests() -> None:
    from chaosgate.estimate import fit_run

    knee = {"name": "knee", "kind": "logistic", "fault": "hijack"}
    response = {"sli": "exact-match", "bound": ">= 95 %", "share": "5 %"}
    data = run()
    body = data.spec.spec.model_copy(
        update={"fits": (FITS.get("logistic").model_validate({**knee, "response": response}),)}
    )
    (fit,) = fit_run(replace(data, spec=data.spec.model_copy(update={"spec": body}))).fits
    assert fit.threshold.n == sum(len(window.samples) for window in place_requests(data).sweeps["hijack"])


def test_health_counts_both_arms_and_the_series_one() -> None:
    found = estimate_run(run())
    judged = [seen for phase in run().phases.values() for seen in phase.observations if not seen.warmup]
    unguarded = sum(run().spec.unguards(seen.request) for seen in judged)
    assert (found.health.requests, found.health.unguarded) == (len(judged), unguarded)
    every = [request for part in place_requests(run()).requests.values() for request in part]
    guarded = [request for request in every if not run().spec.unguards(request.observation.request)]
    assert found.series == make_series(guarded)
    assert sum(point.requests for point in found.series) == len(guarded) < len(every)


def test_a_ledger_that_contradicts_the_draw_is_a_problem() -> None:
    data = run()
    assert list(find_problems(data, place_requests(data))) == []
    first, *rest = data.phases["block1"].ledger
    other = None if first.filtered == UNGUARDED else UNGUARDED
    spoilt = changed(data, "block1", ledger=[first.model_copy(update={"filtered": other}), *rest])
    assert list(find_problems(spoilt, place_requests(spoilt))) == [
        "block1: 1 requests passed the filters, or did not, against the draw of `unguarded`, first "
        f"{first.request}; is the gateway of another version of chaosgate?"
    ]
