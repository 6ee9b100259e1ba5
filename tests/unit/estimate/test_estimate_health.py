from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from simulated_run import OBJECTIVES, SUBJECT, Conditions, changed, passing_run, simulate, stream_spec

from chaosgate.estimate.data import RunData
from chaosgate.estimate.health import make_health
from chaosgate.estimate.windows import place_requests
from chaosgate.model.observation import TimelineEvent
from chaosgate.model.result import Health, InjectedWindow

RUN = passing_run()
BLOCK = RUN.phases["block1"]
WINDOWS = RUN.injections["block1"].windows


def health(run: RunData) -> Health:
    return make_health(run, place_requests(run))


def without(*names: str, phase: str = "block1") -> RunData:
    """The run without the events called `names` of one phase."""
    return changed(RUN, phase, timeline=[e for e in RUN.phases[phase].timeline if e.event not in names])


def events(change: Callable[[TimelineEvent], TimelineEvent]) -> RunData:
    return changed(RUN, "block1", timeline=[change(event) for event in BLOCK.timeline])


def injected(windows: tuple[InjectedWindow, ...], **more: Any) -> RunData:
    injection = RUN.injections["block1"].model_copy(update={"windows": windows, **more})
    return replace(RUN, injections={"block1": injection})


def first(**update: Any) -> RunData:
    return injected((WINDOWS[0].model_copy(update=update), *WINDOWS[1:]))


def test_a_passing_run_is_healthy() -> None:
    found = health(RUN)

    assert (found.drift, found.subject_changed, found.gaps, found.problems) == ((), None, (), ())
    assert found.requests == sum(not o.warmup for phase in RUN.phases.values() for o in phase.observations)
    assert found.schedule_delay_p99 == pytest.approx(0.0005)


def test_the_delay_is_that_of_the_worst_phase() -> None:
    late = [o.model_copy(update={"sent": o.scheduled + 0.08}) for o in RUN.phases["baseline"].observations]

    assert health(changed(RUN, "baseline", observations=late)).schedule_delay_p99 == pytest.approx(0.08)


def test_warm_up_may_be_late() -> None:
    late = [
        o.model_copy(update={"sent": o.scheduled + 0.08}) if o.warmup else o
        for o in RUN.phases["baseline"].observations
    ]

    assert health(changed(RUN, "baseline", observations=late)).schedule_delay_p99 == pytest.approx(0.0005)


def test_the_delay_is_unknown_without_requests() -> None:
    assert health(replace(RUN, phases={})).schedule_delay_p99 is None


@pytest.mark.parametrize("phase", ["baseline", "block1"])
def test_a_changed_subject_is_seen_in_every_phase(phase: str) -> None:
    now = SUBJECT.model_copy(update={"weights_digest": "sha256:" + "b" * 64})
    timeline = [
        e.model_copy(update={"detail": now.to_json()}) if e.event == "subject" else e
        for e in RUN.phases[phase].timeline
    ]
    found = health(changed(RUN, phase, timeline=timeline))

    assert found.subject_changed == (
        f"weightsDigest was 'sha256:{'a' * 64}' at deploy and is 'sha256:{'b' * 64}' in {phase}"
    )


@pytest.mark.parametrize("phase", ["baseline", "block1"])
def test_the_subject_must_be_read_back(phase: str) -> None:
    assert health(without("subject", phase=phase)).problems == (
        f"{phase}: the subject was not read back after the last window",
    )


def test_a_subject_read_too_early_does_not_count() -> None:
    early = events(lambda e: e.model_copy(update={"at": WINDOWS[-1].off - 1}) if e.event == "subject" else e)

    assert "block1: the subject was not read back after the last window" in health(early).problems


def test_an_unreadable_subject() -> None:
    broken = events(lambda e: e.model_copy(update={"detail": {"model": "m"}}) if e.event == "subject" else e)

    assert health(broken).problems == ("block1: the subject that was read back is unreadable: engine: Field required",)


PROBLEMS: dict[str, RunData] = {
    "block1: the timeline holds 0 `started` events; 1 is needed": without("started"),
    "block1: the timeline holds 0 `done` events; 1 is needed": without("done"),
    "baseline: the timeline holds 0 `started` events; 1 is needed": without("started", phase="baseline"),
    "block1: the timeline has no `injected` event; inject did not finish": without("injected"),
    f"window 0 of slow-wire went on at {WINDOWS[0].on:.3f} s by the injection, by the timeline: never": without("on"),
    f"window 25 of slow-wire went off at {WINDOWS[-1].off:.3f} s by the injection, by the timeline: never": without(
        "off"
    ),
    "window 25 of slow-wire went on and is not in the injection": injected(WINDOWS[:-1]),
    "window 0 of slow-wire was injected at dose 1; the plan has no such window": first(dose=1.0),
    "window 99 of slow-wire was injected at dose 0; the plan has no such window": first(window=99),
    "window 0 of slow-wire is in the injection 2 times": injected((WINDOWS[0], *WINDOWS)),
    "window 0 of slow-wire touched 7 requests by its proof; the ledger holds 0": first(applied=7),
    "block1: its injection is of block2": injected(WINDOWS, phase="block2"),
    "block1: there is no injection; did its inject step finish?": replace(RUN, injections={}),
    "block1: load ended 8s before the last window did": events(
        lambda e: e.model_copy(update={"at": WINDOWS[-1].off + 6.2}) if e.event == "done" else e
    ),
}


@pytest.mark.parametrize("sentence", PROBLEMS)
def test_data_that_cannot_be_right_is_a_problem(sentence: str) -> None:
    assert sentence in health(PROBLEMS[sentence]).problems


def test_a_ledger_that_names_another_dose_is_a_problem() -> None:
    rows = [r.model_copy(update={"dose": 0.3}) if r.window == 0 else r for r in BLOCK.ledger]
    (problem,) = health(changed(RUN, "block1", ledger=rows)).problems

    assert "ledger rows name a window or dose that was not injected, first 7.block1." in problem


def test_requests_moved_into_or_out_of_a_window_are_a_problem() -> None:
    window, other = WINDOWS[2], WINDOWS[3]
    moved = [
        r.model_copy(update={"window": window.window, "dose": window.dose}) if r.window == other.window else r
        for r in BLOCK.ledger
    ]
    left_out = [r.model_copy(update={"window": None, "dose": None}) if r.window == 2 else r for r in BLOCK.ledger]

    for ledger in (moved, left_out):
        problems = health(changed(RUN, "block1", ledger=ledger)).problems
        assert any("arrived at another time than the window the ledger gives them" in p for p in problems)


GAPS: dict[str, RunData] = {
    "baseline: its 3 windows cannot be placed: no `started` event in the timeline tells the warm-up": without(
        "started", phase="baseline"
    ),
    "window 0 of slow-wire was held for 1.5s of 2s": first(off=WINDOWS[0].on + 1.5),
    "window 0 of slow-wire was held for 0s of 2s": first(off=WINDOWS[0].on - 1),
    "block1: the gateway halted the run: error-rate": changed(
        RUN,
        "block1",
        timeline=[*BLOCK.timeline, TimelineEvent(at=30, event="halt", phase="block1", detail={"reason": "error-rate"})],
    ),
    "window 4 of slow-wire did not end by removal but: expired": events(
        lambda e: e.model_copy(update={"detail": {"why": "expired"}}) if (e.event, e.window) == ("off", 4) else e
    ),
    "block1: no recovery was observed after the last window": injected(()),
}


@pytest.mark.parametrize("sentence", GAPS)
def test_what_was_planned_and_is_missing_is_a_gap(sentence: str) -> None:
    assert sentence in health(GAPS[sentence]).gaps


def test_an_empty_window_is_a_gap() -> None:
    run = simulate(conditions=Conditions())
    gone = {row.request for row in BLOCK.ledger if row.window == 5}
    silent = changed(
        run,
        "block1",
        observations=[o for o in BLOCK.observations if o.request not in gone],
        ledger=[r for r in BLOCK.ledger if r.request not in gone],
    )

    assert health(silent).gaps == ("block1: 1 windows of the sweep hold no request, first window 5 of slow-wire",)


def test_a_halt_within_a_window_leaves_gaps_and_no_problems() -> None:
    """What the gateway and inject leave behind when a stop condition halts the run in window 9."""
    halt = WINDOWS[9].on + 1
    windows = (*WINDOWS[:9], WINDOWS[9].model_copy(update={"off": halt, "applied": 0}))
    timeline = [e for e in BLOCK.timeline if e.at < halt or e.event in ("injected", "done", "subject")]
    timeline.append(TimelineEvent(at=halt, event="halt", phase="block1", detail={"reason": "errors"}))
    timeline.append(
        TimelineEvent(at=halt, event="off", phase="block1", fault="slow-wire", window=9, detail={"why": "halted"})
    )
    ledger = [r.model_copy(update={"window": None, "dose": None}) if r.seen >= halt else r for r in BLOCK.ledger]
    found = health(changed(injected(windows, halted="errors"), "block1", timeline=timeline, ledger=ledger))

    assert found.problems == ()
    assert found.gaps == (
        "window 9 of slow-wire was held for 1s of 2s",
        "window 9 of slow-wire did not end by removal but: halted",
    )


@pytest.mark.parametrize("phase", ["baseline", "block1"])
def test_load_that_ends_at_a_halt_is_a_gap_and_no_problem(phase: str) -> None:
    """measure ends the load at a halt and reads the timeline before inject has noticed."""
    data = RUN.phases[phase]
    halt = min(event.at for event in data.timeline if event.event == "started") + 1
    kept = [event for event in data.timeline if event.event == "started"]
    ends = [TimelineEvent(at=halt, event=name, phase=phase, detail={"reason": "slow"}) for name in ("halt", "done")]
    subjects = [event for event in data.timeline if event.event == "subject"]
    run = RUN if phase == "baseline" else injected((), halted="slow")
    found = health(changed(run, phase, timeline=[*kept, *ends, *subjects], ledger=[], observations=[]))

    assert [problem for problem in found.problems if problem.startswith(phase)] == []
    assert ("baseline: the gateway halted the run: slow" in found.gaps) is (phase == "baseline")


def test_a_declined_injection_is_no_problem_of_the_data() -> None:
    declined = injected((), status=RUN.injections["block1"].status.model_copy(update={"status": "declined"}))
    quiet = changed(
        declined,
        "block1",
        observations=[],
        ledger=[],
        timeline=[e for e in BLOCK.timeline if e.event not in ("on", "off", "proof")],
    )

    assert health(quiet).problems == ()


def untouched(*doses: float) -> RunData:
    """The run in which no request was touched at any of `doses`."""
    rows = [r.model_copy(update={"applied": False}) if r.dose in doses else r for r in BLOCK.ledger]
    windows = tuple(w.model_copy(update={"applied": 0}) if w.dose in doses else w for w in WINDOWS)
    return changed(injected(windows), "block1", ledger=rows)


def test_a_judged_dose_at_which_nothing_was_touched_is_a_gap() -> None:
    found = health(untouched(0.1, 0.22))

    assert found.problems == ()
    assert found.gaps == tuple(
        f"slow-wire: no request was touched at dose {dose}; hold it longer or raise the share"
        for dose in ("100ms", "220ms")
    )


def test_a_dose_that_only_explores_may_touch_nothing() -> None:
    run = untouched(0.22)
    first_token = stream_spec(fits=(), objectives=OBJECTIVES[:1])

    assert health(replace(run, spec=first_token)).gaps == ()


def test_a_fault_that_touched_nothing_at_all_is_left_to_its_witness() -> None:
    assert health(untouched(0.1, 0.18, 0.22, 0.26, 0.32)).gaps == ()


def test_a_prompt_without_a_whole_answer_in_the_baseline_is_a_gap() -> None:
    prompt = BLOCK.observations[0].prompt
    failed = [
        seen.model_copy(update={"outcome": "cut"}) if seen.prompt == prompt else seen
        for seen in RUN.phases["baseline"].observations
    ]

    assert health(changed(RUN, "baseline", observations=failed)).gaps == (
        f"exact-match: the baseline has no whole answer to 1 of the prompts met later, first {prompt}; "
        "a longer baseline covers every prompt of the set",
    )
