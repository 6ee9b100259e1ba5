"""A verdict of `pass` needs all of the data: whatever is deleted, altered or left out, the run does not pass any more.

The files are guarded by their digests; the data itself, should someone write it anew, by what the client, the gateway,
the injection and the plan must agree on.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from simulated_run import (
    OBJECTIVES,
    RUN_ID,
    SUBJECT,
    Conditions,
    changed,
    passing_run,
    read_run,
    simulate,
    stream_spec,
    verdict_of,
    write_run,
)

from chaosgate.artifacts import OBSERVATIONS, Identity, write_lines
from chaosgate.errors import ArtifactError
from chaosgate.estimate import PhaseData, RunData
from chaosgate.judge import judge
from chaosgate.model.observation import Observation
from chaosgate.model.result import InjectedWindow, Verdict

RUN = passing_run()
BLOCK = RUN.phases["block1"]
WINDOWS = RUN.injections["block1"].windows
FILES = (
    "spec.json",
    "deploy/endpoint.json",
    *(
        f"{phase}-measure/{name}.jsonl"
        for phase in RUN.phases
        for name in ("observations", "ledger", "timeline", "gauges")
    ),
    "block1-inject/injection.json",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run")
    write_run(RUN, path)
    return path


def concluded(folder: Path) -> Verdict:
    """The verdict on the files in `folder`, as a run ends in it: what cannot be read is a problem."""
    try:
        run = read_run(folder)
    except ArtifactError as error:
        return judge(RUN.spec, None, {}, None, None, [str(error)])
    return verdict_of(run)


def concluded_with(folder: Path, file: str, data: bytes | None) -> Verdict:
    """The verdict when `file` holds `data` instead (None: is gone); the file is put back."""
    path = folder / file
    whole = path.read_bytes()
    try:
        if data is None:
            path.unlink()
        else:
            path.write_bytes(data)
        return concluded(folder)
    finally:
        path.write_bytes(whole)


def test_the_untouched_run_passes(folder: Path) -> None:
    assert concluded(folder).verdict == "pass"


def test_all_files_of_the_run_are_looked_at(folder: Path) -> None:
    assert sorted(FILES) == sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("data", [None, b"", b"\n", b"{}\n", b"null\n"])
def test_a_missing_or_hollow_file(folder: Path, file: str, data: bytes | None) -> None:
    found = concluded_with(folder, file, data)

    assert found.verdict == "error"
    assert file in found.reasons[0].text


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("other", [{"run": "another-run"}, {"spec": "sha256:" + "0" * 64}])
def test_a_file_of_another_run_or_spec(folder: Path, file: str, other: dict[str, str], tmp_path: Path) -> None:
    ours = {"run": RUN_ID, "spec": RUN.spec.digest()}
    (key, value), *_ = other.items()
    foreign = (folder / file).read_bytes().replace(f'"{ours[key]}"'.encode(), f'"{value}"'.encode())

    assert foreign != (folder / file).read_bytes()
    assert concluded_with(folder, file, foreign).verdict == "error"


def _delete(lines: list[bytes], at: int) -> list[bytes]:
    return [*lines[:at], *lines[at + 1 :]]


def _duplicate(lines: list[bytes], at: int) -> list[bytes]:
    return [*lines[: at + 1], *lines[at:]]


def _truncate(lines: list[bytes], at: int) -> list[bytes]:
    return [*lines[:at], lines[at][: len(lines[at]) // 2]]


def _swap(lines: list[bytes], at: int) -> list[bytes]:
    return [*lines[:at], *reversed(lines[at : at + 2]), *lines[at + 2 :]]


OPERATIONS: tuple[Callable[[list[bytes], int], list[bytes]], ...] = (_delete, _duplicate, _truncate, _swap)
pytestmark = pytest.mark.slow
SAMPLED = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.thorough
@SAMPLED
@given(data=st.data())
def test_any_line_deleted_doubled_cut_or_swapped(folder: Path, data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(FILES))
    lines = (folder / file).read_bytes().splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1))
    altered = b"".join(data.draw(st.sampled_from(OPERATIONS))(lines, at))

    assert _says_the_same(file, folder, altered) or concluded_with(folder, file, altered).verdict == "error"


def test_a_key_that_stands_twice_is_refused(folder: Path) -> None:
    lines = (folder / "spec.json").read_bytes().splitlines(keepends=True)
    found = concluded_with(folder, "spec.json", b"".join(_duplicate(lines, 1)))

    assert found.verdict == "error"
    assert "the key 'schema' stands twice in one object" in found.reasons[0].text


@pytest.mark.thorough
@SAMPLED
@given(data=st.data())
def test_any_byte_flipped(folder: Path, data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(FILES))
    whole = bytearray((folder / file).read_bytes())
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))

    assert _says_the_same(file, folder, bytes(whole)) or concluded_with(folder, file, bytes(whole)).verdict == "error"


def _says_the_same(file: str, folder: Path, data: bytes) -> bool:
    """Whether nothing was altered: not a byte of JSONL, of a document nothing but white space or the order of keys."""
    whole = (folder / file).read_bytes()
    if not file.endswith(".json"):
        return data == whole
    try:
        return _read(data) == _read(whole)
    except ValueError:
        return False


def _read(data: bytes) -> Any:
    """The document with every pair of its objects: a key that stands twice is no equal of one that stands once."""
    return json.loads(data, object_pairs_hook=lambda pairs: sorted(pairs, key=lambda pair: str(pair[0])))


@pytest.mark.thorough
@SAMPLED
@given(data=st.data())
def test_any_digit_edited(folder: Path, data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(FILES))
    whole = bytearray((folder / file).read_bytes())
    at = data.draw(st.sampled_from([i for i, byte in enumerate(whole[:20_000]) if chr(byte).isdigit()]))
    whole[at] = ord("9") - (whole[at] - ord("0"))

    assert concluded_with(folder, file, bytes(whole)).verdict == "error"


def test_a_file_cut_short_and_ended_anew_is_seen_by_the_others(folder: Path, tmp_path: Path) -> None:
    """The digest is right; what is missing shows in the files that were written by others."""
    copy = tmp_path / "observations.jsonl"
    write_lines(copy, OBSERVATIONS, Identity(RUN_ID, RUN.spec.digest()), BLOCK.observations[:-100])

    found = concluded_with(folder, "block1-measure/observations.jsonl", copy.read_bytes())

    assert found.verdict == "error"
    assert any("are in the ledger and were not observed" in reason.text for reason in found.reasons)


# What follows alters the data itself, as if its files had been written that way.


@cache
def judged_requests() -> tuple[str, ...]:
    return tuple(seen.request for phase in RUN.phases.values() for seen in phase.observations)


def _phase_of(request: str) -> PhaseData:
    return RUN.phases[request.split(".")[1]]


def _without_observation(request: str) -> RunData:
    phase = _phase_of(request)
    return changed(RUN, phase.phase, observations=[o for o in phase.observations if o.request != request])


def _without_row(request: str) -> RunData:
    phase = _phase_of(request)
    return changed(RUN, phase.phase, ledger=[row for row in phase.ledger if row.request != request])


def _doubled(request: str) -> RunData:
    phase = _phase_of(request)
    again = [o for o in phase.observations if o.request == request]
    return changed(RUN, phase.phase, observations=[*phase.observations, *again])


def _row_doubled(request: str) -> RunData:
    phase = _phase_of(request)
    again = [row for row in phase.ledger if row.request == request]
    return changed(RUN, phase.phase, ledger=[*phase.ledger, *again])


@pytest.mark.thorough
@pytest.mark.parametrize("change", [_without_observation, _without_row, _doubled, _row_doubled])
@settings(max_examples=15)
@given(request=st.sampled_from(judged_requests()))
def test_any_request_left_out_or_doubled(change: Callable[[str], RunData], request: str) -> None:
    assert verdict_of(change(request)).verdict == "error"


def _events(phase: str) -> Iterator[tuple[str, int]]:
    """Every event but proof, which judge does not read: it counts the ledger and reads the injection's own number."""
    for index, event in enumerate(RUN.phases[phase].timeline):
        if event.event != "proof":
            yield phase, index


@pytest.mark.thorough
@settings(max_examples=40)
@given(event=st.sampled_from([*_events("baseline"), *_events("block1")]))
def test_any_event_left_out(event: tuple[str, int]) -> None:
    phase, index = event
    timeline = list(RUN.phases[phase].timeline)

    assert verdict_of(changed(RUN, phase, timeline=[*timeline[:index], *timeline[index + 1 :]])).verdict == "error"


@pytest.mark.parametrize("index", range(len(WINDOWS)))
def test_any_window_left_out(index: int) -> None:
    """Its requests, its ledger rows, its events and its injection: as if it had never been."""
    window = WINDOWS[index]
    gone = {row.request for row in BLOCK.ledger if row.window == window.window}
    run = changed(
        RUN,
        "block1",
        observations=_renumbered([o for o in BLOCK.observations if o.request not in gone]),
        ledger=_renumbered([row for row in BLOCK.ledger if row.request not in gone]),
        timeline=[event for event in BLOCK.timeline if event.window != window.window],
    )
    kept = tuple(each for each in WINDOWS if each is not window)

    assert verdict_of(_injected(run, kept)).verdict == "inconclusive"


def _renumbered(items: list[Observation]) -> list[Observation]:
    """Requests numbered anew without a gap, so that only the plan tells that some are missing."""
    return [item.model_copy(update={"request": f"7.block1.{number}"}) for number, item in enumerate(items)]


def _injected(run: RunData, windows: tuple[InjectedWindow, ...], **more: object) -> RunData:
    injection = run.injections["block1"].model_copy(update={"windows": windows, **more})
    return replace(run, injections={"block1": injection})


@pytest.mark.parametrize("index", range(len(WINDOWS)))
def test_any_window_emptied(index: int) -> None:
    gone = {row.request for row in BLOCK.ledger if row.window == WINDOWS[index].window}
    run = changed(
        RUN,
        "block1",
        observations=_renumbered([o for o in BLOCK.observations if o.request not in gone]),
        ledger=_renumbered([row for row in BLOCK.ledger if row.request not in gone]),
    )

    assert verdict_of(run).verdict in ("inconclusive", "error")


def _all(run: RunData, phase: str, **update: object) -> RunData:
    seen = [o.model_copy(update=update) for o in run.phases[phase].observations]
    return changed(run, phase, observations=seen)


def _dose_one(**update: object) -> RunData:
    """The run with one request of the smallest dose changed."""
    name = next(row.request for row in BLOCK.ledger if row.dose == 0.1)
    seen = [o.model_copy(update=update) if o.request == name else o for o in BLOCK.observations]
    return changed(RUN, "block1", observations=seen)


def _given_up(dose: float) -> RunData:
    """The slower half of the requests at `dose` ends in a timeout: those that are answered are fast."""
    at_dose = {row.request for row in BLOCK.ledger if row.dose == dose}
    seen = [
        o.model_copy(update={"outcome": "timeout", "first": None, "tokens": ()})
        if o.request in at_dose and int(o.request.rsplit(".", 1)[1]) % 2
        else o
        for o in BLOCK.observations
    ]
    return changed(RUN, "block1", observations=seen)


def _broken_afterwards() -> RunData:
    """Nothing but the steady state looks at the whole answers of the recovery, of which every other one is lost."""
    off = max(window.off for window in WINDOWS)
    later = {row.request for row in BLOCK.ledger if row.seen > off}
    rate = {row.request for row in BLOCK.ledger if row.request in later and int(row.request.rsplit(".", 1)[1]) % 2}
    seen = [o.model_copy(update={"outcome": "cut"}) if o.request in rate else o for o in BLOCK.observations]
    return changed(replace(RUN, spec=stream_spec(objectives=OBJECTIVES[:3])), "block1", observations=seen)


def _untouched(dose: float) -> RunData:
    rows = [row.model_copy(update={"applied": False}) if row.dose == dose else row for row in BLOCK.ledger]
    windows = tuple(w.model_copy(update={"applied": 0}) if w.dose == dose else w for w in WINDOWS)
    return changed(_injected(RUN, windows), "block1", ledger=rows)


SPOILT: dict[str, Callable[[], RunData]] = {
    "no baseline": lambda: replace(RUN, phases={"block1": BLOCK}),
    "no block": lambda: replace(RUN, phases={"baseline": RUN.phases["baseline"]}),
    "no phases": lambda: replace(RUN, phases={}),
    "no injection": lambda: replace(RUN, injections={}),
    "nothing injected": lambda: _injected(RUN, ()),
    "no controls": lambda: _injected(RUN, tuple(window for window in WINDOWS if window.dose > 0)),
    "only controls": lambda: _injected(RUN, tuple(window for window in WINDOWS if window.dose == 0)),
    "a dose less": lambda: _injected(RUN, tuple(window for window in WINDOWS if window.dose != 0.22)),
    "halted": lambda: _injected(RUN, WINDOWS, halted="error-rate > 50 %"),
    "another subject": lambda: replace(RUN, subject=SUBJECT.model_copy(update={"model": "other"})),
    "a late client": lambda: simulate(conditions=Conditions(lag=0.06)),
    "a fault that did not bite": lambda: simulate(conditions=Conditions(bites=0.0)),
    "a fault that stayed": lambda: simulate(conditions=Conditions(slow_recovery=60)),
    "a drifting service": lambda: simulate(conditions=Conditions(drift=0.5)),
    "no answers": lambda: simulate(conditions=Conditions(failing=1.0)),
    "no connections": lambda: simulate(conditions=Conditions(refused=1.0)),
    "a service that is always slow": lambda: simulate(conditions=Conditions(service=0.4)),
    "wrong answers": lambda: simulate(conditions=Conditions(wrong=0.05)),
    "an answer at no time": lambda: _dose_one(first=math.nan),
    "an answer at an infinite time": lambda: _dose_one(first=math.inf, end=math.inf),
    "a request at no time": lambda: _dose_one(scheduled=math.nan),
    "no first tokens": lambda: _all(RUN, "block1", first=None),
    "no first tokens before": lambda: _all(RUN, "baseline", first=None),
    "a tenth of the requests lost": lambda: simulate(conditions=Conditions(failing=0.1)),
    "slow requests given up instead of answered": lambda: _given_up(0.18),
    "a target that an early dose has broken": lambda: _broken_afterwards(),
    "a dose that touched nothing": lambda: _untouched(0.1),
    "only warm-up before": lambda: _all(RUN, "baseline", warmup=True),
    "only warm-up": lambda: _all(RUN, "block1", warmup=True),
    "no clean arm": lambda: _all(RUN, "baseline", prompt="recall-24/99"),
}


@pytest.mark.parametrize("what", SPOILT)
def test_a_spoilt_run_does_not_pass(what: str) -> None:
    found = verdict_of(SPOILT[what]())

    assert found.verdict not in ("pass", "warn")
    assert found.exit_code != 0


@pytest.mark.thorough
@settings(max_examples=25)
@given(dropped=st.sets(st.sampled_from(judged_requests()), min_size=1, max_size=400))
def test_any_requests_lost_on_both_sides(dropped: set[str]) -> None:
    """Neither client nor gateway has them, but the numbers of those that follow show the gap."""
    run = RUN
    for name, phase in RUN.phases.items():
        kept = [o for o in phase.observations if o.request not in dropped]
        if kept and _is_prefix(kept):
            return
        run = changed(run, name, observations=kept, ledger=[r for r in phase.ledger if r.request not in dropped])

    assert verdict_of(run).verdict != "pass"


def _is_prefix(kept: list[Observation]) -> bool:
    """Only the last requests of a phase are missing: then nothing is missing before the end of the load."""
    return int(kept[-1].request.rsplit(".", 1)[1]) == len(kept) - 1 and len(kept) > 0
