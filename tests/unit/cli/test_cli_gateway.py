"""The command `gateway`: from its card to its summary, and its mistakes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_drill import environment, eventually

from chaosgate.cli.gateway_serving import exposed
from chaosgate.cli.main import chaosgate

UPSTREAM = ("--upstream", "http://127.0.0.1:9")


def invoke(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(chaosgate, ["gateway", *words])
    return done.exit_code, done.output


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "chaosgate.cli.main", "gateway", *UPSTREAM, "--port", "0"]
    return subprocess.Popen(
        [*command, "--ready-file", str(folder / "ready.json"), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def status_of(url: str) -> int:
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(url, data=b"{}", timeout=20)
    return caught.value.code


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_a_signal_and_sums_up(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "token").write_text("sesame")
    files = ("--ledger", str(tmp_path / "ledger.ndjson"), "--token-file", str(tmp_path / "token"))
    faults = ("--fault", "wire.error=100%,status=503,path=/v1/completions", "--fault", "wire.latency=0ms")
    with start(tmp_path, *faults, *files) as process:
        eventually((tmp_path / "ready.json").exists, "the ready file")
        ready = json.loads((tmp_path / "ready.json").read_text())
        assert status_of(f"{ready['url']}/v1/completions") == 503
        assert status_of(f"{ready['url']}/v1/other") == 502
        holder = urllib.request.Request(f"{ready['admin']}/v1/status", headers={"Authorization": "Bearer sesame"})
        with urllib.request.urlopen(holder, timeout=20) as answer:
            assert json.load(answer)["requests"] == 2
        process.send_signal(number)
        said, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, "")
    lines = [" ".join(line.split()) for line in said.splitlines()]
    assert f"base URL {ready['url']}/v1" in lines
    assert "fault wire-error: wire.error at 100 %" in lines
    assert "by status 502: 1, 503: 1" in lines
    assert "wire-error wire.error 100 % 1 1 (100 %)" in lines
    assert "wire-latency wire.latency 0s 2 1 (50 %) answered by wire-error: 1" in lines
    rows = [json.loads(line) for line in (tmp_path / "ledger.ndjson").read_text().splitlines()]
    assert [(row["fault"], row["planned"], row["applied"]) for row in rows] == [
        *[("wire-error", True, True), ("wire-latency", True, False)],
        *[("wire-error", False, False), ("wire-latency", True, True)],
    ]
    assert not (tmp_path / "ready.json").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_ledger_that_cannot_be_written_ends_it_after_its_summary(tmp_path: Path) -> None:
    with start(tmp_path, "--ledger", "/dev/full") as process:
        eventually((tmp_path / "ready.json").exists, "the ready file")
        assert status_of(json.loads((tmp_path / "ready.json").read_text())["url"]) == 502
        said, errors = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "by status" in said
    assert errors == (
        "--ledger /dev/full: cannot be written: no space left on device; make room or name another file\n"
    )


def test_its_lifetime_ends_it(tmp_path: Path) -> None:
    code, said = invoke(*UPSTREAM, "--port", "0", "--lifetime", "0.05")
    assert code == 0
    assert "none yet" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "--upstream: is missing; name the server behind the gateway, such as http://127.0.0.1:8000"),
        (
            (*UPSTREAM, "--fault", "wire.latenzy=1s"),
            "--fault wire.latenzy=1s: unknown fault kind 'wire.latenzy'; did you mean 'wire.latency'?",
        ),
        ((*UPSTREAM, "--port", "70000"), "cannot listen on 127.0.0.1:70000: a port is a number from 0 to 65535"),
        ((*UPSTREAM, "--prot", "3"), None),
        ((*UPSTREAM, "--lifetime", "0"), None),
        ((*UPSTREAM, "--token-file", "nowhere"), "nowhere: the admin token cannot be read: No such file or directory"),
        (
            (*UPSTREAM, "--port", "0", "--ledger", "no/where"),
            "--ledger no/where: cannot be written: no such file or directory; make room or name another file",
        ),
    ],
)
def test_a_user_s_mistake_is_one_line_and_code_two(words: tuple[str, ...], message: str | None) -> None:
    code, said = invoke(*words)
    assert code == 2
    assert said.count("\n") == 1
    assert message is None or said == f"{message}\n"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_needs_no_warning(host: str) -> None:
    assert exposed(host) is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "gpu-host"])
def test_what_others_reach_is_warned_of(host: str) -> None:
    warning = exposed(host)
    assert warning is not None
    assert warning.startswith(f"--host {host}: whoever reaches this address uses the server behind the gateway")


def test_the_warning_is_said_and_the_admin_port_stays_on_loopback() -> None:
    code, said = invoke(*UPSTREAM, "--host", "0.0.0.0", "--port", "0", "--lifetime", "0.05")
    assert code == 0
    assert said.startswith("--host 0.0.0.0: whoever reaches")
    (metrics,) = (line.split()[1] for line in said.splitlines() if line.startswith("metrics"))
    assert metrics.startswith("http://127.0.0.1:")
