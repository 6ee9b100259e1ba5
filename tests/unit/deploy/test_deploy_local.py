"""Starting servers: what is said when one does not come up."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from chaosgate.deploy import local
from chaosgate.deploy.local import new_token, start_server, token_file
from chaosgate.deploy.processes import stop, strays
from chaosgate.errors import DeployError

READY = "import sys, time; open(sys.argv[-1], 'w').write('{\"url\": \"u\"}'); time.sleep(60)"


def test_a_server_is_up_once_its_ready_file_is_there(tmp_path: Path) -> None:
    served = start_server(tmp_path, "engine", ("-c", READY))
    assert served.addresses == {"url": "u"}
    assert stop(served.process)


def test_a_server_that_ends_is_named_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(DeployError) as refused:
        start_server(tmp_path, "engine", ("-c", "import sys; sys.exit('no port for me')"))
    assert str(refused.value) == "the engine ended with exit code 1: no port for me"


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(DeployError) as refused:
            start_server(tmp_path, "engine", ("-m", "chaosgate.engine", "--port", str(port)))
    assert str(refused.value).startswith(
        f"the engine ended with exit code 2: chaosgate engine: cannot listen on 127.0.0.1:{port}: "
        "address already in use; choose another port"
    )


def test_a_server_that_never_serves_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "READY_DEADLINE", 0.3)
    with pytest.raises(DeployError, match=r"the gateway did not serve within 0 s: \(it wrote nothing\)"):
        start_server(tmp_path, "gateway", ("-c", "import time; time.sleep(60)"))
    assert [stop(process) for process in strays(tmp_path)] == [True]


def test_a_token_is_new_each_time_and_for_its_user_alone(tmp_path: Path) -> None:
    first = Path(str(new_token(tmp_path).file)).read_text()
    assert new_token(tmp_path).file == str(token_file(tmp_path))
    assert token_file(tmp_path).read_text() != first
    assert token_file(tmp_path).stat().st_mode & 0o077 == 0
    assert len(first) >= 32
