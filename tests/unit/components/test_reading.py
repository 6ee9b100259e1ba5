"""A run read back from its folder: everything that is there, and by name everything that is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from finished_run import finish, measured, seal_run
from judged_run import RUN, passing
from simulated_run import RUN_ID

from chaosgate.artifacts import RECORD, Identity, write_document, write_spec
from chaosgate.components.deploy import open_record
from chaosgate.components.reading import read_results, read_view, run_files, run_of
from chaosgate.errors import ArtifactError, UsageError


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """A whole run, from its measurement to its seal."""
    return finish(measured(tmp_path / RUN_ID))


def problems(folder: Path) -> dict[str, str]:
    """The files that cannot be read, and why."""
    return {file.path: str(file.problem) for file in read_view(folder.name, folder).missing}


def test_a_whole_run_is_read_back(finished: Path) -> None:
    view = read_view(RUN_ID, finished)
    assert (view.run, view.verdict.verdict, view.record.verdict) == (RUN_ID, "pass", "pass")
    assert view.estimates == passing()
    assert view.fits is not None
    assert view.injections.keys() == {"block1"}
    assert {event.phase for event in view.timeline} == {"baseline", "block1"}
    assert (view.sealed_clean, view.exit_code, view.ended) == (True, 0, True)


def test_every_file_that_is_not_there_is_named(finished: Path) -> None:
    assert problems(finished) == {
        "deploy/record.json": "missing",
        "deploy/status.json": "missing",
        "baseline-measure/status.json": "missing",
        "block1-measure/status.json": "missing",
        "block1-inject/status.json": "missing",
        "conclude/report.html": "missing",
        "conclude/summary.md": "missing",
        "conclude/status.json": "missing",
    }


def test_a_file_that_is_there_is_no_problem(finished: Path) -> None:
    listed = {file.path: file.problem for file in read_view(RUN_ID, finished).files}
    for path in ("spec.json", "block1-measure/observations.jsonl", "conclude/fit.json", "cleanup/cleanup.json"):
        assert listed[path] is None


def test_a_file_that_was_altered_or_left_empty_says_so(finished: Path) -> None:
    file = finished / "conclude" / "estimates.json"
    file.write_text(file.read_text().replace("ttft", "tftt", 1))
    (finished / "conclude" / "fit.json").write_text("")
    found = problems(finished)
    assert found["conclude/estimates.json"].startswith("was altered after it was written")
    assert found["conclude/fit.json"] == "empty: there was nothing to write"
    view = read_view(RUN_ID, finished)
    assert (view.estimates, view.fits) == (None, None)


def test_a_timeline_that_is_cut_leaves_the_other_phase(finished: Path) -> None:
    file = finished / "block1-measure" / "timeline.jsonl"
    file.write_bytes(file.read_bytes()[:200])
    assert {event.phase for event in read_view(RUN_ID, finished).timeline} == {"baseline"}


def test_results_are_read_without_what_was_measured(finished: Path) -> None:
    for name in ("observations", "ledger", "timeline", "gauges"):
        (finished / "block1-measure" / f"{name}.jsonl").unlink()
    view = read_results(RUN_ID, finished)
    assert (view.timeline, view.files) == ((), ())
    assert view.estimates == passing()


def test_a_run_that_ended_before_it_was_judged_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "early"
    write_spec(folder / "spec.json", RUN.spec)
    identity = Identity("early", RUN.spec.digest())
    write_document(folder / "deploy" / "record.json", RECORD, identity, open_record(RUN.spec, None))
    view = read_view("early", folder)
    assert (view.verdict.verdict, view.verdict.reasons[0].text) == ("error", "not finished")
    assert (view.estimates, view.seal, view.exit_code) == (None, None, 4)
    assert problems(folder)["conclude/verdict.json"] == "missing"


def test_a_run_that_ended_before_it_had_a_record_began_with_its_spec(tmp_path: Path) -> None:
    folder = tmp_path / "first"
    write_spec(folder / "spec.json", RUN.spec)
    os.utime(folder / "spec.json", (1_772_357_400, 1_772_357_400))
    view = read_view("first", folder)
    assert view.verdict.verdict == "error"
    assert view.verdict.reasons[0].text == "there is no record that can be read: the run ended before it had one"
    assert (view.record.started, view.record.finished) == ("2026-03-01T09:30:00+00:00", None)


def test_a_run_whose_deploy_never_opened_a_record_has_that_of_its_conclusion(finished: Path) -> None:
    assert not (finished / "deploy" / "record.json").exists()
    assert read_results(RUN_ID, finished).record.finished == "2026-03-01T09:31:38+00:00"


def test_without_its_spec_a_run_cannot_be_read(finished: Path) -> None:
    (finished / "spec.json").unlink()
    with pytest.raises(ArtifactError, match=r"spec\.json: cannot be read: No such file or directory"):
        read_view(RUN_ID, finished)


# the seal


def test_a_run_without_a_seal_is_not_clean(finished: Path) -> None:
    (finished / "cleanup" / "cleanup.json").unlink()
    view = read_results(RUN_ID, finished)
    assert (view.seal, view.exit_code) == (None, 4)


def test_an_unclean_seal_keeps_its_words(finished: Path) -> None:
    seal_run(finished, clean=False, left=("engine (process 7)",))
    view = read_results(RUN_ID, finished)
    assert view.seal is not None
    assert (view.seal.left, view.exit_code) == (("engine (process 7)",), 4)


def test_a_seal_of_another_record_does_not_hold(finished: Path) -> None:
    view = read_results(RUN_ID, finished)
    changed = view.record.model_copy(update={"environment": {"python": "0"}})
    write_document(finished / "conclude" / "record.json", RECORD, Identity(RUN_ID, RUN.spec.digest()), changed)
    seal = read_results(RUN_ID, finished).seal
    assert seal is not None
    assert (seal.clean, seal.left) == (False, ("the record is not the one that was sealed",))


def test_a_seal_that_cannot_be_read_is_unclean(finished: Path) -> None:
    (finished / "cleanup" / "cleanup.json").write_text("{}")
    seal = read_results(RUN_ID, finished).seal
    assert seal is not None
    assert (seal.clean, seal.left) == (False, ("cleanup.json cannot be read",))


# which run it is


def test_a_folder_that_was_moved_keeps_its_run(finished: Path, tmp_path: Path) -> None:
    moved = finished.rename(tmp_path / "downloaded")
    assert run_of(moved) == RUN_ID
    assert read_results(run_of(moved), moved).sealed_clean


def test_a_run_without_a_record_is_called_as_its_folder(tmp_path: Path) -> None:
    write_spec(tmp_path / "spec.json", RUN.spec)
    assert run_of(tmp_path) == tmp_path.name


def test_a_folder_without_a_spec_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        run_of(tmp_path)
    assert str(error.value) == f"{tmp_path}: holds no run (spec.json is missing); name a run, or the folder of one"


def test_a_step_of_each_component_is_looked_at(finished: Path) -> None:
    steps = {file.step for file in run_files(RUN.spec, finished, Identity(RUN_ID, None))}
    assert steps == {"", "deploy", "baseline-measure", "block1-measure", "block1-inject", "conclude", "cleanup"}
