"""Whoever pushes: they read what the hook prints, and may leave before it is done."""

from __future__ import annotations

import array
import fcntl
import os
import stat
import termios
import time
from contextlib import suppress
from typing import TextIO

HEARTBEAT = 10.0
"""Seconds between two lines that only say that the hook is at work."""


class Pusher:
    """The other end of `stream`, the hook's standard error, which git passes on to whoever pushes."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.parent = stream, os.getppid()
        self.begun = self.beat = time.monotonic()
        self.gone = False

    def say(self, text: str) -> None:
        """A line for whoever pushes. They may have left; the hook ends in order all the same."""
        with suppress(OSError):
            print(f"chaosgate: {text}", file=self.stream, flush=True)

    def left(self) -> bool:
        """Whether they have gone; now and then it says that the hook is at work, which is how it finds out.

        git itself ends when it is interrupted. When only the connection is cut it stays, waits for the hook and passes
        nothing on any more: then a line is still unread when the next one is due.
        """
        now = time.monotonic()
        if not self.gone and now >= self.beat + HEARTBEAT:
            self.gone = unread(self.stream.fileno()) > 0
            self.beat = now
            self.say(f"at work for {now - self.begun:.0f} s")
        return self.gone or os.getppid() != self.parent


def unread(descriptor: int) -> int:
    """The bytes that wait in a pipe for its reader; 0 for whatever is no pipe."""
    if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        return 0
    waiting = array.array("i", [0])
    fcntl.ioctl(descriptor, termios.FIONREAD, waiting)
    return waiting[0]
