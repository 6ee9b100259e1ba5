"""cleanup and the sweeper on a run folder with real processes but without a drill."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
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
from chaosgate.model.result import Cleanup, Endpoint, SecretRef, Subject

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
    record = open_record(load_spec(write_spec(folder)))
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


def test_the_sweeper_waits_while_the_runner_lives(folder: Path) -> None:
    register(folder, "runner", os.getpid())
    file = folder / "cleanup" / "cleanup.json"
    assert sweeper.watch(folder, file, 0.1) == "the run did not end within 0 s"


def test_the_sweeper_sees_that_the_runner_is_gone(folder: Path) -> None:
    runner, child = spawn(folder, "runner", python("-c", SLEEP))
    threading.Timer(0.2, stop, [runner]).start()
    assert sweeper.watch(folder, folder / "cleanup" / "cleanup.json", 30) == "the runner is gone"
    child.wait()


def test_the_sweeper_leaves_a_sealed_run_alone(folder: Path) -> None:
    file = folder / "cleanup" / "cleanup.json"
    file.parent.mkdir()
    file.write_text("{}")
    assert sweeper.watch(folder, file, 30) is None


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
