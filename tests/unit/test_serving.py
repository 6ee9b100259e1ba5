"""What holds for every server: its ready file, its limit of files, how it is told to end, a thread to run in."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from chaosgate.errors import UsageError
from chaosgate.serving import allow_files, in_background, ready, remove_ready, set_within, told_to_end, write_ready


def test_a_ready_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write the ready file .*/missing/ready.json: No such file"):
        write_ready(tmp_path / "missing" / "ready.json", "{}")


def test_a_ready_file_is_there_for_as_long_as_the_server_takes_requests(tmp_path: Path) -> None:
    file = tmp_path / "ready.json"
    with ready(file, "http://h:1"):
        assert json.loads(file.read_text()) == {"url": "http://h:1", "pid": os.getpid()}
    assert os.listdir(tmp_path) == []
    with ready(None, "http://h:1"):
        assert os.listdir(tmp_path) == []


def test_the_ready_file_of_another_server_stays(tmp_path: Path) -> None:
    file = tmp_path / "ready.json"
    with ready(file, "http://h:1"):
        file.write_text("another's")
    assert file.read_text() == "another's"
    with ready(file, "http://h:1"):
        file.unlink()


def test_only_a_file_gives_way_to_the_ready_file(tmp_path: Path) -> None:
    remove_ready(tmp_path / "none")
    for path in (tmp_path, Path("/dev/null")):
        with pytest.raises(UsageError) as caught:
            remove_ready(path)
        assert str(caught.value) == f"cannot replace the ready file {path}: it is no regular file; name another one"
        assert path.exists()


def test_the_limit_of_open_files_is_raised_and_never_lowered() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    _, hard = before
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        allow_files(1024)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(1024, hard)
        allow_files(512)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(1024, hard)
        allow_files(hard + 1)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == hard
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@asynccontextmanager
async def counting(log: list[str], *, fails: bool = False) -> AsyncIterator[list[str]]:
    """Something that is served: it notes its start and end."""
    if fails:
        raise UsageError("no address")
    log.append("begun")
    yield log
    log.append("ended")


def test_what_runs_in_the_background_is_called_in_its_own_thread() -> None:
    log: list[str] = []
    with in_background(lambda: counting(log)) as background:
        assert background.served is log
        thread = background.call(threading.current_thread)
        assert thread is not threading.current_thread()
        with pytest.raises(ZeroDivisionError):
            background.call(lambda: 1 // 0)
        assert log == ["begun"]
    assert log == ["begun", "ended"]
    assert not thread.is_alive()


def test_what_does_not_start_in_the_background_says_why() -> None:
    with pytest.raises(UsageError, match="no address"), in_background(lambda: counting([], fails=True)):
        pass


async def test_a_wait_ends_with_its_event_or_its_time() -> None:
    event = asyncio.Event()
    assert not await set_within(event, 0.01)
    event.set()
    assert await set_within(event, 0.01)
    assert await set_within(event, None)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_is_told(number: signal.Signals) -> None:
    told = told_to_end()
    assert not told.is_set()
    try:
        os.kill(os.getpid(), number)
        assert await set_within(told, 10)
    finally:
        for one in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().remove_signal_handler(one)
