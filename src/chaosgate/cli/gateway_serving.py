"""A gateway from its start to its end, as `chaosgate gateway` runs it."""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import click
import uvloop
from rich.console import Console
from rich.table import Table
from rich.text import Text

from chaosgate.cli.console import make_console
from chaosgate.cli.gateway_numbers import Meter
from chaosgate.cli.gateway_view import follow, summary
from chaosgate.gateway.admission import FILES
from chaosgate.gateway.config import GatewayConfig
from chaosgate.gateway.ledger_file import LedgerFile
from chaosgate.gateway.standing import Address, StandingGateway
from chaosgate.gateway.standing_config import standing_config
from chaosgate.model.standing import dose_of
from chaosgate.model.uri import without_password
from chaosgate.serving import allow_files, ready, remove_ready, set_within, told_to_end
from chaosgate.tokens import read_token_file
from chaosgate.units import format_value


@dataclass(frozen=True)
class GatewayOptions:
    """What the command was given."""

    upstream: str | None
    faults: tuple[str, ...]
    config: Path | None
    seed: int | None
    host: str
    port: int
    admin_port: int
    token_file: Path | None
    ledger: Path | None
    live: bool
    ready_file: Path | None
    lifetime: float | None


def run(options: GatewayOptions) -> None:
    """Serve until a signal or the end of the lifetime; a UsageError says what of the options is wrong."""
    if options.ready_file is not None:
        # One that a killed gateway left would send its readers nowhere.
        remove_ready(options.ready_file)
    config = standing_config(options.faults, upstream=options.upstream, seed=options.seed, file=options.config)
    # A token that nobody knows switches nothing.
    token = read_token_file(options.token_file) if options.token_file else secrets.token_urlsafe()
    if warning := exposed(options.host):
        click.echo(warning, err=True)
    allow_files(FILES)
    uvloop.run(_serve(config, token, options))


def exposed(host: str) -> str | None:
    """The warning where others than this machine reach the gateway on `host`."""
    if host == "localhost":
        return None
    with suppress(ValueError):
        if ipaddress.ip_address(host).is_loopback:
            return None
    return (
        f"--host {host}: whoever reaches this address uses the server behind the gateway, and gets its faults; "
        "the admin port stays on loopback"
    )


async def _serve(config: GatewayConfig, token: str, options: GatewayOptions) -> None:
    console, told = make_console(), told_to_end()
    gateway = StandingGateway(config, Address(options.host, options.port, options.admin_port), token)
    # The file is closed last: requests that are cut off at the end have their rows, too.
    with _ledger(gateway, options.ledger, told):
        meter = Meter(gateway)
        async with gateway:
            console.print(card(gateway), "", Text("Ctrl-C ends it.", style="dim"), "", sep="\n")
            with ready(options.ready_file, gateway.url, admin=gateway.admin_url):
                async with _followed(meter, console, f"chaosgate gateway {gateway.url}", live=options.live):
                    await set_within(told, options.lifetime)
        console.print(summary(meter.read()))


@contextmanager
def _ledger(gateway: StandingGateway, path: Path | None, broken: asyncio.Event) -> Iterator[None]:
    """Rows go to the file for as long as the block runs."""
    if path is None:
        yield
        return
    with LedgerFile(path, broken) as file:
        gateway.run.rows.listeners.append(file.write)
        yield


@asynccontextmanager
async def _followed(meter: Meter, console: Console, title: str, *, live: bool) -> AsyncIterator[None]:
    """The numbers are shown for as long as the block runs."""
    async with asyncio.TaskGroup() as group:
        view = group.create_task(follow(meter, console, title, live=live))
        try:
            yield
        finally:
            view.cancel()


def card(gateway: StandingGateway) -> Table:
    """Where the gateway is reached, what is behind it, and what it does to requests."""
    config = gateway.run.config
    table = Table.grid(padding=(0, 2, 0, 0))
    rows = [
        ("base URL", f"{gateway.url}/v1"),
        ("upstream", without_password(config.upstream)),
        ("metrics", f"{gateway.admin_url}/metrics"),
        ("seed", str(config.seed)),
    ]
    for fault in config.faults:
        dose = format_value(dose_of(fault), fault.axis().dimension)
        rows.append(("fault", f"{fault.name}: {fault.kind} at {dose}"))
    for name, value in rows:
        table.add_row(Text(name, style="bold"), Text(value))
    return table
