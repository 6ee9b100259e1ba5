"""How a server of this program lives: its ready file, the signal that ends it, or a thread to run in.

And what a process needs that keeps many connections and must not stand still: open files, short collections.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import resource
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import uvloop

from chaosgate.errors import UsageError

RARELY = 10
"""How much rarer the oldest objects are walked where nothing may stand still; a walk of 200,000 takes 26 ms."""

Served = TypeVar("Served")
Result = TypeVar("Result")


def told_to_end() -> asyncio.Event:
    """Set once SIGTERM or SIGINT comes; to be called before anybody could send one."""
    told = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    return told


async def set_within(event: asyncio.Event, seconds: float | None) -> bool:
    """Returns once `event` is set: True; False where `seconds` were over before. None waits for ever."""
    try:
        return await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False


def allow_files(wanted: int) -> None:
    """Raises this process' soft limit of open files to `wanted`, or as far as the hard one lets it; never lowers it.

    Many systems start with 1,024, fewer than slow answers to many requests need; beyond it no connection is made.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


@contextmanager
def short_collections() -> Iterator[None]:
    """Keep the garbage collector from walking what exists already: such a walk holds everything up for milliseconds.

    What is garbage by then stays until the block is left: call `gc.collect` before, when there is time for it. What
    comes later and stays, as what a measurement collects, is walked a tenth as often as usual.
    """
    young, middle, old = gc.get_threshold()
    gc.set_threshold(young, middle, RARELY * old)
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(young, middle, old)


@contextmanager
def ready(path: Path | None, url: str, **more: str) -> Iterator[None]:
    """A ready file, `{"url", "pid"}` and `more`, for as long as the block runs; one that another server wrote stays."""
    if path is None:
        yield
        return
    text = json.dumps({"url": url, **more, "pid": os.getpid()}) + "\n"
    write_ready(path, text)
    try:
        yield
    finally:
        with suppress(OSError, UnicodeError):
            if path.read_text(encoding="utf-8") == text:
                path.unlink()


def write_ready(path: Path, text: str) -> None:
    """Writes the ready file whole or not at all: a reader never sees half of it."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise UsageError(f"cannot write the ready file {path}: {error.strerror}") from error


def remove_ready(path: Path) -> None:
    """Removes an old ready file; a UsageError where it cannot be removed, or something else stands there."""
    if path.exists() and not path.is_file():
        raise UsageError(f"cannot replace the ready file {path}: it is no regular file; name another one")
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot replace the ready file {path}: {error.strerror}; name another one") from error


@dataclass(frozen=True)
class Background(Generic[Served]):
    """What is served in a thread with an event loop of its own."""

    served: Served
    loop: asyncio.AbstractEventLoop

    def call(self, function: Callable[[], Result]) -> Result:
        """What `function` returns or raises, called in the server's thread; not to be called from there."""

        async def called() -> Result:
            return function()

        return asyncio.run_coroutine_threadsafe(called(), self.loop).result()


@contextmanager
def in_background(serving: Callable[[], AbstractAsyncContextManager[Served]]) -> Iterator[Background[Served]]:
    """What `serving` enters, in a thread of this process until the block is left; its error where it does not start."""
    end = asyncio.Event()
    up: Future[Background[Served]] = Future()

    async def hold() -> None:
        async with serving() as served:
            up.set_result(Background(served, asyncio.get_running_loop()))
            await end.wait()

    with ThreadPoolExecutor(1, "chaosgate-server") as threads:
        ended = threads.submit(lambda: uvloop.run(hold()))
        either: list[Future[Any]] = [up, ended]
        wait(either, return_when=FIRST_COMPLETED)
        if ended.done():
            ended.result()
        try:
            yield up.result()
        finally:
            up.result().loop.call_soon_threadsafe(end.set)
        ended.result()
