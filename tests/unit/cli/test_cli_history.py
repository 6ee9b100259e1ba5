"""`chaosgate gate` and `chaosgate history` on finished runs: answers, exit codes, where earlier runs are looked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from finished_run import finish, seal_run
from judged_run import passing

from chaosgate.artifacts import RECORD, Identity, read_document, write_document
from chaosgate.cli.main import chaosgate
from chaosgate.model.result import Estimates


def call(*words: object) -> Result:
    return CliRunner().invoke(chaosgate, [str(word) for word in words])


def at_low_doses(value: float) -> Estimates:
    """The passing run's estimates with another P95 at low doses."""
    first, *rest = passing().objectives
    judged = first.estimates[0].model_copy(update={"value": value, "lower": value - 0.002, "upper": value + 0.002})
    return passing().model_copy(update={"objectives": (first.model_copy(update={"estimates": (judged,)}), *rest)})


def make(state: Path, run: str, value: float, day: int, clean: bool = True) -> None:
    """A run that began on that day."""
    folder = finish(state / "runs" / run, estimates=at_low_doses(value), seal=False)
    file = folder / "conclude" / "record.json"
    identity = Identity(run, None)
    record = read_document(file, RECORD, identity).model_copy(update={"started": f"2026-03-{day:02}T09:30:00+00:00"})
    digest = json.loads(file.read_text())["spec"]
    file.unlink()
    write_document(file, RECORD, Identity(run, digest), record)
    seal_run(folder, clean=clean)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Five ordinary runs, one like them and one that is slower."""
    for index, value in enumerate((0.21, 0.214, 0.209, 0.212, 0.211)):
        make(tmp_path, f"old-{index}", value, index + 1)
    make(tmp_path, "like-them", 0.2125, 20)
    make(tmp_path, "slower", 0.26, 21)
    return tmp_path


def test_an_ordinary_run_passes_the_gate(state: Path) -> None:
    said = call("gate", "like-them", "--state", state)
    assert (said.exit_code, said.stderr) == (0, "")
    assert "history: 5 accepted runs  old-0, old-1, old-2, old-3, old-4" in said.stdout
    assert said.stdout.endswith("own verdict: pass\ngate: pass\n")


def test_a_run_that_passed_by_itself_is_stopped_by_its_history(state: Path) -> None:
    said = call("gate", "slower", "--state", state, "-o", "json")
    found = json.loads(said.stdout)
    assert (said.exit_code, found["own"], found["verdict"]) == (1, "pass", "fail")
    (row,) = (row for row in found["rows"] if row["verdict"] == "fail")
    assert row["text"] == "worse than 99.5 % of further runs would be"


def test_last_says_how_many_runs_count(state: Path) -> None:
    found = json.loads(call("gate", "slower", "--last", 3, "--state", state, "-o", "json").stdout)
    assert [past["run"] for past in found["history"]] == ["old-3", "old-4", "like-them"]


def test_an_unclean_run_answers_4(state: Path) -> None:
    make(state, "unclean", 0.21, 22, clean=False)
    said = call("gate", "unclean", "--state", state)
    assert said.exit_code == 4
    assert "not sealed clean; run: chaosgate cleanup unclean" in said.stdout


def test_an_unknown_run_names_the_nearest(state: Path) -> None:
    said = call("gate", "slowr", "--state", state)
    assert said.exit_code == 2
    assert "did you mean 'slower'?" in said.stderr


def test_history_shows_every_threshold_and_says_what_is_missing_for_a_trend(state: Path) -> None:
    said = call("history", "slower", "--state", state)
    assert said.exit_code == 0
    assert "7 of 7 runs of the spec are sealed clean" in said.stdout
    assert "1 of 5 versions needed have a fitted threshold; no trend is tested" in said.stdout


def test_history_draws_its_plot_and_prints_json(state: Path, tmp_path: Path) -> None:
    file = tmp_path / "drift.svg"
    said = call("history", "slower", "--state", state, "--plot", file, "-o", "json")
    (found,) = json.loads(said.stdout)
    assert len(found["points"]) == 7
    assert file.read_text().startswith("<svg xmlns=")


@pytest.mark.thorough
@pytest.mark.timeout(300)
def test_the_history_may_come_from_mlflow(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mlflow", reason="the extra `mlflow` is not installed")
    monkeypatch.delenv("MLFLOW_RUN_ID", raising=False)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    for run in ("old-0", "old-1", "old-2", "old-3"):
        assert call("record", run, "--state", state).exit_code == 0
    found = json.loads(call("gate", "slower", "--from", "mlflow", "--state", state, "-o", "json").stdout)
    assert [past["run"] for past in found["history"]] == ["old-0", "old-1", "old-2", "old-3"]
    assert found["verdict"] == "fail"


def test_an_mlflow_that_cannot_be_read_is_named_with_what_to_do(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mlflow", reason="the extra `mlflow` is not installed")
    (state / "mlflow.db").write_text("no database at all, but long enough to have a header" * 20)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{state}/mlflow.db")
    said = call("gate", "slower", "--from", "mlflow", "--state", state)
    assert (said.exit_code, said.stdout) == (3, "")
    assert "cannot be reached: file is not a database" in said.stderr
    assert "ask again; without `--from mlflow` the runs of the state directory are looked at" in said.stderr
    assert "chaosgate record" not in said.stderr


def test_a_run_that_passed_and_lost_its_estimates_does_not_pass_the_gate(state: Path) -> None:
    file = state / "runs" / "slower" / "conclude" / "estimates.json"
    file.write_text(file.read_text()[:500])
    said = call("gate", "slower", "--state", state)
    assert (said.exit_code, said.stdout) == (3, "")
    assert "slower: its verdict is pass, but its estimates cannot be read" in said.stderr
