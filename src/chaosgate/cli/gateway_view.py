"""What a person sees of a gateway: a live view on a terminal, a line now and then in a log, a summary at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from chaosgate.cli.gateway_numbers import FaultNumbers, Meter, Numbers, Passed
from chaosgate.errors import one_line
from chaosgate.gateway.proxy import CLIENT_LEFT
from chaosgate.units import format_share, format_value

DRAW_EVERY = 0.25
"""Seconds between two pictures on a terminal."""
LINE_EVERY = 5.0
"""Seconds between two lines where there is no terminal."""


async def follow(meter: Meter, console: Console, title: str, *, live: bool) -> None:
    """Show what `meter` reads until this is cancelled: drawn on a terminal, else, or without `live`, as lines."""
    if not (live and console.is_terminal):
        await _repeat(LINE_EVERY, Lines(meter, console).show)
    # Transient: the summary takes the place of the last picture.
    with Live(console=console, auto_refresh=False, transient=True) as drawn:
        await _repeat(DRAW_EVERY, lambda: drawn.update(picture(title, meter.read()), refresh=True))


async def _repeat(every: float, show: Callable[[], None]) -> None:
    while True:
        show()
        await asyncio.sleep(every)


class Lines:
    """A line a time for logs, none where nothing happened since the last one."""

    def __init__(self, meter: Meter, console: Console) -> None:
        self._meter, self._console = meter, console
        self._requests = 0

    def show(self) -> None:
        """Print the line."""
        numbers = self._meter.read()
        if numbers.requests > self._requests or numbers.under_way:
            self._console.print(line(numbers), markup=False, highlight=False)
        self._requests = numbers.requests


def line(numbers: Numbers) -> str:
    """`[  12.0 s] 34 requests, 6.8/s, 2 under way; 200: 30, 503: 4; wire-error on 4 of 34; gateway p99 0.9ms`."""
    faults = ", ".join(f"{fault.name} on {fault.applied} of {fault.planned}" for fault in numbers.faults)
    parts = (
        f"{numbers.requests} requests, {numbers.rate:.1f}/s, {numbers.under_way} under way",
        counted({status_word(status): count for status, count in numbers.statuses.items()}),
        faults,
        f"gateway p99 {milliseconds(numbers.p99)}",
        f"halted: {one_line(numbers.halted)}" if numbers.halted else "",
    )
    return f"[{numbers.since_start:6.1f} s] {'; '.join(filter(None, parts))}"


def picture(title: str, numbers: Numbers) -> RenderableType:
    """Everything at one moment: numbers, statuses, faults, the newest requests."""
    parts: list[RenderableType] = [
        Text.assemble((title, "bold"), f"   {numbers.since_start:.0f} s   Ctrl-C ends it"),
        totals(numbers),
        fault_table(numbers.faults),
        newest(numbers.newest),
    ]
    if numbers.halted:
        parts.insert(2, Text(f"halted: {one_line(numbers.halted)}", style="bold red"))
    return _apart(parts)


def summary(numbers: Numbers) -> RenderableType:
    """What became of all requests, for the end."""
    return _apart([totals(numbers), *([fault_table(numbers.faults)] if numbers.faults else [])])


def _apart(parts: Sequence[RenderableType]) -> Group:
    """One below the other, with an empty line between."""
    return Group(*(piece for part in parts for piece in (part, "")))


def totals(numbers: Numbers) -> Table:
    """Requests, their statuses, and what the gateway itself costs."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_row(Text("requests", style="bold"), f"{numbers.requests}, {numbers.rate:.1f}/s of late")
    table.add_row(Text("under way", style="bold"), str(numbers.under_way))
    table.add_row(Text("by status", style="bold"), statuses_text(numbers.statuses))
    own = f"p50 {milliseconds(numbers.p50)}, p99 {milliseconds(numbers.p99)}, injected delays left out"
    table.add_row(Text("added by the gateway", style="bold"), own)
    return table


def statuses_text(statuses: Mapping[int, int]) -> Text:
    """The statuses with their counts, in the colour of what they mean."""
    parts = [Text(f"{status_word(status)}: {count}", style=_colour(status)) for status, count in statuses.items()]
    return Text(", ").join(parts) if parts else Text("none yet", style="dim")


def status_word(status: int) -> str:
    """`200`, or in words what no server sent."""
    return "client left" if status == CLIENT_LEFT else str(status)


def fault_table(faults: tuple[FaultNumbers, ...]) -> Table:
    """A row a fault: how many requests it was meant for, how many it touched, and why not the others."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("fault", "kind", "dose"):
        table.add_column(name, no_wrap=True)
    for name in ("planned", "applied"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("bypassed", overflow="fold")
    for fault in faults:
        table.add_row(
            Text(fault.name), fault.kind, fault.dose, str(fault.planned), _applied(fault), Text(counted(fault.bypassed))
        )
    return table


def newest(requests: tuple[Passed, ...]) -> Table:
    """The newest requests of the ledger, the last one below."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("at", "request", "what was done to it"):
        table.add_column(name, no_wrap=True, overflow="ellipsis")
    for one in requests:
        done = Text(one_line("; ".join(one.effects)), style="yellow") if one.effects else Text("untouched", style="dim")
        table.add_row(f"{one.done:.1f} s", one.request.partition(".")[2], done)
    return table


def counted(counts: Mapping[str, int]) -> str:
    """`dose 0: 3, halted: 1`."""
    return ", ".join(f"{one_line(what)}: {count}" for what, count in counts.items())


def milliseconds(seconds: float | None) -> str:
    """A latency to the microsecond, `-` where there is none."""
    return "-" if seconds is None else format_value(round(seconds, 6), "duration")


def _applied(fault: FaultNumbers) -> Text:
    share = f" ({format_share(round(fault.applied / fault.planned, 3))})" if fault.planned else ""
    return Text(f"{fault.applied}{share}", style="yellow" if fault.applied else "")


def _colour(status: int) -> str:
    return "green" if status < 400 else "yellow" if status < 500 else "red"
