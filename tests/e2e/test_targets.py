"""A drill against a server that somebody else started, good and bad; and two drills at once."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from small_drill import SUPPORT, Start, eventually

from chaosgate.artifacts import ENDPOINT

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

Serve = Callable[[str], str]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts the scripted server with a flaw; its base URL."""
    servers: list[subprocess.Popen[bytes]] = []

    def begin(flaw: str) -> str:
        ready = tmp_path / "target.url"
        servers.append(subprocess.Popen([sys.executable, str(SUPPORT / "scripted_target.py"), flaw, str(ready)]))
        eventually(ready.exists, "the scripted target")
        return ready.read_text()

    yield begin
    for server in servers:
        server.terminate()
        server.wait(10)


def endpoint(url: str, model: str = "scripted") -> str:
    return f'{{engine: endpoint, model: {model}, endpoint: "{url}"}}'


def test_an_engine_that_somebody_else_started_is_tested_and_stays(start: Start, tmp_path: Path) -> None:
    ready = tmp_path / "engine.json"
    words = ["--port", "0", "--ready-file", str(ready)]
    engine = subprocess.Popen([sys.executable, "-m", "chaosgate.engine", *words], stderr=subprocess.DEVNULL)
    try:
        eventually(ready.exists, "the engine")
        url = ready.read_text().split('"')[3]
        drill = start(target=endpoint(url, "embedded/tiny"))
        code, output = drill.finish()
        assert (code, drill.verdict().verdict) in ((0, "pass"), (3, "inconclusive")), output
        assert engine.poll() is None
        seal = drill.seal()
        assert seal is not None
        assert seal.clean
    finally:
        engine.terminate()
        engine.wait(10)


def test_an_endpoint_that_is_down_is_named(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    drill = start(target=endpoint(url))
    code, output = drill.finish()
    assert code == 3
    reasons = [reason.text for reason in drill.verdict().reasons if reason.verdict == "error"]
    assert reasons[0] == f"deploy failed: {url}/v1/models: cannot be read: Connection refused; is the server up?"
    assert output.count("cannot be read") == 1
    assert "cleanup: clean" in output
    assert "Traceback" not in output


def test_a_model_the_endpoint_does_not_serve_ends_in_the_nearest_name(start: Start, serve: Serve) -> None:
    url = serve("none")
    drill = start(target=endpoint(url, "scriptet"))
    code, output = drill.finish()
    assert code == 3
    assert (
        f"deploy failed: {url} does not serve the spec's model: unknown model 'scriptet'; did you mean 'scripted'?"
        in output
    )


def test_metrics_that_are_no_numbers_reach_no_file(start: Start, serve: Serve) -> None:
    drill = start(target=endpoint(serve("nan")))
    code, output = drill.finish()
    assert code in (0, 3), output
    gauges = (drill.folder / "baseline-measure" / "gauges.jsonl").read_text()
    assert '"name":"vllm:kv_cache_usage_perc"' in gauges
    assert '"name":"vllm:num_requests_waiting"' not in gauges
    assert "/metrics has no vllm:num_requests_running, vllm:num_requests_waiting" in gauges
    for file in drill.folder.rglob("*.json*"):
        text = file.read_text()
        assert not any(word in text for word in ("NaN", "Infinity")), file


def test_a_subject_that_changed_during_the_run_is_an_error(start: Start, serve: Serve) -> None:
    drill = start(target=endpoint(serve("changing")))
    code, _ = drill.finish()
    assert (code, drill.verdict().verdict) == (3, "error")
    assert any("the subject changed during the run" in reason.text for reason in drill.verdict().reasons)


def test_two_drills_at_once_share_nothing(start: Start, tmp_path: Path) -> None:
    drills = [start(state=tmp_path / "state", name="one"), start(state=tmp_path / "other", name="two")]
    ended = [drill.finish() for drill in drills]
    for drill, (code, output) in zip(drills, ended, strict=True):
        assert (code, drill.verdict().verdict) in ((0, "pass"), (3, "inconclusive")), output
        seal = drill.seal()
        assert seal is not None
        assert seal.clean
    ends = [drill.document("deploy", ENDPOINT) for drill in drills]
    addresses = [address for end in ends for address in (end.url, end.admin, end.upstream)]
    assert len(set(addresses)) == 6
    ids = [{process.pid for process in end.processes} for end in ends]
    assert not ids[0] & ids[1]
