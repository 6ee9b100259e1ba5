"""Faults of the cluster: requests belong to their windows in time, and the API server's gauges are their witness."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cluster_run import CUT, DELETED, Read, cluster_run, cluster_spec
from cluster_targets import cluster_fault
from simulated_run import changed, verdict_of

from chaosgate.estimate import RunData, estimate_run
from chaosgate.estimate.gauges import whole_again
from chaosgate.estimate.requests import Request
from chaosgate.estimate.windows import place_requests, within
from chaosgate.estimate.witness import read_witness
from chaosgate.model.fault import GaugeName
from chaosgate.model.observation import Observation, TimelineEvent, Window
from chaosgate.model.result import Fits, InjectedWindow, Verdict, WitnessReading

NO_PODS_LOST = (
    "was not seen at the API server: the number of pods lost in a window went from 0 to 0; a rise of 0.5, above the "
    "variation between windows, was expected"
)
WINDOW = Window("dose", "block1", "mine", 2, 1.0, 10.0, 14.0, ())


def request(seen: float, done: float, observation: Observation) -> Request:
    return Request(observation, seen, {}, by_ledger=True, done=done)


@pytest.fixture(scope="module")
def any_observation() -> Observation:
    return cluster_run().phases["block1"].observations[0]


@pytest.mark.parametrize(
    ("seen", "done", "undone", "healed"),
    [
        (10.3, 13.9, True, True),
        (10.1, 11.0, False, True),
        (9.5, 10.4, False, True),
        (9.5, 9.9, False, False),
        (13.0, 14.1, False, False),
        (10.2, 14.0, True, True),
    ],
    ids=["inside", "while it settles", "hit under way", "over before", "outlasts it", "just inside"],
)
def test_what_lies_wholly_in_a_window_belongs_to_it(
    seen: float, done: float, undone: bool, healed: bool, any_observation: Observation
) -> None:
    one = request(seen, done, any_observation)
    assert within(one, WINDOW, cluster_fault("deployment.replica-loss")) is undone
    assert within(one, WINDOW, cluster_fault("pod.delete")) is healed


def test_a_run_whose_pods_went_and_came_back_passes() -> None:
    run = cluster_run()
    verdict = passed(run)

    assert verdict.verdict == "pass", [reason.text for reason in verdict.reasons if reason.verdict != "pass"]
    assert (
        "mine came and went: the number of pods lost in a window was 0 before, 1 during and 0 after it (3 objects "
        "changed; as many pods were ready again within "
    ) in " ".join(reason.text for reason in verdict.reasons)


def passed(run: RunData) -> Verdict:
    return verdict_of(run, Fits(fits=()))


def reading(run: RunData) -> WitnessReading:
    return read_witness(run, place_requests(run), run.spec.spec.faults[0])


def test_the_reading_of_a_fault_that_heals() -> None:
    found = reading(cluster_run())
    assert (found.before, found.during, found.after, found.bitten, found.gone) == (0.0, 1.0, 0.0, True, True)
    assert found.applied == 3
    assert found.whole_after is not None
    assert 1.5 <= found.whole_after <= 2.6
    assert found.cut == 0


@pytest.mark.parametrize(
    ("outcome", "first", "counts"), [("cut", 1.0, 1), ("error", 1.0, 1), ("error", None, 0), ("timeout", 1.0, 0)]
)
def test_answers_that_began_and_broke_off_are_counted(outcome: str, first: float | None, counts: int) -> None:
    run = cluster_run()
    (window, *_) = (window for window in place_requests(run).sweeps["mine"] if window.dose)
    one = window.samples[0].observation.request
    update = {"outcome": outcome} | ({"first": None} if first is None else {})
    seen = [o.model_copy(update=update) if o.request == one else o for o in run.phases["block1"].observations]
    assert reading(changed(run, "block1", observations=seen)).cut == counts


def test_the_reading_of_a_limit_that_is_cut() -> None:
    found = reading(cluster_run(cluster_spec("pod.cpu-limit"), CUT))
    assert (found.before, found.during, found.after) == (1.0, 0.5, 1.0)
    assert (found.bitten, found.gone, found.whole_after) == (True, True, None)


def flat(value: float) -> Read:
    return lambda at, begun: value


@pytest.mark.parametrize(
    ("kind", "gauges", "reason"),
    [
        (
            "pod.delete",
            {"lost": flat(0.0), "ready": flat(2.0)},
            NO_PODS_LOST,
        ),
        (
            "node.cordon",
            {"lost": flat(0.0), "ready": flat(2.0)},
            NO_PODS_LOST + "; pods that run already stay: write `evict: true` to have the target's own moved",
        ),
        (
            "pod.cpu-limit",
            {"cpu": flat(1.0), "ready": flat(2.0)},
            "was not seen at the API server: the share of the cpu limit in force went from 100 % to 100 %; a fall of "
            "25 %, above the variation between windows, was expected; pods are resized in place from Kubernetes 1.33 "
            "on, and memory only down to what is in use",
        ),
        (
            "net.policy-block",
            {"ready": flat(2.0)},
            "was not seen by the client: the share of failed requests went from 0 % to 0 %; a rise of 5 %, above the "
            "variation between windows, was expected; a network plug-in that enforces no NetworkPolicy gives no effect",
        ),
    ],
)
def test_an_effect_that_nobody_saw_is_inconclusive_and_says_why(
    kind: str, gauges: dict[GaugeName, Read], reason: str
) -> None:
    run = cluster_run(cluster_spec(kind), gauges)
    assert reading(run).reason == reason
    assert passed(run).verdict == "inconclusive"


def test_a_target_that_does_not_heal_is_not_gone() -> None:
    once_hit: dict[GaugeName, Read] = {**DELETED, "ready": lambda at, begun: 1.0 if begun else 2.0}
    found = reading(cluster_run(gauges=once_hit))
    assert (found.bitten, found.gone, found.whole_after) == (True, False, None)
    assert found.reason == "has not healed: of 2 pods that were ready before it 1 are in the recovery"


def test_without_readings_nobody_knows() -> None:
    run = cluster_run(gauges={"ready": flat(2.0)})
    assert reading(run).reason == "the number of pods lost in a window before the fault is unknown: no reading shows it"
    assert passed(run).verdict == "inconclusive"


def test_without_a_count_of_ready_pods_nothing_is_known_to_have_healed() -> None:
    found = reading(cluster_run(gauges={"lost": DELETED["lost"]}))
    assert found.reason == "has not healed: nobody read how many pods of the target were ready in the recovery"


def test_a_reading_that_is_old_says_nothing() -> None:
    run = cluster_run()
    sparse = [gauge for number, gauge in enumerate(run.phases["block1"].gauges) if number % 20 < 2]
    found = reading(changed(run, "block1", gauges=sparse))
    assert not found.bitten


def test_a_fault_that_changed_nothing_touched_nothing() -> None:
    run = cluster_run()
    injection = run.injections["block1"]
    idle = tuple(window.model_copy(update={"applied": 0}) for window in injection.windows)
    unproved = replace(run, injections={"block1": injection.model_copy(update={"windows": idle})})
    assert reading(unproved).reason == "touched nothing: no object was seen to change at a dose above 0"


def test_a_proof_that_does_not_fit_the_injection_is_an_error() -> None:
    run = cluster_run()

    def doubled(event: TimelineEvent) -> TimelineEvent:
        wrong = event.event == "proof" and event.detail["applied"] == 1
        return event.model_copy(update={"detail": {"applied": 2}}) if wrong else event

    forged = changed(run, "block1", timeline=[doubled(event) for event in run.phases["block1"].timeline])

    assert passed(forged).verdict == "error"
    assert any(
        "changed 1 objects by the injection; by its proof in the timeline: 2" in problem
        for problem in estimate_run(forged).health.problems
    )


def test_a_judged_dose_that_changed_nothing_is_a_gap() -> None:
    judged = {"name": "kept", "sli": "error-rate", "bound": "<= 5 %", "at": {"dose": "all"}}
    run = cluster_run(cluster_spec("pod.delete", 1, 2, objectives=(judged,)))
    assert estimate_run(run).health.gaps == ()

    injection = run.injections["block1"]
    idle = tuple(
        window.model_copy(update={"applied": 0}) if window.dose == 2 else window for window in injection.windows
    )
    found = replace(run, injections={"block1": injection.model_copy(update={"windows": idle})})

    assert estimate_run(found).health.gaps == (
        "mine: no object was changed at dose 2; check that its target is there during the whole run",
    )


def test_many_requests_that_outlast_their_windows_are_a_gap() -> None:
    run = cluster_run()
    placed = place_requests(run)
    hit = {window.index: window for window in placed.sweeps["mine"] if window.dose}
    slow = []
    for row in run.phases["block1"].ledger:
        window = hit.get(row.window if row.window is not None else -1)
        late = window is not None and row.seen > window.start + 2.0
        slow.append(row.model_copy(update={"done": window.end + 3.0}) if late and window else row)
    found = changed(run, "block1", ledger=slow)

    (gap,) = estimate_run(found).health.gaps
    assert gap.startswith("mine: ")
    assert (
        " of the requests that began in its windows at dose 1 outlast them and are left out, of the controls' " in gap
    )
    assert passed(found).verdict == "inconclusive"


def test_how_long_a_target_needs_is_counted_from_when_it_was_undone_unless_it_heals() -> None:
    run = cluster_run()
    first = next(window for window in place_requests(run).sweeps["mine"] if window.dose)
    struck = whole_again(run, cluster_fault("pod.delete"), first, first.end)
    undone = whole_again(run, cluster_fault("deployment.replica-loss"), first, first.end + 1)
    assert struck is not None
    assert 1.5 <= struck <= 2.6
    assert undone == 0.0


def test_pods_that_never_were_fewer_need_no_time() -> None:
    run = cluster_run(gauges={**DELETED, "ready": flat(2.0)})
    first = next(window for window in place_requests(run).sweeps["mine"] if window.dose)
    assert whole_again(run, cluster_fault("pod.delete"), first, first.end) is None


def test_a_window_that_another_follows_too_soon_tells_nothing_of_how_long_a_target_needs() -> None:
    """Windows follow one another after a second; here a target needs three from the end of each."""

    def slow(at: float, begun: list[InjectedWindow]) -> float:
        return 1.0 if begun and at < begun[-1].off + 3.0 else 2.0

    gauges: dict[GaugeName, Read] = {"ready": slow}
    found = reading(cluster_run(cluster_spec("deployment.replica-loss"), gauges)).whole_after
    assert found is not None
    assert 3.0 <= found <= 4.1
