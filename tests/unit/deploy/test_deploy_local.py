"""Starting servers: what is said when one does not come up."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from cluster_drills import DEPLOYMENT, SERVICE, SLOW, drill
from cluster_targets import cluster_fault
from simulated_run import LATENCY, OBJECTIVES, stream_spec
from small_drill import eventually

from chaosgate.deploy import local
from chaosgate.deploy.local import new_token, start_server, token_file, unsupported
from chaosgate.deploy.processes import alive, last_lines, stop, strays
from chaosgate.errors import DeployError
from chaosgate.model.carried_faults import EngineFaults
from chaosgate.model.spec import ChaosSpec
from chaosgate.tokens import engine_token, token_digest

READY = """
import pathlib, sys, time
part = pathlib.Path(sys.argv[-1] + ".part")
part.write_text('{"url": "u"}')
part.rename(sys.argv[-1])
time.sleep(60)
"""
"""A server whose ready file is there whole or not at all, as those of chaosgate are."""


def test_a_server_is_up_once_its_ready_file_is_there(tmp_path: Path) -> None:
    served = start_server(tmp_path, "engine", ("-c", READY), 60)
    assert served.addresses == {"url": "u"}
    assert stop(served.process)


def test_a_server_that_ends_is_named_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(DeployError) as refused:
        start_server(tmp_path, "engine", ("-c", "import sys; sys.exit('no port for me')"), 60)
    assert str(refused.value) == "the engine ended with exit code 1: no port for me"


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(DeployError) as refused:
            start_server(tmp_path, "engine", ("-m", "chaosgate.engine", "--port", str(port)), 60)
    assert str(refused.value).startswith(
        f"the engine ended with exit code 2: chaosgate engine: cannot listen on 127.0.0.1:{port}: "
        "address already in use; choose another port"
    )


def test_a_server_that_never_serves_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "READY_DEADLINE", 0.3)
    with pytest.raises(DeployError, match=r"the gateway did not serve within 0 s: \(it wrote nothing\)"):
        start_server(tmp_path, "gateway", ("-c", "import time; time.sleep(60)"), 60)
    assert [stop(process) for process in strays(tmp_path)] == [True]


def test_a_server_is_told_how_long_it_may_live(tmp_path: Path) -> None:
    words = ("-m", "chaosgate.engine", "--port", "0")
    served = start_server(tmp_path, "engine", words, 0.2)
    eventually(lambda: not alive(served.process), "the end of its lifetime")
    assert "its lifetime of 0.2 s is over" in last_lines(tmp_path, "engine")


def test_a_token_is_new_each_time_and_for_its_user_alone(tmp_path: Path) -> None:
    first, second = (Path(str(new_token(tmp_path / run).file)) for run in ("one", "two"))
    assert first == token_file(tmp_path / "one")
    assert first.read_text() != second.read_text()
    assert first.stat().st_mode & 0o077 == 0
    assert len(first.read_text()) >= 32


@pytest.mark.parametrize("made", [lambda file: file.write_text("old"), lambda file: file.symlink_to("/dev/null")])
def test_a_token_is_never_written_where_something_stands(tmp_path: Path, made: Callable[[Path], object]) -> None:
    made(token_file(tmp_path))
    with pytest.raises(DeployError) as refused:
        new_token(tmp_path)
    assert str(refused.value) == (
        f"{token_file(tmp_path)}: cannot be made: File exists; a run starts in a folder of its own"
    )


def overwriting() -> ChaosSpec:
    dose = {"parameter": "share", "values": ["10 %"], "hold": "2s", "washout": "500ms"}
    inside = {"name": "inside", "kind": "kv.token-overwrite", "dose": dose}
    return stream_spec(faults=(LATENCY, inside), fits=(), objectives=OBJECTIVES[3:])


def words_of(monkeypatch: pytest.MonkeyPatch, spec: ChaosSpec, folder: Path) -> list[str]:
    """The command line with which the engine of `spec` is started."""
    started: list[str] = []
    monkeypatch.setattr(local, "start_server", lambda folder, role, words, lifetime: started.extend(words))
    local.start_engine(spec, folder, 60)
    return started


def test_an_engine_is_told_the_faults_that_act_inside_it_and_a_token_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_token(tmp_path)
    words = words_of(monkeypatch, overwriting(), tmp_path)

    file = Path(words[words.index("--faults") + 1])
    told = EngineFaults.model_validate_json(file.read_text())
    assert [fault.name for fault in told.faults] == ["inside"]
    token = engine_token(token_file(tmp_path).read_text())
    assert told.token_digest == token_digest(token)
    assert token not in file.read_text()


def test_an_engine_without_faults_of_its_own_is_told_of_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "--faults" not in words_of(monkeypatch, stream_spec(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_fault_of_the_cluster_cannot_be_carried_here() -> None:
    spec = stream_spec(faults=(cluster_fault("pod.delete").to_json(),), fits=(), objectives=OBJECTIVES[3:])
    assert [problem.render("spec.yaml") for problem in unsupported(spec)] == [
        "spec.yaml spec.faults[0].kind: read 'pod.delete', which changes Kubernetes objects, and a run on one machine "
        "has none; run it on a cluster: chaosgate run SPEC --on argo"
    ]


@pytest.mark.parametrize("target", [SERVICE, DEPLOYMENT])
def test_a_server_of_a_cluster_is_reached_there(target: str) -> None:
    assert [problem.render("spec.yaml") for problem in unsupported(drill(SLOW, target=target))] == [
        "spec.yaml spec.target.kubernetes: a Service or Deployment is reached by a run on its cluster: chaosgate run "
        "SPEC --on argo; or forward its port and write `endpoint: http://127.0.0.1:PORT` instead"
    ]
