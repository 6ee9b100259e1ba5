"""`python -m chaosgate.engine` as a process."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from chaosgate.engine.__main__ import main, write_ready
from chaosgate.errors import UsageError

from .conftest import engine_command, start_engine


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_zero_and_closes_open_streams(tmp_path: Path, number: int) -> None:
    server = start_engine(tmp_path, "--model", "other/name", "--seed", "3")
    asked = {"model": "other/name", "prompt": "hi", "max_tokens": 1000, "stream": True}
    request = urllib.request.Request(f"{server.url}/v1/completions", json.dumps(asked).encode())
    with urllib.request.urlopen(request, timeout=20) as stream:
        assert stream.readline().startswith(b"data: {")
        code, errors = server.stop(number)
        assert b"[DONE]" not in stream.read()
    assert code == 0
    assert errors == f"chaosgate engine: serving other/name on {server.url}\n"


def test_it_ends_with_its_lifetime() -> None:
    words = engine_command("--port", "0", "--lifetime", "0.2")
    done = subprocess.run(words, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1] == "chaosgate engine: its lifetime of 0.2 s is over"


def test_a_port_in_use_is_one_line_and_code_two() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(engine_command("--port", str(port)), capture_output=True, text=True, timeout=20)
    assert done.returncode == 2
    assert done.stderr == (
        f"chaosgate engine: cannot listen on 127.0.0.1:{port}: address already in use; choose another port, or 0 for"
        " any free one\n"
    )


def test_other_addresses_that_cannot_be_had(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--port", "70000"]) == 2
    assert capsys.readouterr().err == (
        "chaosgate engine: cannot listen on 127.0.0.1:70000: a port is a number from 0 to 65535\n"
    )
    assert main(["--host", "192.0.2.1"]) == 2
    assert "cannot listen on 192.0.2.1:8000: cannot assign requested address" in capsys.readouterr().err


@pytest.mark.parametrize(("given", "kept"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2")])
def test_the_blas_gets_one_thread_unless_told_otherwise(given: dict[str, str], kept: str) -> None:
    code = "import os, chaosgate.engine.__main__; print(os.environ['OPENBLAS_NUM_THREADS'])"
    done = subprocess.run([sys.executable, "-c", code], env=given, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == kept


def test_a_seed_must_be_a_whole_number(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--seed", "-1"])
    assert caught.value.code == 2
    assert "a seed is a whole number of 0 or more, got '-1'" in capsys.readouterr().err


def test_a_ready_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write the ready file .*/missing/ready.json: No such file"):
        write_ready(tmp_path / "missing" / "ready.json", "http://127.0.0.1:1")
