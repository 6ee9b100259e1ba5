"""Where a run is recorded, in words that stand in record and report: whatever the environment says."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_drill import write_spec

from chaosgate.components.conclude import close_record
from chaosgate.components.definition import Context
from chaosgate.components.recording import place_of
from chaosgate.model.load import load_spec
from chaosgate.model.result import Verdict


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("http://[x", "http://[x"),
        ("postgresql://h:abc/db", "postgresql://h:abc/db"),
        ("postgresql://me:secret@db/mlflow", "postgresql://me:***@db/mlflow"),
        ("http://h\n::error::x", "http://h ::error::x"),
    ],
)
def test_the_record_names_any_place_without_its_password(
    uri: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    spec = load_spec(write_spec(tmp_path))
    closed = close_record(Context("r1", tmp_path, {}, {}, {}), spec, None, Verdict(verdict="pass", reasons=()))
    assert closed.recorded == f"experiment chaosgate/tests of MLflow at {shown}"
    assert "secret" not in place_of(spec, tmp_path)


def test_a_run_on_a_cluster_without_a_server_is_recorded_nowhere_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert place_of(load_spec(write_spec(tmp_path)), None).startswith("nowhere: no MLflow server is named")
