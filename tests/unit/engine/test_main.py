"""`python -m chaosgate.engine` as a process."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from chaosgate.engine.__main__ import main

from .conftest import engine_command, start_engine


def test_it_serves_under_the_name_it_is_told_and_says_so_in_one_line(tmp_path: Path) -> None:
    server = start_engine(tmp_path, "--model", "other/name", "--seed", "3")
    asked = {"model": "other/name", "prompt": "hi", "max_tokens": 2}
    request = urllib.request.Request(f"{server.url}/v1/completions", json.dumps(asked).encode())
    with urllib.request.urlopen(request, timeout=20) as answer:
        assert json.loads(answer.read())["model"] == "other/name"
    assert server.stop() == (0, f"chaosgate engine: serving other/name on {server.url}\n")


def test_it_ends_with_its_lifetime() -> None:
    words = engine_command("--port", "0", "--seed", "7", "--lifetime", "0.2")
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


# What is imported first on each way into the engine: the module, the command, a server in the background, a library's.
ENTRIES = (
    "chaosgate.engine.__main__",
    "chaosgate.cli.main, chaosgate.cli.engine_card",
    "chaosgate.engine.serving",
    "chaosgate.engine.network.hf",
    "chaosgate.engine.runtime.sampler",
)
# What OpenBLAS was told by the environment when numpy was first imported.
WATCH = """
import os, sys
class Watch:
    def find_spec(self, name, *_):
        if name == "numpy":
            print(os.environ.get("OPENBLAS_NUM_THREADS"), os.environ.get("OMP_NUM_THREADS"))
            sys.meta_path.remove(self)
sys.meta_path.insert(0, Watch())
"""


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize(("given", "kept"), [({}, "1 1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2 1")])
def test_the_blas_gets_one_thread_unless_told_otherwise(entry: str, given: dict[str, str], kept: str) -> None:
    code = f"{WATCH}\nimport {entry}"
    environment = {"PYTHONPATH": os.pathsep.join(sys.path), **given}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == kept


def test_a_wrong_argument_is_one_line_and_code_two(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seed", "-1"]) == 2
    assert capsys.readouterr().err == (
        "chaosgate engine: Invalid value for '--seed': -1 is not in the range x>=0; see chaosgate engine --help\n"
    )
    assert main(["--help"]) == 0
    assert capsys.readouterr().out.startswith("Usage: chaosgate engine [OPTIONS]\n")
