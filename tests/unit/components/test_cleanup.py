"""cleanup and the sweeper on a run folder with real processes but without a drill."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from small_drill import environment, eventually, write_spec

from chaosgate.artifacts import ENDPOINT, RECORD, SEAL, Identity, read_document, write_document
from chaosgate.components import cleanup, sweeper
from chaosgate.components.definition import Context
from chaosgate.components.deploy import open_record
from chaosgate.deploy import processes
from chaosgate.deploy.processes import alive, python, register, spawn, stop, strays
from chaosgate.model.load import load_spec
from chaosgate.model.result import Cleanup, Endpoint, Process, SecretRef, Subject

SLEEP = "import time; time.sleep(60)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "runs" / "r"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture(autouse=True)
def _nothing_left(folder: Path) -> object:
    yield
    for process in strays(folder):
        stop(process, 0)


def context(folder: Path) -> Context:
    return Context("r", folder.parent.parent, {}, {}, {"cleanup": folder / "cleanup" / "cleanup.json"})


def seal(folder: Path) -> Cleanup:
    return read_document(folder / "cleanup" / "cleanup.json", SEAL, Identity("r", None))


def deployed(folder: Path, admin: str) -> None:
    (folder / "token").write_text("t")
    subject = Subject(model="m", engine="e")
    end = Endpoint(url="u", admin=admin, token=SecretRef(file=str(folder / "token")), upstream="s", subject=subject)
    write_document(folder / "deploy" / "endpoint.json", ENDPOINT, Identity("r", "d"), end)


def test_everything_the_run_started_is_stopped_and_sealed(folder: Path) -> None:
    engine, _ = spawn(folder, "engine", python("-c", SLEEP))
    step, _ = spawn(folder, "step-deploy", python("-c", SLEEP))
    assert cleanup.run(context(folder)) == 0
    assert not alive(engine)
    assert not alive(step)
    assert seal(folder).actions == (
        "no gateway was deployed",
        f"stopped step-deploy (process {step.pid})",
        f"stopped engine (process {engine.pid})",
    )


def test_a_process_that_nobody_wrote_down_is_stopped(folder: Path) -> None:
    engine, _ = spawn(folder, "engine", python("-c", SLEEP))
    (folder / "processes" / "engine.json").unlink()
    assert cleanup.run(context(folder)) == 0
    assert not alive(engine)
    assert f"stopped stray (process {engine.pid})" in seal(folder).actions


def test_the_runner_is_spared_and_the_sweeper_ended_after_the_seal(folder: Path) -> None:
    runner = register(folder, "runner", os.getpid())
    guard, _ = spawn(folder, "sweeper", python("-c", SLEEP))
    assert cleanup.run(context(folder)) == 0
    assert alive(runner)
    assert not alive(guard)
    assert seal(folder).actions == ("no gateway was deployed",)


def test_a_process_that_will_not_go_leaves_the_run_unclean(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, _ = spawn(folder, "engine", python("-c", SLEEP))
    monkeypatch.setattr(cleanup, "stop", lambda process: False)
    assert cleanup.run(context(folder)) == 4
    assert seal(folder).left == (f"engine (process {engine.pid})",)
    monkeypatch.undo()
    assert cleanup.run(context(folder)) == 0, "an unclean seal is tried again"
    assert seal(folder).clean


def test_a_seal_holds_while_the_record_is_the_one_it_sealed(folder: Path) -> None:
    assert cleanup.run(context(folder)) == 0
    deployed(folder, "http://127.0.0.1:9")
    assert cleanup.run(context(folder)) == 0
    assert seal(folder).actions == ("no gateway was deployed",), "the seal holds"
    record = open_record(load_spec(write_spec(folder)), None)
    digest = write_document(folder / "deploy" / "record.json", RECORD, Identity("r", "d"), record)
    assert cleanup.run(context(folder)) == 0
    assert (seal(folder).actions, seal(folder).record_digest) == (("the gateway does not answer",), digest)


def test_a_gateway_that_does_not_answer_and_is_gone_takes_its_faults_with_it(folder: Path) -> None:
    deployed(folder, "http://127.0.0.1:9")
    assert cleanup.run(context(folder)) == 0
    assert seal(folder).actions == ("the gateway does not answer",)


def test_a_gateway_that_does_not_answer_and_lives_is_unproved(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deployed(folder, "http://127.0.0.1:9")
    spawn(folder, "gateway", python("-c", SLEEP))
    monkeypatch.setattr(cleanup, "stop", lambda process: False)
    assert cleanup.run(context(folder)) == 4
    assert "the gateway's faults could not be read" in seal(folder).left


def test_two_cleanups_at_once_make_one_seal(folder: Path) -> None:
    spawn(folder, "engine", python("-c", SLEEP))
    words = ["cleanup", "--run", "r", "--state", str(folder.parent.parent)]
    words += ["--cleanup-out", str(folder / "cleanup" / "cleanup.json")]
    command = [sys.executable, "-m", "chaosgate.components", *words]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment()) for _ in range(2)]
    said = [child.communicate(timeout=60)[1] for child in both]
    assert [child.returncode for child in both] == [0, 0], said
    assert all(f"cleanup: {line}" in text for line in seal(folder).actions for text in said)


def write_down(folder: Path, role: str, **place: str) -> Process:
    """A process of the run as another machine would have written it down."""
    process = register(folder, role, os.getpid())
    moved = process.model_copy(update={"place": process.place.model_copy(update=place)})
    (folder / "processes" / f"{role}.json").write_text(moved.model_dump_json())
    return moved


def test_processes_of_another_machine_are_not_called_gone(folder: Path) -> None:
    deployed(folder, "http://127.0.0.1:9")
    for role in ("runner", "engine", "gateway"):
        write_down(folder, role, host="far-away", boot="another")
    assert cleanup.run(context(folder)) == 4
    assert seal(folder).left == (
        "the gateway's faults could not be read",
        "the run's processes belong to far-away; run cleanup there",
    )


def test_processes_from_before_a_restart_of_this_machine_are_gone(folder: Path) -> None:
    write_down(folder, "engine", boot="before-the-restart")
    assert cleanup.run(context(folder)) == 0


def test_an_unclean_seal_leaves_the_sweeper_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guard, _ = spawn(folder, "sweeper", python("-c", SLEEP))
    write_down(folder, "engine", host="far-away", boot="another")
    assert cleanup.run(context(folder)) == 4
    assert alive(guard)


def test_the_sweeper_waits_while_the_runner_lives(folder: Path) -> None:
    runner = register(folder, "runner", os.getpid())
    assert sweeper.runner_of(folder) == runner
    assert sweeper.watch(context(folder), runner, soon(0.1)) == "the run did not end in time"


def soon(seconds: float) -> float:
    return time.monotonic() + seconds


def test_the_sweeper_sees_that_the_runner_is_gone_even_without_its_folder(folder: Path) -> None:
    runner, child = spawn(folder, "runner", python("-c", SLEEP))
    shutil.rmtree(folder)
    threading.Timer(0.2, stop, [runner]).start()
    assert sweeper.watch(context(folder), runner, soon(30)) == "the runner is gone"
    child.wait()


def test_the_sweeper_goes_once_a_clean_seal_holds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = register(folder, "runner", os.getpid())
    file = folder / "cleanup" / "cleanup.json"
    file.parent.mkdir()
    file.write_text("{}")
    assert sweeper.watch(context(folder), runner, soon(0.1)) is not None, "any file is no seal"
    unclean = Cleanup(clean=False, actions=(), left=("engine",))
    write_document(file, SEAL, Identity("r", "d"), unclean)
    assert sweeper.watch(context(folder), runner, soon(0.1)) is not None
    write_document(file, SEAL, Identity("r", "d"), Cleanup(clean=True, actions=()))
    assert sweeper.watch(context(folder), runner, soon(30)) is None


def test_the_sweeper_tries_again_until_the_run_is_clean(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, _ = spawn(folder, "engine", python("-c", SLEEP))
    tried: list[Process] = []

    def hesitant(process: Process) -> bool:
        tried.append(process)
        return len(tried) > 2 and stop(process)

    monkeypatch.setattr(cleanup, "stop", hesitant)
    monkeypatch.setattr(sweeper, "PAUSE", 0.01)
    assert sweeper.sweep(context(folder), soon(30)) == 0
    assert len(tried) == 3
    assert seal(folder).clean
    assert not alive(engine)


def test_the_sweeper_gives_up_at_its_deadline(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spawn(folder, "engine", python("-c", SLEEP))
    monkeypatch.setattr(cleanup, "stop", lambda process: False)
    assert sweeper.sweep(context(folder), soon(0)) == 4
    assert not seal(folder).clean


def test_the_sweeper_tries_again_when_no_seal_can_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "cleanup").write_text("a file where a folder is needed")
    monkeypatch.setattr(sweeper.time, "sleep", lambda seconds: (folder / "cleanup").unlink())
    assert sweeper.sweep(context(folder), soon(30)) == 0
    assert seal(folder).clean


def test_without_its_folder_the_processes_of_a_run_are_still_stopped(folder: Path) -> None:
    engine, child = spawn(folder, "engine", python("-c", SLEEP))
    shutil.rmtree(folder)
    assert sweeper.sweep(context(folder), soon(30)) == 0
    assert not alive(engine)
    assert child.wait() == -15
    assert not folder.exists()


def test_the_sweeper_outlives_its_parent_and_cleans_up(folder: Path) -> None:
    runner, child = spawn(folder, "runner", python("-c", SLEEP))
    engine, _ = spawn(folder, "engine", python("-c", SLEEP))
    words = ("--run", "r", "--state", str(folder.parent.parent), "--seconds", "60")
    guard, watching = spawn(folder, "sweeper", python("-m", "chaosgate.components.sweeper", *words))
    stop(runner)
    child.wait()
    eventually((folder / "cleanup" / "cleanup.json").exists, "the seal", 20)
    assert seal(folder).clean
    assert not alive(engine)
    assert watching.wait(20) == 0
    assert not processes.alive(guard)
