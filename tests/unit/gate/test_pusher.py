"""Whether whoever pushes is still there: seen by what they leave unread."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import pusher as module
import pytest
from pusher import Pusher, unread


@dataclass
class Pipe:
    """What stands for standard error, and its other end."""

    reading: int
    stderr: TextIO

    def read(self) -> str:
        return os.read(self.reading, 1000).decode()


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pipe]:
    """A pipe with an open reader; heartbeats are due at once."""
    monkeypatch.setattr(module, "HEARTBEAT", 0.0)
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as stderr:
        yield Pipe(reading, stderr)
    os.close(reading)


def test_one_who_reads_is_there(pipe: Pipe) -> None:
    pusher = Pusher(pipe.stderr)
    for _ in range(5):
        assert not pusher.left()
        assert pipe.read() == "chaosgate: at work for 0 s\n"


def test_one_who_reads_no_more_has_left_and_stays_away(pipe: Pipe) -> None:
    pusher = Pusher(pipe.stderr)
    assert not pusher.left()
    assert pusher.left()
    pipe.read()
    assert pusher.left()


def test_between_two_heartbeats_nothing_is_said(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HEARTBEAT", 3600.0)
    pusher = Pusher(pipe.stderr)
    pusher.say("a line that waits")
    assert not pusher.left()
    assert pipe.read() == "chaosgate: a line that waits\n"


def test_one_whose_git_is_gone_has_left(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    pusher = Pusher(pipe.stderr)
    monkeypatch.setattr(os, "getppid", lambda: 1)
    assert pusher.left()


def test_saying_something_to_nobody_is_no_error(pipe: Pipe) -> None:
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, pipe.reading)
    os.close(nowhere)
    Pusher(pipe.stderr).say("hello")
    # What could not be written waits in the stream, and is not tried again when it is closed.
    os.dup2(os.open(os.devnull, os.O_WRONLY), pipe.stderr.fileno())


def test_what_is_no_pipe_has_nothing_unread(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("abc")
    with (tmp_path / "file").open() as file:
        assert unread(file.fileno()) == 0
