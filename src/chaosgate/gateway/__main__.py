"""`python -m chaosgate.gateway`: serves one run's gateway until SIGTERM, SIGINT or the end of its lifetime."""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from pathlib import Path

import uvloop

from chaosgate.artifacts.files import write_whole
from chaosgate.errors import ChaosgateError
from chaosgate.gateway.admission import FILES
from chaosgate.gateway.config import load_config
from chaosgate.gateway.server import Gateway
from chaosgate.gateway.state import RunState
from chaosgate.servers import lifetime_argument, listen
from chaosgate.serving import allow_files, set_within, short_collections, told_to_end
from chaosgate.tokens import read_token_file, token_under


def main(arguments: list[str] | None = None) -> int:
    """Run the gateway; 0 once it was ended, 2 for a bad configuration or an address that cannot be had."""
    options = _parser().parse_args(arguments)
    try:
        config = load_config(options.config)
        token = _token(options, config.run)
        data, admin = listen(options.host, options.port), listen(options.admin_host, options.admin_port)
        allow_files(FILES)
        uvloop.run(_serve(Gateway(RunState(config), data, admin, token), options.ready_file, options.lifetime))
    except ChaosgateError as error:
        print(f"chaosgate gateway: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _token(options: argparse.Namespace, run: str) -> str:
    return read_token_file(options.token_file) if options.token_file else token_under(options.token_key, run)


async def _serve(gateway: Gateway, ready_file: Path | None, lifetime: float | None) -> None:
    told = told_to_end()
    async with gateway:
        ready = {"url": gateway.url, "admin": gateway.admin_url, "pid": os.getpid()}
        if ready_file is not None:
            write_whole(ready_file, json.dumps(ready).encode() + b"\n")
        gc.collect()
        with short_collections():
            ended = await set_within(told, lifetime)
        if not ended:
            print(f"chaosgate gateway: its lifetime of {lifetime:g} s is over", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="chaosgate gateway", description="Serve a run's gateway in front of its server.", allow_abbrev=False
    )
    parser.add_argument("--config", type=Path, required=True, help="the run's gateway configuration, a JSON file")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=0, help="data port, 0 for any free one (default: %(default)s)")
    parser.add_argument("--admin-host", default="127.0.0.1", help="the admin port's (default: %(default)s)")
    parser.add_argument("--admin-port", type=int, default=0, help="admin port (default: %(default)s)")
    parser.add_argument("--ready-file", type=Path, help="written as {url, admin, pid} once both serve")
    token = parser.add_mutually_exclusive_group(required=True)
    token.add_argument("--token-file", type=Path, help="file with the admin token")
    token.add_argument("--token-key", metavar="VARIABLE", help="environment variable with the key of the run's token")
    parser.add_argument("--lifetime", type=lifetime_argument, help="seconds after which it ends by itself")
    return parser


if __name__ == "__main__":
    sys.exit(main())
