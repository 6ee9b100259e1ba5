"""What a person sees of a load while it runs: a live picture on a terminal, a line now and then in a log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from chaosgate.cli.load_tally import OF_LATE, Numbers
from chaosgate.units import format_value

DRAW_EVERY = 0.5
"""Seconds between two pictures on a terminal."""
LINE_EVERY = 5.0
"""Seconds between two lines where there is no terminal."""
BAR = 40
"""Columns of the progress bar."""
LATE = 0.01
"""Seconds of schedule delay from which on it is shown as a warning: a fifth of what makes a measurement invalid."""


async def follow(read: Callable[[], Numbers], console: Console, title: str, *, live: bool) -> None:
    """Show what `read` gives until this is cancelled: drawn on a terminal, else, or without `live`, as lines."""
    if not (live and console.is_terminal):
        while True:
            await asyncio.sleep(LINE_EVERY)
            console.print(line(read()), markup=False, highlight=False)
    # Transient: the summary takes the place of the last picture.
    with Live(console=console, auto_refresh=False, transient=True) as drawn:
        while True:
            shown = picture(title, read())
            # In a thread: drawing takes milliseconds, and requests that are due meanwhile must not wait for it.
            await asyncio.to_thread(drawn.update, shown, refresh=True)
            await asyncio.sleep(DRAW_EVERY)


def line(numbers: Numbers) -> str:
    """`[  12.0 s] 240 requests, 20.1/s sent of 20/s; 3 in flight; ok: 240; TTFT p50 41ms p99 80ms; 160 tokens/s`."""
    parts = (
        f"{numbers.requests} requests, {sent_words(numbers)}",
        "" if numbers.in_flight is None else f"{numbers.in_flight} in flight",
        counted(numbers.outcomes),
        f"TTFT p50 {format_value(numbers.ttft_p50, 'duration')} p99 {format_value(numbers.ttft_p99, 'duration')}",
        f"{numbers.tokens:.0f} tokens/s",
        late_words(numbers),
    )
    return f"[{numbers.elapsed:6.1f} s] {'; '.join(filter(None, parts))}"


def sent_words(numbers: Numbers) -> str:
    """`19.8/s sent of 20/s`; a closed loop plans no rate."""
    return f"{numbers.sent:.1f}/s sent" + (
        "" if numbers.asked is None else f" of {format_value(numbers.asked, 'rate')}"
    )


def late_words(numbers: Numbers) -> str:
    """The warning that the client lags, empty while it does not."""
    late = numbers.delay_p99
    return f"THE CLIENT LAGS by {format_value(late, 'duration')} (p99)" if late is not None and late > LATE else ""


def counted(counts: Mapping[str, int]) -> str:
    """`ok: 238, error: 2`."""
    return ", ".join(f"{what}: {count}" for what, count in counts.items())


def picture(title: str, numbers: Numbers) -> RenderableType:
    """Everything at one moment."""
    parts: list[RenderableType] = [
        Text.assemble((title, "bold"), f"   {numbers.elapsed:.0f} s   Ctrl-C ends the sending"),
        "",
        ProgressBar(total=1.0, completed=numbers.share, width=BAR),
        "",
        _table(numbers),
    ]
    if late_words(numbers):
        parts += ["", Text(late_words(numbers), style="bold red")]
    return Group(*parts, "")


def _table(numbers: Numbers) -> Table:
    late = f"of the last {OF_LATE:.0f} s"
    table = Table.grid(padding=(0, 2, 0, 0))
    rows: tuple[tuple[str, RenderableType, str], ...] = (
        ("requests", Text.assemble(f"{numbers.requests}: ", outcome_text(numbers.outcomes)), ""),
        ("rate", sent_words(numbers), late),
        ("in flight", "-" if numbers.in_flight is None else str(numbers.in_flight), "now"),
        ("TTFT p50", format_value(numbers.ttft_p50, "duration"), late),
        ("TTFT p99", format_value(numbers.ttft_p99, "duration"), late),
        ("tokens", f"{numbers.tokens:.0f}/s", late),
        ("schedule delay p99", format_value(numbers.delay_p99, "duration"), late),
    )
    for name, value, of in rows:
        table.add_row(Text(name, style="bold"), value, Text(of, style="dim"))
    return table


def outcome_text(counts: Mapping[Any, int]) -> Text:
    """How requests ended, in the colour of what that means."""
    colours = {"ok": "green", "cancelled": "yellow"}
    parts = [Text(f"{what} {count}", style=colours.get(what, "red")) for what, count in counts.items() if count]
    return Text(", ").join(parts) if parts else Text("none yet", style="dim")
