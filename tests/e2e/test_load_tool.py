"""`chaosgate load` as a process: against the embedded engine, and told to end."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from load_target import Target, loaded, tokens
from small_drill import command, environment, eventually

pytestmark = [pytest.mark.slow, pytest.mark.alone]


@contextmanager
def load(*words: str) -> Iterator[subprocess.Popen[str]]:
    """A load that runs; it is gone afterwards, and so is all that it started."""
    process = subprocess.Popen(
        command("load", *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The embedded engine's address."""
    ready = tmp_path_factory.mktemp("engine") / "ready.json"
    words = command("engine", "--port", "0", "--ready-file", ready)
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, env=environment()) as process:
        eventually(ready.exists, "the engine")
        yield str(json.loads(ready.read_text())["url"])
        process.send_signal(signal.SIGTERM)


def test_the_embedded_engine_is_loaded(engine: str, tmp_path: Path) -> None:
    words = ("--rate", "10/s", "--for", "3s", "--max-tokens", "8", "-O", str(tmp_path / "report.json"))
    with load(engine, *words) as process:
        said, errors = process.communicate(timeout=90)
    report: dict[str, Any] = json.loads((tmp_path / "report.json").read_text())
    # A busy machine may make the client lag, which it says, and which is no fault of it.
    assert process.returncode == (0 if report["invalid"] is None else 3), said + errors
    assert report["model"] == "embedded/tiny"
    assert report["summary"]["outcomes"]["ok"] == report["summary"]["requests"] > 10
    assert report["summary"]["latencies"]["ttft"]["n"] == report["summary"]["requests"]
    assert re.search(r"^ttft +\d+ ", said, re.M)
    assert errors == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_one_signal_ends_the_sending_and_waits_for_answers(number: signal.Signals, workers: str) -> None:
    target = Target(tokens(3, first=1.0))
    with (
        loaded(target),
        load(target.url, "--rate", "20/s", "--for", "60s", "-o", "json", "--workers", workers) as process,
    ):
        eventually(lambda: len(target.asked) > 5, "requests")
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(number)
        said, errors = process.communicate(timeout=90)
        assert not [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    report = json.loads(said)
    assert (process.returncode, report["exitCode"], errors) == (128 + number, 128 + number, "")
    assert report["ended"] == "interrupted"
    assert report["summary"]["requests"] == report["summary"]["outcomes"]["ok"] == len(target.asked)
    assert report["seconds"] < 60


def test_a_second_signal_gives_up_at_once_and_keeps_what_was_measured() -> None:
    target = Target(tokens(3, first=0.0))
    with (
        loaded(target),
        load(target.url, "--rate", "20/s", "--for", "60s", "-o", "json", "--timeout", "50s") as process,
    ):
        eventually(lambda: len(target.asked) > 5, "requests")
        target.answer = tokens(3, first=300.0)
        eventually(lambda: target.open > 3, "requests that hang")
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=2)
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=90)
        eventually(lambda: target.open == 0, "the server to see that nobody waits")
    report = json.loads(said)
    assert (process.returncode, errors) == (130, "")
    outcomes = report["summary"]["outcomes"]
    assert outcomes["ok"] > 5
    assert outcomes["cancelled"] > 3
    assert outcomes["timeout"] == 0
    assert sum(outcomes.values()) == len(target.asked)


def test_a_signal_during_the_check_ends_it() -> None:
    target = Target(tokens(3, first=300.0))
    with loaded(target), load(target.url, "--timeout", "200s") as process:
        eventually(lambda: target.checked == 1, "the check")
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=90)
    assert (process.returncode, said, errors) == (130, "", "")


def test_a_log_gets_lines_and_a_reader_may_leave() -> None:
    target = Target(tokens(2))
    with loaded(target), load(target.url, "--rate", "20/s", "--for", "12s") as process:
        assert process.stdout is not None
        head = process.stdout.readline()
        line = next(line for line in process.stdout if line.startswith("["))
        process.stdout.close()
        process.wait(timeout=60)
        assert process.stderr is not None
        errors = process.stderr.read()
    assert head.startswith(f"{target.url}, model m: 20/s, poisson arrivals")
    assert re.fullmatch(r"\[ +\d+\.\d s\] \d+ requests, .* tokens/s.*\n", line)
    assert (process.returncode in (0, 3), errors) == (True, "")
