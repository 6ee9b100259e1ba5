"""The logs of a run: which there are, and each line given once while they grow."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from kept_run import KeptRun, finished, running

from chaosgate.run.logs import LogReader, is_over, log_files, step_names


def test_steps_come_in_the_order_of_the_plan_and_servers_last(tmp_path: Path) -> None:
    kept = running(tmp_path)
    for role in ("sweeper", "engine", "step-block1-inject", "step-deploy", "step-baseline-measure"):
        kept.log(role, "")
    assert list(log_files(kept.folder)) == ["deploy", "baseline-measure", "block1-inject", "engine", "sweeper"]


def test_what_is_no_log_is_left_out(tmp_path: Path) -> None:
    kept = running(tmp_path).log("engine", "")
    (kept.folder / "logs" / "x.log").mkdir()
    (kept.folder / "logs" / ".hidden.log").write_text("")
    (kept.folder / "logs" / "notes.txt").write_text("")
    assert list(log_files(kept.folder)) == ["engine"]


def test_a_run_without_logs_has_its_steps_all_the_same(tmp_path: Path) -> None:
    kept = running(tmp_path)
    assert log_files(kept.folder) == {}
    assert step_names(kept.folder)[:2] == ["deploy", "baseline-measure"]


def test_lines_are_given_once_and_whole(tmp_path: Path) -> None:
    file = tmp_path / "a.log"
    file.write_bytes(b"one\ntwo\nthr")
    reader = LogReader(file)
    assert list(reader.lines()) == ["one", "two"]
    with file.open("ab") as log:
        log.write(b"ee\r\nfour")
    assert list(reader.lines()) == ["three"]
    assert list(reader.lines()) == []
    assert list(reader.lines(rest=True)) == ["four"]


@pytest.mark.parametrize(("count", "lines"), [(None, ["1", "2", "3"]), (2, ["2", "3"]), (0, []), (9, ["1", "2", "3"])])
def test_the_tail(tmp_path: Path, count: int | None, lines: list[str]) -> None:
    file = tmp_path / "a.log"
    file.write_text("1\n2\n3\n")
    reader = LogReader(file)
    assert list(reader.tail(count)) == lines
    assert list(reader.lines(rest=True)) == []


def test_bytes_that_are_no_text_are_shown_as_such(tmp_path: Path) -> None:
    file = tmp_path / "a.log"
    file.write_bytes(b"\xff\xfe ok\n")
    assert list(LogReader(file).lines()) == ["\ufffd\ufffd ok"]


def test_a_run_is_over_once_it_is_sealed(tmp_path: Path) -> None:
    kept = running(tmp_path)
    assert not is_over(kept.folder, kept.run)
    kept.concluded().sealed()
    assert is_over(kept.folder, kept.run)


def test_a_run_that_nobody_is_left_to_seal_is_over(tmp_path: Path) -> None:
    kept = KeptRun(tmp_path).process("runner").process("engine", os.getpid())
    assert is_over(kept.folder, kept.run)
    kept.process("sweeper", os.getpid())
    assert not is_over(kept.folder, kept.run)


def test_a_finished_run_is_over(tmp_path: Path) -> None:
    kept = finished(tmp_path)
    assert is_over(kept.folder, kept.run)
