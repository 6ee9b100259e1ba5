from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from chaosgate.engine.runtime.config import EngineConfig
from chaosgate.engine.serving import in_background
from chaosgate.errors import UsageError

from .conftest import Served, engine_command, start_engine

SEED_7 = ("--seed", "7")


def stream(url: str, **more: object) -> urllib.request.Request:
    asked = {"model": "embedded/tiny", "prompt": "hi", "max_tokens": 1000, "ignore_eos": True, "stream": True, **more}
    return urllib.request.Request(f"{url}/v1/completions", json.dumps(asked).encode())


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_an_open_stream_finish(tmp_path: Path, number: int) -> None:
    server = start_engine(tmp_path, *SEED_7, "--grace", "60")
    with urllib.request.urlopen(stream(server.url), timeout=60) as answer:
        assert answer.readline().startswith(b"data: {")
        server.process.send_signal(number)
        rest = answer.read()
    _, errors = server.process.communicate(timeout=20)
    assert rest.endswith(b"data: [DONE]\n\n")
    assert rest.count(b"data: {") == 999
    assert server.process.returncode == 0
    assert errors.splitlines()[1:] == [
        "chaosgate engine: 1 requests get 60 s to finish; a second signal ends them at once"
    ]


def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    server = start_engine(tmp_path, *SEED_7, "--grace", "600")
    with urllib.request.urlopen(stream(server.url), timeout=60) as answer:
        assert answer.readline().startswith(b"data: {")
        server.process.send_signal(signal.SIGTERM)
        lines = _lines_of(server)
        assert next(lines).endswith("serving embedded/tiny on " + server.url)
        assert next(lines).startswith("chaosgate engine: 1 requests get 600 s")
        server.process.send_signal(signal.SIGTERM)
        assert b"[DONE]" not in answer.read()
    assert list(lines) == ["chaosgate engine: 1 requests were cut off"]
    assert server.process.wait(20) == 0


def _lines_of(server: Served) -> Iterator[str]:
    assert server.process.stderr is not None
    return (line.rstrip() for line in server.process.stderr)


def test_without_grace_an_open_stream_is_cut_at_once(tmp_path: Path) -> None:
    server = start_engine(tmp_path, *SEED_7, "--grace", "0")
    with urllib.request.urlopen(stream(server.url), timeout=60) as answer:
        assert answer.readline().startswith(b"data: {")
        code, errors = server.stop()
        assert b"[DONE]" not in answer.read()
    assert code == 0
    assert errors.splitlines()[-1] == "chaosgate engine: 1 requests were cut off"


def test_one_in_the_background_answers_until_its_block_ends() -> None:
    before = threading.active_count()
    with in_background(EngineConfig(seed=7)) as url:
        with urllib.request.urlopen(f"{url}/health", timeout=20) as answer:
            assert answer.status == 200
        with urllib.request.urlopen(stream(url, max_tokens=2), timeout=20) as answer:
            assert answer.read().endswith(b"data: [DONE]\n\n")
    assert threading.active_count() == before
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"{url}/health", timeout=20)


def test_one_that_cannot_be_started_in_the_background_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise UsageError("no weights")

    monkeypatch.setattr("chaosgate.engine.serving.Engine", broken)
    with pytest.raises(UsageError, match="no weights"), in_background(EngineConfig(seed=7)):
        pass


def test_a_ready_file_that_a_killed_server_left_misleads_nobody(tmp_path: Path) -> None:
    first = start_engine(tmp_path, *SEED_7)
    first.process.kill()
    first.process.wait()
    assert json.loads((tmp_path / "ready.json").read_text())["url"] == first.url
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        words = engine_command("--port", port, "--ready-file", str(tmp_path / "ready.json"))
        done = subprocess.run(words, capture_output=True, text=True, timeout=30)
    assert done.returncode == 2
    assert os.listdir(tmp_path) == [], "gone before the server listens"


def test_a_server_that_ended_leaves_no_ready_file(tmp_path: Path) -> None:
    assert start_engine(tmp_path, *SEED_7).stop()[0] == 0
    assert os.listdir(tmp_path) == []
