"""Processes of a run: written down, found again, told from others, ended."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from small_drill import eventually

from chaosgate.deploy.processes import (
    alive,
    created,
    elsewhere,
    here,
    last_lines,
    log_file,
    python,
    register,
    registered,
    spawn,
    stop,
    strays,
)
from chaosgate.errors import ArtifactError
from chaosgate.model.result import Process

SLEEP = "import time; print('up', flush=True); time.sleep(60)"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);" + SLEEP


@pytest.fixture(autouse=True)
def _nothing_left(tmp_path: Path) -> Iterator[None]:
    yield
    for process in strays(tmp_path):
        stop(process, 0)


def test_a_spawned_process_is_written_down_and_logs(tmp_path: Path) -> None:
    process, _ = spawn(tmp_path, "engine", python("-c", SLEEP))
    assert registered(tmp_path) == [process]
    assert alive(process)
    eventually(lambda: log_file(tmp_path, "engine").read_text() == "up\n", "the log")


def test_stop_ends_it_and_may_be_repeated(tmp_path: Path) -> None:
    process, child = spawn(tmp_path, "engine", python("-c", SLEEP))
    assert stop(process)
    assert stop(process)
    assert child.wait() == -15


def test_a_process_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    process, child = spawn(tmp_path, "engine", python("-c", STUBBORN))
    eventually(lambda: log_file(tmp_path, "engine").read_text(), "its start")
    assert stop(process, grace=0.2)
    assert child.wait() == -9


def test_a_later_process_with_the_same_id_is_another_one(tmp_path: Path) -> None:
    process, _ = spawn(tmp_path, "engine", python("-c", SLEEP))
    earlier = process.model_copy(update={"created": process.created - 10})
    assert not alive(earlier)
    assert stop(earlier)
    assert alive(process)


def test_a_process_that_is_gone_was_created_at_zero() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert created(child.pid) == 0.0
    assert not alive(Process(role="r", pid=child.pid, created=0.0, place=here()))


def test_setting_the_clock_makes_no_process_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process, child = spawn(tmp_path, "engine", python("-c", SLEEP))
    real = psutil.Process.create_time
    monkeypatch.setattr(psutil.Process, "create_time", lambda found: real(found) + 3600)
    assert alive(process)
    assert created(process.pid) == process.created
    assert [found.created for found in strays(tmp_path)] == [process.created]
    assert stop(process)
    assert child.wait() == -15


def test_without_proc_a_process_is_told_by_what_psutil_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chaosgate.deploy.processes.PROC", tmp_path / "none")
    process, _ = spawn(tmp_path, "engine", python("-c", SLEEP))
    assert (process.place.boot, process.place.namespace) == (None, None)
    assert process.created == psutil.Process(process.pid).create_time()
    assert alive(process)
    host = process.place.model_copy(update={"host": "another-machine"})
    assert elsewhere(process.model_copy(update={"place": host}))
    assert stop(process)


OTHER = {"host": "another-machine", "boot": "another-boot"}


@pytest.mark.parametrize(
    ("place", "is_elsewhere"),
    [
        ({}, False),
        ({"host": "renamed-since"}, False),
        ({"namespace": "pid:[1]"}, True),
        (OTHER, True),
        ({"boot": "before-the-restart", "namespace": "pid:[1]"}, False),
    ],
)
def test_a_process_of_another_machine_or_namespace_is_neither_alive_nor_gone(
    tmp_path: Path, place: dict[str, str], is_elsewhere: bool
) -> None:
    process, _ = spawn(tmp_path, "engine", python("-c", SLEEP))
    moved = process.model_copy(update={"place": process.place.model_copy(update=place)})
    assert elsewhere(moved) is is_elsewhere
    same = place in ({}, {"host": "renamed-since"})
    assert alive(moved) is same
    assert stop(moved) is not is_elsewhere
    assert alive(process) is not same


def test_modules_in_the_current_directory_are_not_imported(tmp_path: Path) -> None:
    for name in ("queue", "statistics", "secrets", "chaosgate"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('hijacked')")
    words = python("-m", "chaosgate.components", "mesure")
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stderr == "mesure: unknown component 'mesure'; did you mean 'measure'?\n"
    path = subprocess.run(python("-c", "import json, sys; print(json.dumps(sys.path))"), capture_output=True)
    assert "" not in json.loads(path.stdout)


def test_what_a_spawned_process_starts_is_found_though_nobody_wrote_it_down(tmp_path: Path) -> None:
    nested = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {SLEEP!r}], start_new_session=True)"
    _, child = spawn(tmp_path, "deploy", python("-c", nested))
    child.wait()
    found = eventually(lambda: [process for process in strays(tmp_path) if process.pid != child.pid], "the stray")
    assert [process.role for process in found] == ["stray"]
    assert stop(found[0])
    assert list(strays(tmp_path)) == []


def test_processes_of_another_run_are_no_strays(tmp_path: Path) -> None:
    process, _ = spawn(tmp_path / "other", "engine", python("-c", SLEEP))
    assert list(strays(tmp_path / "mine")) == []
    stop(process)


def test_a_process_that_cannot_be_written_down_does_not_run(tmp_path: Path) -> None:
    (tmp_path / "processes").write_text("a file where a folder is needed")
    with pytest.raises(ArtifactError, match=r"processes/engine\.json: cannot be written"):
        spawn(tmp_path, "engine", python("-c", SLEEP))
    assert list(strays(tmp_path)) == []


def test_a_log_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file where a folder is needed")
    with pytest.raises(ArtifactError, match=r"logs/engine\.log: cannot be written: .*--state DIR"):
        spawn(tmp_path, "engine", python("-c", SLEEP))


def test_a_process_file_that_was_cut_hides_no_other(tmp_path: Path) -> None:
    process = register(tmp_path, "runner", 1)
    (tmp_path / "processes" / "engine.json").write_text('{"role": "eng')
    assert registered(tmp_path) == [process]


@pytest.mark.parametrize(("text", "said"), [("", "(it wrote nothing)"), ("a\nb\nc\n", "b\nc")])
def test_the_last_lines_of_a_log(tmp_path: Path, text: str, said: str) -> None:
    assert last_lines(tmp_path, "engine") == "(it wrote nothing)"
    (tmp_path / "logs").mkdir()
    log_file(tmp_path, "engine").write_text(text)
    assert last_lines(tmp_path, "engine", 2) == said
