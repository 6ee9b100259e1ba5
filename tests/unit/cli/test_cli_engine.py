"""The command `engine`: its card, its end, its mistakes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_drill import environment, eventually

from chaosgate.cli.main import chaosgate


def invoke(*words: str, given: str = "") -> tuple[int, str]:
    done = CliRunner().invoke(chaosgate, ["engine", *words], input=given)
    return done.exit_code, done.output


def test_it_serves_shows_its_card_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    ready = tmp_path / "ready.json"
    command = [sys.executable, "-m", "chaosgate.cli.main", "engine", "--port", "0", "--seed", "7"]
    with subprocess.Popen(
        [*command, "--ready-file", str(ready)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(PYTHONUNBUFFERED="1"),
    ) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line.rstrip())
            if line == "Ctrl-C ends it.\n":
                break
        (url,) = (line.split()[-1].removesuffix("/v1") for line in lines if line.startswith("URL "))
        eventually(ready.exists, "the ready file")
        assert json.loads(ready.read_text())["url"] == url
        with urllib.request.urlopen(f"{url}/v1/models", timeout=20) as answer:
            served = json.loads(answer.read())["data"][0]
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (0, "")
    card = {line.split("  ")[0]: line.split("  ")[-1] for line in lines}
    assert card["weights"] == served["chaosgate"]["weights_digest"]
    assert card["URL"] == f"{url}/v1"
    assert card["context"] == "1024 tokens, prompt and answer together"
    assert card["tasks"] == "none: the weights are untrained, of seed 7; answers are stable, not right"
    (curl,) = (line for line in lines if line.startswith("curl "))
    asked = subprocess.run(["bash", "-n", "-c", curl], capture_output=True, text=True, timeout=20)
    assert (asked.returncode, asked.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--prot", "3"],
            "No such option '--prot'. (Did you mean one of: '--host', '--port'?); see chaosgate engine --help",
        ),
        (["cat"], "unknown command of engine 'cat'; did you mean 'chat'?"),
        (["--port", "3", "chat"], "--port: is for the server; put what `chat` takes behind its name"),
        (
            ["chat", "--temperature", "9"],
            "Invalid value for '--temperature': 9.0 is not in the range 0<=x<=2; see chaosgate engine chat --help",
        ),
        (["chat", "--url", "ftp://x"], "--url: read 'ftp://x'; write one such as http://127.0.0.1:8000"),
        (["export-hf"], "Missing argument 'DIR'; see chaosgate engine export-hf --help"),
        (["--port", "70000"], "cannot listen on 127.0.0.1:70000: a port is a number from 0 to 65535"),
        (["--block-size", "7"], "block_size is one of 8, 16, 32, 64 and 128, got 7"),
        (["--faults", "nowhere.json"], None),
    ],
)
def test_a_user_s_mistake_is_one_line_and_code_two(words: list[str], message: str | None) -> None:
    code, said = invoke(*words)
    assert code == 2
    assert said.count("\n") == 1
    assert message is None or said == f"{message}\n"
