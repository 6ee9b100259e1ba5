"""The command `gateway`: the gateway as a tool of its own, before any server of OpenAI's API."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chaosgate.engine.options import OneLineErrors, ending_options

if TYPE_CHECKING:
    from chaosgate.cli.gateway_serving import GatewayOptions

_FILE = click.Path(path_type=Path)


def gateway_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What the gateway is started with; the command gets it as one GatewayOptions, `options`."""

    @wraps(command)
    def called(**given: Any) -> Any:
        from chaosgate.cli.gateway_serving import GatewayOptions

        return command(options=GatewayOptions(**given))

    for option in reversed([*_OPTIONS, *ending_options()]):
        called = option(called)
    return called


_OPTIONS = (
    click.option("--upstream", metavar="URL", help="The server behind it, such as http://127.0.0.1:8000."),
    click.option(
        "--fault",
        "faults",
        multiple=True,
        metavar="KIND=DOSE[,NAME=VALUE]...",
        help="A fault that is on throughout; as often as you like.",
    ),
    click.option("--config", type=_FILE, metavar="FILE", help="The same in YAML, with more to set."),
    click.option("--seed", type=int, metavar="NUMBER", help="Fixes which requests are hit.  [default: 1]"),
    click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on."),
    click.option("--port", type=int, default=8080, show_default=True, help="Port, 0 for any free one."),
    click.option("--admin-port", type=int, default=0, help="Port for metrics and admin, on loopback.  [default: any]"),
    click.option("--token-file", type=_FILE, metavar="FILE", help="Token that lets its holder switch faults."),
    click.option("--ledger", type=_FILE, metavar="FILE", help="Write what was done to each request, as NDJSON."),
    click.option("--live/--no-live", default=True, help="Draw the numbers on a terminal, or print lines."),
)


@click.command(cls=OneLineErrors)
@gateway_options
def gateway(options: GatewayOptions) -> None:
    """Serve a fault proxy before any server of OpenAI's API.

    Point a client at its URL: requests pass unchanged but for what the faults do to them. `chaosgate catalogue` lists
    the kinds of faults and their parameters. Ctrl-C ends it with a summary.

    \b
    chaosgate gateway --upstream http://127.0.0.1:8000 \\
      --fault wire.latency=200ms,share=30% --fault wire.error=5%,status=429
    """
    from chaosgate.cli.gateway_serving import run

    run(options)
