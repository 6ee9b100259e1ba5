"""The gateway as a process: ready file, signals, and what it says when it cannot start."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path

import aiohttp
import pytest
from gateway_rig import TOKEN, ask, latency, named, until, upstream

from chaosgate.deploy.processes import python
from chaosgate.gateway.__main__ import main
from chaosgate.servers import listen


def files(folder: Path, upstream_url: str = "http://127.0.0.1:9", token: str = TOKEN + "\n") -> list[str]:
    """The arguments for a gateway whose files lie in `folder`."""
    config = {
        "upstream": upstream_url,
        "run": "run-1",
        "spec": "sha256:abc",
        "seed": 7,
        "phases": {"block1": ["slow"]},
        "faults": [latency()],
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "token").write_text(token)
    return [
        *("--config", str(folder / "config.json")),
        *("--token-file", str(folder / "token")),
        *("--ready-file", str(folder / "ready.json")),
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_process_serves_and_ends_at_a_signal_even_with_a_request_held_back(
    tmp_path: Path, number: signal.Signals
) -> None:
    async with upstream() as url:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "chaosgate.gateway", *files(tmp_path, url), stderr=asyncio.subprocess.PIPE
        )
        try:
            await until((tmp_path / "ready.json").exists)
            ready = json.loads((tmp_path / "ready.json").read_text())
            assert ready.keys() == {"url", "admin", "pid"}
            assert ready["pid"] == process.pid
            assert await ask(ready["url"], b"hello") == (200, b"hello")
            async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {TOKEN}"}) as session:
                window = {"dose": 60, "window": 1, "ttl": 600}
                async with session.put(ready["admin"] + "/v1/faults/slow", json=window) as response:
                    assert response.status == 200
                held = asyncio.ensure_future(ask(ready["url"], headers=named(1)))
                await asyncio.sleep(0.05)
            process.send_signal(number)
            _, stderr = await asyncio.wait_for(process.communicate(), 10)
            await asyncio.gather(held, return_exceptions=True)
        finally:
            if process.returncode is None:
                process.kill()
        assert (process.returncode, stderr) == (0, b"")


async def test_the_process_ends_with_its_lifetime(tmp_path: Path) -> None:
    words = python("-m", "chaosgate.gateway", *files(tmp_path), "--lifetime", "0.2")
    process = await asyncio.create_subprocess_exec(*words, stderr=asyncio.subprocess.PIPE)
    _, stderr = await asyncio.wait_for(process.communicate(), 30)
    assert (process.returncode, stderr) == (0, b"chaosgate gateway: its lifetime of 0.2 s is over\n")
    assert (tmp_path / "ready.json").exists()


@pytest.mark.parametrize("lifetime", ["0", "-1", "nan", "inf"])
def test_a_lifetime_is_a_time(tmp_path: Path, lifetime: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*files(tmp_path), f"--lifetime={lifetime}"])
    assert f"a lifetime is a number of seconds above 0, got '{lifetime}'" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--port", "--admin-port"])
def test_a_port_in_use_is_one_line_and_exit_code_2(
    tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert main([*files(tmp_path), option, str(port)]) == 2

    assert capsys.readouterr().err == (
        f"chaosgate gateway: cannot listen on 127.0.0.1:{port}: "
        "address already in use; choose another port, or 0 for any free one\n"
    )
    assert not (tmp_path / "ready.json").exists()


def test_the_admin_port_stays_on_loopback_unless_it_is_told_where_to_listen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        assert main([*files(tmp_path), "--host", "0.0.0.0", "--admin-port", port]) == 2
        assert f"cannot listen on 127.0.0.1:{port}" in capsys.readouterr().err
        assert main([*files(tmp_path), "--admin-host", "127.0.0.2", "--port", port]) == 2
        assert f"cannot listen on 127.0.0.1:{port}" in capsys.readouterr().err


def test_a_port_that_is_no_port_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*files(tmp_path), "--port", "70000"]) == 2
    assert "cannot listen on 127.0.0.1:70000: a port is a number from 0 to 65535" in capsys.readouterr().err


@pytest.mark.parametrize("token", ["", " \n", "two words", "two\nlines"])
def test_a_token_file_without_a_token_is_refused(
    tmp_path: Path, token: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(files(tmp_path, token=token)) == 2
    assert capsys.readouterr().err == (
        f"chaosgate gateway: {tmp_path}/token: "
        "holds no admin token; one line of printable signs without spaces is needed\n"
    )


def test_a_missing_token_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = files(tmp_path)
    (tmp_path / "token").unlink()

    assert main(arguments) == 2
    assert capsys.readouterr().err == (
        f"chaosgate gateway: {tmp_path}/token: the admin token cannot be read: No such file or directory\n"
    )


def test_a_ready_file_that_cannot_be_written_ends_the_gateway(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = files(tmp_path)
    (tmp_path / "blocked").write_text("")

    assert main([*arguments, "--ready-file", str(tmp_path / "blocked" / "ready.json")]) == 3
    assert f"{tmp_path}/blocked/ready.json: cannot be written" in capsys.readouterr().err
