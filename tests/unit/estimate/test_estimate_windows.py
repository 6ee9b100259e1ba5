from __future__ import annotations

from dataclasses import replace

import pytest
from simulated_run import LATENCY, Conditions, changed, passing_run, simulate, stream_spec

from chaosgate.estimate.windows import clean_arm, place_baseline, place_requests
from chaosgate.model.blocks import SETTLE

RUN = passing_run()
PLACED = place_requests(RUN)


def test_the_baseline_is_cut_after_its_warm_up() -> None:
    starts = [window.start for window in PLACED.baseline]

    # Load starts at 2 s on the gateway's clock, the warm-up takes 5 s, a window holds 4 s.
    assert starts == [7.0, 11.0, 15.0]
    samples = [sample for window in PLACED.baseline for sample in window.samples]
    assert len(samples) > 200
    assert not any(sample.observation.warmup for sample in samples)


def test_a_window_holds_every_request_that_arrived_in_it() -> None:
    injected = {window.window: window for window in RUN.injections["block1"].windows}
    seen = {row.request: row.seen for row in RUN.phases["block1"].ledger}

    assert len(PLACED.sweeps["slow-wire"]) == 26
    for window in PLACED.sweeps["slow-wire"]:
        expected = sorted(
            name for name, at in seen.items() if injected[window.index].on <= at < injected[window.index].off
        )
        assert sorted(sample.observation.request for sample in window.samples) == expected


def test_controls_and_doses() -> None:
    assert [window.index for window in PLACED.controls("slow-wire")] == [0, 1, 12, 13, 24, 25]
    assert {window.place for window in PLACED.controls("slow-wire")} == {"control"}
    low = PLACED.at_doses("slow-wire", lambda dose: 0 < dose <= 0.18)
    assert len(low) == 8
    assert {window.place for window in low} == {"dose"}


def test_the_windows_of_a_dose_are_its_own_whether_it_is_written_as_a_whole_number_or_not() -> None:
    windows = place_requests(passing_run())
    sweep = tuple(
        replace(window, dose=dose) for window, dose in zip(windows.sweeps["slow-wire"], (1, 2.0, 1.0, 2), strict=False)
    )
    placed = replace(windows, sweeps={"slow-wire": sweep})

    assert placed.at_dose("slow-wire", 1) == placed.at_dose("slow-wire", 1.0) == (sweep[0], sweep[2])
    assert placed.alike("slow-wire")[-2:] == ((sweep[0], sweep[2]), (sweep[1], sweep[3]))


def test_recovery_starts_a_settle_time_after_the_last_off() -> None:
    (recovery,) = PLACED.recoveries
    starts = [round(window.start - recovery.off, 9) for window in recovery.windows]

    assert recovery.off == max(window.off for window in RUN.injections["block1"].windows)
    assert starts == [SETTLE + 2 * count for count in range(7)]
    assert len(PLACED.recovered("slow-wire", after=4)) == 5
    assert PLACED.recovered("another") == ()
    assert len(PLACED.recovered(None)) == 7


def test_requests_between_windows_are_counted_and_left_out() -> None:
    inside = sum(
        len(window.samples)
        for part in (PLACED.baseline, PLACED.sweeps["slow-wire"], PLACED.recoveries[0].windows)
        for window in part
    )
    judged = sum(not seen.warmup for phase in RUN.phases.values() for seen in phase.observations)

    assert PLACED.straddlers == judged - inside
    assert PLACED.straddlers > 100


def test_refused_requests_fall_into_windows_too() -> None:
    placed = place_requests(simulate(conditions=Conditions(refused=0.1)))

    for part in (placed.baseline, placed.sweeps["slow-wire"], placed.recoveries[0].windows):
        outcomes = [sample.observation.outcome for window in part for sample in window.samples]
        assert 0.05 < outcomes.count("refused") / len(outcomes) < 0.15


def test_two_faults_have_windows_of_their_own() -> None:
    second = {**LATENCY, "name": "slower-wire"}
    placed = place_requests(simulate(stream_spec(faults=(LATENCY, second), fits=(), objectives=STEADY)))

    assert [w.index for w in placed.sweeps["slow-wire"]] == list(range(26))
    assert [w.index for w in placed.sweeps["slower-wire"]] == list(range(26, 52))
    assert all(window.samples for sweep in placed.sweeps.values() for window in sweep)
    assert len(placed.undisturbed) == 3


STEADY = ({"name": "steady", "sli": "error-rate", "bound": "<= 5 %", "at": "baseline"},)


def test_the_clean_arm_is_the_first_whole_answer_after_the_warm_up() -> None:
    requests = PLACED.requests["baseline"]
    clean = {prompt: seen.text for prompt, seen in clean_arm(requests).items()}
    judged = [r for r in requests if not r.observation.warmup]
    prompt = judged[0].observation.prompt
    failed = replace(judged[0], observation=judged[0].observation.model_copy(update={"outcome": "cut", "text": "half"}))
    again = next(r for r in judged[1:] if r.observation.prompt == prompt)
    other = replace(again, observation=again.observation.model_copy(update={"text": "other"}))

    assert len(clean) == 24
    assert clean_arm([failed, other, again])[prompt].text == "other"
    assert clean_arm(r for r in requests if r.observation.warmup) == {}


def test_a_prompt_the_baseline_lacks_has_no_clean_arm() -> None:
    seen = [o.model_copy(update={"prompt": "recall-24/99"}) for o in RUN.phases["block1"].observations]
    placed = place_requests(changed(RUN, "block1", observations=seen))

    assert {sample.clean for window in placed.sweeps["slow-wire"] for sample in window.samples} == {None}


@pytest.mark.parametrize("phase", ["baseline", "block1"])
def test_a_missing_phase_is_a_problem_and_not_an_exception(phase: str) -> None:
    rest = {name: data for name, data in RUN.phases.items() if name != phase}

    placed = place_requests(replace(RUN, phases=rest))

    assert f"{phase}: there is no data; did its measure step finish?" in placed.problems


def test_without_an_injection_there_are_no_windows() -> None:
    placed = place_requests(replace(RUN, injections={}))

    assert placed.sweeps == {"slow-wire": ()}
    assert placed.recoveries[0].windows == ()


def test_the_baseline_alone_is_cut_the_same_way() -> None:
    assert place_baseline(RUN.spec, RUN.phases["baseline"]) == PLACED.baseline
