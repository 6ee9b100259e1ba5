from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from tracked_runs import spec

from chaosgate.errors import TrackingError
from chaosgate.tracking.location import artifact_location, sqlite_file, tracking_uri, ui_command


def test_the_specs_own_uri_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://env:5000")
    assert tracking_uri(spec(uri="http://spec:5000"), tmp_path) == "http://spec:5000"
    assert tracking_uri(spec(), tmp_path) == "http://env:5000"


def test_without_any_uri_a_database_in_the_state_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    uri = tracking_uri(spec(), tmp_path)
    assert uri == f"sqlite:///{tmp_path}/mlflow.db"
    assert sqlite_file(uri) == tmp_path / "mlflow.db"
    assert artifact_location(uri) == f"file://{tmp_path}/mlartifacts"


def test_where_there_is_no_state_directory_a_server_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    with pytest.raises(TrackingError) as refused:
        tracking_uri(spec(), None)
    assert str(refused.value) == (
        "no MLflow server is named: write spec.tracking.uri, or `tracking: {uri: ...}` in the profile"
    )


def test_a_server_chooses_its_own_artifact_location() -> None:
    assert artifact_location("http://mlflow:5000") is None


@pytest.mark.parametrize(
    ("uri", "command"),
    [
        ("sqlite:////data/mlflow.db", "mlflow ui --backend-store-uri sqlite:////data/mlflow.db"),
        ("sqlite:////my data/mlflow.db", "mlflow ui --backend-store-uri 'sqlite:////my data/mlflow.db'"),
        ("http://mlflow:5000", "http://mlflow:5000"),
        (
            "postgresql://me:secret@db/mlflow",
            "mlflow ui --backend-store-uri 'postgresql://me:***@db/mlflow' (put the password in place of ***)",
        ),
        ("http://me:secret@mlflow:5000", "http://me:***@mlflow:5000 (put the password in place of ***)"),
        ("http://[x", "http://[x"),
    ],
)
def test_the_ui_command_can_be_pasted_into_a_shell(uri: str, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    assert ui_command(uri) == command


def test_an_mlflow_that_is_not_on_the_path_is_called_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    command = ui_command("sqlite:////data/mlflow.db").split()[0]
    assert Path(command).resolve() == Path(sys.executable).with_name("mlflow").resolve()
