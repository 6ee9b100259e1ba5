from __future__ import annotations

import socket
from pathlib import Path

import pytest

from chaosgate.errors import TrackingError
from chaosgate.tracking.reach import check_reachable


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def test_a_new_sqlite_file_is_reachable_and_its_folder_made(tmp_path: Path) -> None:
    check_reachable(f"sqlite:///{tmp_path}/state/mlflow.db", "the-run")
    assert (tmp_path / "state").is_dir()


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").write_text("no database at all, but long enough to have a header" * 20)
    with pytest.raises(
        TrackingError, match=r"mlflow\.db cannot be reached: file is not a database; set MLFLOW_TRACKING_URI"
    ):
        check_reachable(f"sqlite:///{tmp_path}/mlflow.db", "the-run")


def test_a_state_directory_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    with pytest.raises(TrackingError, match=r"cannot be reached: .*File exists"):
        check_reachable(f"sqlite:///{tmp_path}/state/mlflow.db", "the-run")


def test_a_database_server_that_is_away_is_named_without_its_password(closed_port: int) -> None:
    with pytest.raises(TrackingError, match=rf"postgresql://me:\*\*\*@127\.0\.0\.1:{closed_port}/x cannot be reached"):
        check_reachable(
            f"postgresql+psycopg2://me:secret@127.0.0.1:{closed_port}/x".replace("+psycopg2", ""), "the-run"
        )


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("http://[x", r"MLflow at http://\[x cannot be reached: it is no URI: its brackets hold no IPv6 address; set"),
        ("postgresql://h:abc/db", r"cannot be reached: it is no URI: its port is no number from 0 to 65535; a `/` in"),
        ("postgresql://me:se/cret@h/db", r"MLflow at postgresql://me:\*\*\*@h/db cannot be reached: it is no URI"),
        ("http://h\n::error::x", r"MLflow at http://h ::error::x cannot be reached: .* cannot be printed"),
        (f"postgresql://{'a' * 64}.b/db", "cannot be reached: "),
    ],
)
def test_a_malformed_uri_is_refused(uri: str, said: str) -> None:
    with pytest.raises(TrackingError, match=said) as refused:
        check_reachable(uri, "the-run")
    assert "cret" not in str(refused.value)


def test_http_servers_are_left_to_mlflow(closed_port: int) -> None:
    check_reachable(f"http://127.0.0.1:{closed_port}", "the-run")
