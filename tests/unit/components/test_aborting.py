"""The abort of a run: one file, the first that was written, and what conclude makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from kept_run import KeptRun

from chaosgate.components.aborting import FILE, Abort, abort_of, read_abort, write_abort
from chaosgate.components.conclude import conclude, unless_aborted
from chaosgate.components.definition import Context
from chaosgate.components.gathering import Gathered
from chaosgate.errors import ArtifactError

ABORT = Abort(by="ann@laptop", reason="the pager went off", at="2027-01-15T08:00:00+00:00")


def test_it_reads_back(tmp_path: Path) -> None:
    assert read_abort(tmp_path) is None
    assert write_abort(tmp_path, ABORT) == ABORT
    assert read_abort(tmp_path) == ABORT
    assert ABORT.sentence() == "aborted by ann@laptop: the pager went off"


def test_the_first_one_stands(tmp_path: Path) -> None:
    write_abort(tmp_path, ABORT)
    assert write_abort(tmp_path, ABORT.model_copy(update={"by": "bob"})) == ABORT


def test_a_reason_is_one_printable_line() -> None:
    assert Abort(by="a", reason="x\n::error::forged\x1b[2J", at="").reason == "x ::error::forged\ufffd[2J"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"by": 5}'])
def test_one_that_cannot_be_read_is_an_abort_too(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    found = read_abort(tmp_path)
    assert found is not None
    assert found.sentence() == f"aborted by somebody: {tmp_path / FILE} cannot be read"


def test_where_it_cannot_be_written_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(ArtifactError, match=r"abort\.json: cannot be written: a file stands where a folder is needed"):
        write_abort(tmp_path / "run", ABORT)


def test_a_run_on_a_cluster_has_none(tmp_path: Path) -> None:
    kept = KeptRun(tmp_path)
    write_abort(kept.folder, ABORT)
    assert abort_of(Context(kept.run, None, {}, {}, {})) is None
    assert abort_of(Context(kept.run, tmp_path, {}, {}, {})) == ABORT


def test_the_verdict_of_an_aborted_run_is_error_and_that_is_its_one_reason(tmp_path: Path) -> None:
    gathered = Gathered(None, None, {}, {}, ("deploy failed: no engine", "block1-measure failed: killed"))
    verdict = conclude(KeptRun(tmp_path).spec, unless_aborted(gathered, ABORT)).verdict
    assert verdict.verdict == "error"
    assert [reason.text for reason in verdict.reasons] == ["aborted by ann@laptop: the pager went off"]


def test_a_run_that_was_not_aborted_is_judged_as_ever(tmp_path: Path) -> None:
    gathered = Gathered(None, None, {}, {}, ("deploy failed: no engine",))
    assert unless_aborted(gathered, None) == gathered
