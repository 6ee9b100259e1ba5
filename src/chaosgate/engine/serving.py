"""A server from its start to its end: it serves until it is told to end, then lets open requests finish."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import uvloop
from aiohttp import web

from chaosgate import serving
from chaosgate.engine.api.limits import LIMITS, Limits
from chaosgate.engine.api.log import LOG
from chaosgate.engine.api.server import Api
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.options import ServerOptions
from chaosgate.engine.runtime.config import EngineConfig
from chaosgate.engine.runtime.engine import Engine
from chaosgate.servers import listen, url_of
from chaosgate.serving import allow_files, ready, remove_ready

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
    listener = listen("127.0.0.1", 0)
    with serving.in_background(lambda: answering(listener, config)):
        yield url_of(listener)


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
