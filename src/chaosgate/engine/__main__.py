"""`python -m chaosgate.engine`: serves the embedded engine until SIGTERM, SIGINT or the end of its lifetime."""

from __future__ import annotations

import os

# A BLAS reads its thread count when numpy is first imported. Products of this size are slower on several threads, and
# the other cores belong to the load and the gateway.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import asyncio
import json
import signal
import socket
import sys
from pathlib import Path

import uvloop
from aiohttp import web

from chaosgate.engine.config import EngineConfig
from chaosgate.engine.engine import Engine
from chaosgate.engine.server import Api
from chaosgate.errors import UsageError
from chaosgate.servers import lifetime_argument, listen, url_of

SWITCH_SECONDS = 0.001
"""The event loop and the compute thread share the interpreter; Python's default lets one hold it for 5 ms, which is
several decoding steps."""

SHUTDOWN_SECONDS = 0.5
"""How long open connections may take to end after the engine has closed their streams."""


def main(arguments: list[str] | None = None) -> int:
    """Runs the server; the exit code is 0 once it was ended and 2 for an address that cannot be had."""
    options = _parser().parse_args(arguments)
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        listener = listen(options.host, options.port)
        config = EngineConfig(model=options.model, seed=options.seed)
        uvloop.run(serve(listener, config, options.ready_file, options.lifetime))
    except UsageError as error:
        print(f"chaosgate engine: {error}", file=sys.stderr)
        return error.exit_code
    return 0


async def serve(listener: socket.socket, config: EngineConfig, ready_file: Path | None, lifetime: float | None) -> None:
    """Serves on `listener` until a signal asks to stop or `lifetime` seconds are over.

    `ready_file` is written once requests are answered.
    """
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    # Without handler_cancellation a client that leaves a request that does not stream would go unnoticed.
    runner = web.AppRunner(
        Api(Engine(config)).application(),
        access_log=None,
        handler_cancellation=True,
        shutdown_timeout=SHUTDOWN_SECONDS,
    )
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        url = url_of(listener)
        if ready_file is not None:
            write_ready(ready_file, url)
        print(f"chaosgate engine: serving {config.model} on {url}", file=sys.stderr, flush=True)
        await asyncio.wait_for(stop.wait(), lifetime)
    except TimeoutError:
        print(f"chaosgate engine: its lifetime of {lifetime:g} s is over", file=sys.stderr)
    finally:
        await runner.cleanup()


def write_ready(path: Path, url: str) -> None:
    """Writes `{"url", "pid"}` whole or not at all: a reader never sees half of it."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(json.dumps({"url": url, "pid": os.getpid()}) + "\n", encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write the ready file {path}: {error.strerror}") from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="chaosgate engine", description="Serve the embedded model over OpenAI's API.", allow_abbrev=False
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8000, help="port, 0 for any free one (default: %(default)s)")
    parser.add_argument("--model", default=EngineConfig.model, help="name to serve under (default: %(default)s)")
    parser.add_argument("--seed", type=_seed, default=EngineConfig.seed, help="of the weights (default: %(default)s)")
    parser.add_argument("--ready-file", type=Path, help="file to write {url, pid} to once requests are answered")
    parser.add_argument("--lifetime", type=lifetime_argument, help="seconds after which it ends by itself")
    return parser


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"a seed is a whole number of 0 or more, got {text!r}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
