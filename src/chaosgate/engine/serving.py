"""A server from its start to its end: it serves until it is told to end, then lets open requests finish."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvloop
from aiohttp import web

from chaosgate.engine.api.limits import LIMITS, Limits
from chaosgate.engine.api.log import LOG
from chaosgate.engine.api.server import Api
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.options import ServerOptions
from chaosgate.engine.runtime.config import EngineConfig
from chaosgate.engine.runtime.engine import Engine
from chaosgate.errors import UsageError
from chaosgate.servers import listen, url_of

if TYPE_CHECKING:
    from chaosgate.engine.faulting import Faulting

SWITCH_SECONDS = 0.001
"""The event loop and the compute thread share the interpreter; Python's default lets one hold it for 5 ms, which is
several decoding steps."""

SHUTDOWN_SECONDS = 0.5
"""How long open connections may take to end after the engine has closed their streams."""

FILES = 8192
"""Open files to ask the system for: each connection is one, and some systems give a process 256."""

Announce = Callable[[Engine, str], None]
"""Told once requests are answered: the engine and its URL."""


def run(options: ServerOptions, announce: Announce) -> None:
    """Serves until a signal or the end of the lifetime; UsageError for an address or a file that cannot be had."""
    sys.setswitchinterval(SWITCH_SECONDS)
    allow_files(FILES)
    if options.ready_file is not None:
        # One that a killed server left would send its readers nowhere.
        remove_ready(options.ready_file)
    faulting = None if options.faults is None else _faulting(options.faults)
    listener = listen(options.host, options.port)
    uvloop.run(serve(listener, options, announce, faulting))


def _faulting(file: Path) -> Faulting:
    # Only here: an engine that carries no faults starts without loading them.
    from chaosgate.engine.faulting import read_faulting

    model = ModelConfig()
    return read_faulting(file, model.layers, model.experts)


def allow_files(wanted: int) -> None:
    """Raises this process' limit of open files to `wanted`, or as far as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


async def serve(
    listener: socket.socket, options: ServerOptions, announce: Announce, faulting: Faulting | None = None
) -> None:
    """Serves on `listener`. The first signal lets open requests finish for `options.grace` seconds, a second does not.

    Once requests are answered `announce` is told, and then the ready file is there until the server is to end.
    """
    ending = _Ending()
    async with answering(listener, options.config, faulting=faulting) as (engine, api):
        url = url_of(listener)
        announce(engine, url)
        with ready(options.ready_file, url):
            await ending.told(options.lifetime)
        await ending.drained(api, options.grace)


@asynccontextmanager
async def answering(
    listener: socket.socket, config: EngineConfig, limits: Limits = LIMITS, faulting: Faulting | None = None
) -> AsyncIterator[tuple[Engine, Api]]:
    """An engine that answers on `listener` until the block is left, which cuts open streams."""
    engine = Engine(config)
    api = Api(engine, limits, faulting)
    # Without handler_cancellation a client that leaves a request that does not stream would go unnoticed.
    runner = web.AppRunner(
        api.application(),
        access_log=None,
        logger=LOG,
        handler_cancellation=True,
        keepalive_timeout=limits.idle_seconds,
        shutdown_timeout=SHUTDOWN_SECONDS,
    )
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        yield engine, api
    finally:
        await runner.cleanup()


@contextmanager
def in_background(config: EngineConfig) -> Iterator[str]:
    """The URL of a server in a thread of this process, on a free port of the loopback interface."""
    listener, end = listen("127.0.0.1", 0), asyncio.Event()
    up: Future[asyncio.AbstractEventLoop] = Future()

    async def hold() -> None:
        async with answering(listener, config):
            up.set_result(asyncio.get_running_loop())
            await end.wait()

    with ThreadPoolExecutor(1, "chaosgate-server") as threads:
        ended = threads.submit(lambda: uvloop.run(hold()))
        either: list[Future[Any]] = [up, ended]
        wait(either, return_when=FIRST_COMPLETED)
        if ended.done():
            ended.result()
        try:
            yield url_of(listener)
        finally:
            up.result().call_soon_threadsafe(end.set)


class _Ending:
    """The signals that end a server: the first one asks, a second one insists."""

    def __init__(self) -> None:
        self._asked, self._insisted = asyncio.Event(), asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._signalled)

    def _signalled(self) -> None:
        (self._insisted if self._asked.is_set() else self._asked).set()

    async def told(self, lifetime: float | None) -> None:
        """Returns once the server is to end."""
        try:
            await asyncio.wait_for(self._asked.wait(), lifetime)
        except TimeoutError:
            self._asked.set()
            say(f"its lifetime of {lifetime:g} s is over")

    async def drained(self, api: Api, grace: float) -> None:
        """Returns once no request is open, `grace` seconds are over, or a signal insists."""
        if api.open:
            say(f"{api.open} requests get {grace:g} s to finish; a second signal ends them at once")
        tasks = [asyncio.create_task(api.drain(grace)), asyncio.create_task(self._insisted.wait())]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        if api.open:
            say(f"{api.open} requests were cut off")


def say(text: str) -> None:
    """One line of the server's log."""
    print(f"chaosgate engine: {text}", file=sys.stderr, flush=True)


def announce_line(engine: Engine, url: str) -> None:
    """The one line that a log gets when a server is up."""
    say(f"serving {engine.config.model} on {url}")


@contextmanager
def ready(path: Path | None, url: str) -> Iterator[None]:
    """A ready file, `{"url", "pid"}`, for as long as the block runs; one that another server wrote over it stays."""
    if path is None:
        yield
        return
    text = json.dumps({"url": url, "pid": os.getpid()}) + "\n"
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
