"""`chaosgate run`: the exit code is the verdict's, and what is printed is for whom it was asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_drill import chaosgate, write_spec

pytestmark = pytest.mark.slow


def test_json_is_all_that_stands_on_stdout_and_a_no_of_the_gate_exits_1(tmp_path: Path) -> None:
    # There are no errors, so that this can only be a no; fail wins over what a busy machine may make inconclusive.
    spec = write_spec(tmp_path, bound=">= 99 %", hold="200ms")
    done = chaosgate("run", spec, "--state", tmp_path / "state", "-o", "json")
    assert done.returncode == 1, done.stderr
    outcome = json.loads(done.stdout)
    assert (outcome["exitCode"], outcome["verdict"]["verdict"]) == (1, "fail")
    assert outcome["cleanup"]["clean"] is True
    assert outcome["problems"] == []
    assert Path(outcome["folder"]) == tmp_path / "state" / "runs" / outcome["run"]
    assert done.stderr == ""
