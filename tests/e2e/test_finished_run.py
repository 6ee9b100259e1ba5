"""What can be done with a run that has ended: conclude it again on harmed files, record it later, clean it up again."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from small_drill import Drill, chaosgate, environment, write_spec

from chaosgate.artifacts import RECORDING, VERDICT, read_document
from chaosgate.components.places import step_file
from chaosgate.deploy.processes import python
from chaosgate.model.load import load_spec
from chaosgate.model.result import Verdict
from chaosgate.planner import make_plan
from chaosgate.run.steps import command

# One run is enough for all of them, and each worker of the tests would make its own.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("finished run")]


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Drill, Path, str]:
    """A drill that was left alone, its spec, and what it printed."""
    folder = tmp_path_factory.mktemp("finished")
    spec = write_spec(folder)
    drill = Drill(folder / "state", spec)
    code, output = drill.finish()
    left = drill.close()
    assert left == []
    # A busy machine may delay the load generator, which is inconclusive; anything else is a fault of the drill.
    verdict = drill.verdict()
    assert (code, verdict.verdict) in ((0, "pass"), (3, "inconclusive")), output
    return drill, spec, output


@pytest.fixture
def copy(finished: tuple[Drill, Path, str], tmp_path: Path) -> Path:
    """A state directory with a copy of the run, to be harmed."""
    drill, _, _ = finished
    shutil.copytree(drill.state, tmp_path / "state")
    return tmp_path / "state"


def conclude_again(drill: Drill, spec: Path, state: Path) -> Verdict:
    folder = state / "runs" / drill.run
    step = make_plan(load_spec(spec)).step("conclude")
    done = subprocess.run(
        python(*command(step, drill.run, state, folder)), capture_output=True, text=True, timeout=60, env=environment()
    )
    assert done.returncode == 0, done.stderr
    return read_document(folder / "conclude" / "verdict.json", VERDICT)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-40])


def drop_a_line(file: Path) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:2] + lines[3:]))


def change_a_number(file: Path) -> None:
    text = file.read_text()
    changed = re.sub(r"\.\d\d", ".42", text, count=3)
    assert changed != text
    file.write_text(changed)


def remove(file: Path) -> None:
    file.unlink()


HARMS: list[tuple[Callable[[Path], None], str, str, str]] = [
    (cut, "block1-measure", "observations.jsonl", "ends in the middle of a line"),
    (drop_a_line, "block1-measure", "ledger.jsonl", "was altered after it was written"),
    (change_a_number, "baseline-measure", "observations.jsonl", "was altered after it was written"),
    (change_a_number, "block1-inject", "injection.json", "was altered after it was written"),
    (cut, "deploy", "endpoint.json", "is no JSON document"),
    (cut, "deploy", "record.json", "is no JSON document"),
    (remove, "baseline-measure", "timeline.jsonl", "cannot be read: No such file or directory"),
    (remove, "block1-inject", "status.json", "injection failed in block1: left no status behind"),
]


@pytest.mark.parametrize(("harm", "step", "file", "said"), HARMS, ids=[f"{h[0].__name__} {h[1]} {h[2]}" for h in HARMS])
def test_a_harmed_file_makes_the_verdict_an_error(
    finished: tuple[Drill, Path, str], copy: Path, harm: Callable[[Path], None], step: str, file: str, said: str
) -> None:
    drill, spec, _ = finished
    harm(copy / "runs" / drill.run / step / file)
    verdict = conclude_again(drill, spec, copy)
    assert (verdict.verdict, verdict.exit_code) == ("error", 3)
    assert any(said in reason.text for reason in verdict.reasons if reason.verdict == "error"), verdict.reasons


def test_whole_files_keep_their_verdict(finished: tuple[Drill, Path, str], copy: Path) -> None:
    drill, spec, _ = finished
    assert conclude_again(drill, spec, copy).verdict == drill.verdict().verdict


def test_a_run_without_mlflow_says_how_to_record_it(finished: tuple[Drill, Path, str]) -> None:
    drill, _, output = finished
    install = f"MLflow is not installed; pip install 'chaosgate[mlflow]' and run: chaosgate record {drill.run}"
    assert f"MLflow:  unrecorded: {install}" in output
    again = chaosgate("record", drill.run, "--state", drill.state)
    assert (again.returncode, again.stderr.strip(), again.stdout) == (3, install, "")


@pytest.mark.thorough
def test_an_mlflow_out_of_reach_costs_no_verdict_and_the_run_is_recorded_later(
    start: Callable[..., Drill], tmp_path: Path
) -> None:
    pytest.importorskip("mlflow")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}"
    drill = start(env=environment(mlflow=True, MLFLOW_TRACKING_URI=nobody))
    code, output = drill.finish()
    assert code == drill.verdict().exit_code
    assert f"MLflow:  unrecorded: MLflow at {nobody} cannot be reached: " in output
    assert "then run: chaosgate record " in output
    said = [chaosgate("record", drill.run, "--state", drill.state, env=environment(mlflow=True)) for _ in range(2)]
    assert [done.returncode for done in said] == [0, 0], said[0].stderr
    assert said[0].stdout == said[1].stdout
    recording = drill.document("conclude", RECORDING)
    assert said[0].stdout == f"recorded {drill.run} as MLflow run {recording.mlflow_run}\n"


def test_cleanup_may_be_repeated(finished: tuple[Drill, Path, str], copy: Path) -> None:
    drill, _, _ = finished
    seal = step_file(copy / "runs" / drill.run, "cleanup", "cleanup.json")
    before = seal.read_bytes()
    for _ in range(2):
        done = chaosgate("cleanup", drill.run, "--state", copy)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    assert seal.read_bytes() == before


def test_a_lost_seal_is_made_again(finished: tuple[Drill, Path, str], copy: Path) -> None:
    drill, _, _ = finished
    seal = step_file(copy / "runs" / drill.run, "cleanup", "cleanup.json")
    seal.unlink()
    assert chaosgate("cleanup", drill.run, "--state", copy).returncode == 0
    assert seal.exists()


@pytest.mark.parametrize("verb", ["cleanup", "record"])
def test_an_unknown_run_ends_in_the_nearest_known_one(finished: tuple[Drill, Path, str], verb: str) -> None:
    drill, _, _ = finished
    done = chaosgate(verb, drill.run + "x", "--state", drill.state)
    assert done.returncode == 2
    assert done.stderr == f"{drill.state}: unknown run '{drill.run}x'; did you mean '{drill.run}'?\n"


def test_the_state_directory_keeps_itself_out_of_git(finished: tuple[Drill, Path, str]) -> None:
    drill, _, _ = finished
    assert (drill.state / ".gitignore").read_text() == "*\n"


def test_only_its_user_reads_the_token_of_a_run(finished: tuple[Drill, Path, str]) -> None:
    drill, _, _ = finished
    assert (drill.folder / "gateway.token").stat().st_mode & 0o077 == 0
