"""Runs are recorded in a real MLflow on SQLite and read back through MLflow's own client."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tracked_runs import latency, spec, tracked_run

from chaosgate.errors import TrackingError
from chaosgate.tracking import mlflow_record
from chaosgate.tracking.mlflow_record import record_run, seal_run

pytest.importorskip("mlflow", reason="the extra `mlflow` is not installed")


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One database for the module: making its tables takes MLflow more than a second."""
    return f"sqlite:///{tmp_path_factory.mktemp('mlflow')}/mlflow.db"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Two files of a run, which lie elsewhere under other names, as on a cluster."""
    paths = {"spec.json": tmp_path / "in" / "spec", "block1/injection.json": tmp_path / "in" / "block1-injection"}
    for path in paths.values():
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}\n")
    return paths


@pytest.fixture(autouse=True)
def _no_attachment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_RUN_ID", raising=False)


@pytest.fixture
def make(uri: str, request: pytest.FixtureRequest) -> Callable[..., Any]:
    """A run of a spec whose experiment is this test's own."""

    def build(run: str = "r1", **changed: Any) -> Any:
        return tracked_run(run, **{"spec": spec(uri, experiment=request.node.name.replace("[", "-")), **changed})

    return build


@pytest.fixture
def client(uri: str) -> Any:
    from mlflow.tracking import MlflowClient

    return MlflowClient(uri)


def runs_in(client: Any, tracked: Any) -> list[Any]:
    experiment = client.get_experiment_by_name(tracked.spec.spec.tracking.experiment)
    return list(client.search_runs([experiment.experiment_id]))


@pytest.mark.thorough
def test_a_run_is_a_parent_with_a_child_a_fault(client: Any, make: Any, tmp_path: Path, files: dict[str, Path]) -> None:
    tracked = make(files=files)
    parent_id = record_run(tracked, tmp_path)
    parent = client.get_run(parent_id)
    (child,) = [run for run in runs_in(client, tracked) if run.info.run_id != parent_id]
    assert parent.info.run_name == "r1"
    assert parent.info.status == "FINISHED"
    assert parent.data.params["fault.slow-wire.kind"] == "wire.latency"
    assert parent.data.metrics["baseline/ttft-p95_s"] == 0.125
    assert parent.data.metrics["fit/knee_value"] == 0.2
    assert parent.data.tags["chaosgate.verdict"] == "warn"
    assert parent.data.tags["chaosgate.seal"] == "unsealed"
    assert child.data.tags["mlflow.parentRunId"] == parent_id
    assert [(point.step, point.value) for point in client.get_metric_history(child.info.run_id, "series/dose_s")] == [
        (0, 0.1), (1, 0.1), (2, 0.0), (3, 0.18), (4, 0.18),
    ]  # fmt: skip


def test_files_become_artifacts_in_their_folders(
    client: Any, make: Any, tmp_path: Path, files: dict[str, Path]
) -> None:
    parent = record_run(make(files=files), tmp_path)
    assert [item.path for item in client.list_artifacts(parent)] == ["block1", "spec.json"]
    assert [item.path for item in client.list_artifacts(parent, "block1")] == ["block1/injection.json"]


def test_recording_twice_changes_nothing(client: Any, make: Any, tmp_path: Path) -> None:
    first = record_run(make(), tmp_path)
    before = sorted((run.info.run_id, run.data.to_dictionary()) for run in runs_in(client, make()))
    assert record_run(make(), tmp_path) == first
    after = sorted((run.info.run_id, run.data.to_dictionary()) for run in runs_in(client, make()))
    assert after == before
    assert len(client.get_metric_history(first, "baseline/ttft-p95_s")) == 1


def test_another_run_of_the_same_spec_is_another_mlflow_run(client: Any, make: Any, tmp_path: Path) -> None:
    assert record_run(make("r1"), tmp_path) != record_run(make("r2"), tmp_path)
    assert len(runs_in(client, make())) == 4


def test_a_changed_parameter_is_refused(make: Any, tmp_path: Path) -> None:
    tracked = make()
    record_run(tracked, tmp_path)
    changed = tracked.spec.spec.model_copy(update={"faults": (latency(jitter="9ms"),)})
    with pytest.raises(
        TrackingError, match=r"has parameter fault\.slow-wire\.jitter = '5ms', now '9ms', and MLflow never"
    ):
        record_run(make(spec=tracked.spec.model_copy(update={"spec": changed})), tmp_path)


def test_an_error_is_a_failed_mlflow_run(client: Any, make: Any, tmp_path: Path) -> None:
    verdict = make().verdict.model_copy(update={"verdict": "error"})
    assert client.get_run(record_run(make(verdict=verdict), tmp_path)).info.status == "FAILED"


def test_the_seal_is_set_and_outlives_a_second_record(client: Any, make: Any, tmp_path: Path) -> None:
    parent = record_run(make(), tmp_path)
    seal_run("r1", make().spec, tmp_path, clean=True)
    record_run(make(), tmp_path)
    assert client.get_run(parent).data.tags["chaosgate.seal"] == "clean"
    seal_run("r1", make().spec, tmp_path, clean=False)
    assert client.get_run(parent).data.tags["chaosgate.seal"] == "unclean"


def test_a_run_that_was_never_recorded_cannot_be_sealed(make: Any, tmp_path: Path) -> None:
    with pytest.raises(TrackingError, match=r"run r9 is not in experiment .* record it first: chaosgate record r9"):
        seal_run("r9", make().spec, tmp_path, clean=True)


def test_an_attached_run_becomes_the_parent_and_stays_open(
    client: Any, make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = client.create_run(client.create_experiment("attached"))
    monkeypatch.setenv("MLFLOW_RUN_ID", own.info.run_id)
    assert [record_run(make(), tmp_path) for _ in range(2)] == [own.info.run_id] * 2
    assert client.get_run(own.info.run_id).info.status == "RUNNING"
    assert len(client.search_runs([own.info.experiment_id])) == 2
    with pytest.raises(TrackingError, match=r"which holds chaosgate run r1, not r2; unset MLFLOW_RUN_ID"):
        record_run(make("r2"), tmp_path)


def test_an_attachment_that_does_not_exist_is_refused(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_RUN_ID", "f" * 32)
    with pytest.raises(TrackingError, match=r"what was asked for run r1: .*not found.*run: chaosgate record r1"):
        record_run(make(), tmp_path)


def test_a_server_that_is_away_is_named_without_its_password(tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    with pytest.raises(
        TrackingError, match=rf"MLflow at http://me:\*\*\*@127\.0\.0\.1:{port} cannot be reached: .*refused"
    ):
        record_run(tracked_run(spec=spec(f"http://me:secret@127.0.0.1:{port}")), tmp_path)


def test_a_malformed_uri_in_the_environment_is_a_tracking_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://me:secret@[x")
    with pytest.raises(TrackingError, match=r"^MLflow at http://me:\*\*\*@\[x cannot be reached: it is no URI"):
        record_run(tracked_run(spec=spec()), tmp_path)


def test_a_refusal_holds_no_password_and_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(uri: str) -> None:
        raise ValueError(f"bad credentials\nin {uri}")

    monkeypatch.setattr(mlflow_record, "_import_mlflow", lambda run: (refuse, None))
    with pytest.raises(
        TrackingError, match=r"refused what was asked for run r1: bad credentials in http://me:\*\*\*@h; the"
    ):
        record_run(tracked_run(spec=spec("http://me:secret@h")), tmp_path)


def test_without_mlflow_the_error_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "mlflow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(
        TrackingError, match=r"^MLflow is not installed; pip install 'chaosgate\[mlflow\]' and run: .* r1$"
    ):
        record_run(tracked_run(), tmp_path)


def test_the_modules_load_without_mlflow() -> None:
    code = "import sys, chaosgate.tracking.mlflow_record; sys.exit('mlflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
