"""One limit for many requests at once: `asyncio.timeout` without a timer of its own for each."""

from __future__ import annotations

import asyncio
from collections import deque
from types import TracebackType
from typing import Literal


class Deadlines:
    """Ends whatever runs longer than `limit` seconds, as `asyncio.timeout` does: by a TimeoutError.

    All limits are equal, so that deadlines come in the order in which they were set and one timer serves them all.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._waiting: deque[Deadline] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> Deadline:
        """A context that is to be left within the limit from now on, by the task that entered it."""
        loop = asyncio.get_running_loop()
        deadline = Deadline(loop.time() + self._limit)
        while self._waiting and self._waiting[0].task is None:
            self._waiting.popleft()
        self._waiting.append(deadline)
        if self._timer is None:
            self._timer = loop.call_at(deadline.at, self._expire)
        return deadline

    def _expire(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting and (self._waiting[0].task is None or self._waiting[0].at <= loop.time()):
            self._waiting.popleft().expire()
        self._timer = loop.call_at(self._waiting[0].at, self._expire) if self._waiting else None


class Deadline:
    """The deadline of one task, `at` on the loop's clock; `task` is None once it was met or has passed."""

    __slots__ = ("_cancelling", "_expired", "at", "task")

    def __init__(self, at: float) -> None:
        self.at = at
        self._expired = False
        self.task = asyncio.current_task()
        self._cancelling = 0 if self.task is None else self.task.cancelling()

    def expire(self) -> None:
        """Cancel the task, unless it has left."""
        if self.task is not None:
            self._expired = True
            self.task.cancel()

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> Literal[False]:
        task, self.task = self.task, None
        # Cancelled by somebody else as well, the cancellation goes on, as in asyncio.Timeout.
        alone = self._expired and task is not None and task.uncancel() <= self._cancelling
        if alone and kind is not None and issubclass(kind, asyncio.CancelledError):
            raise TimeoutError from error
        return False
