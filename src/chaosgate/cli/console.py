"""The console everything for people is printed on."""

from __future__ import annotations

import os
import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

LOG_WIDTH = 170
"""Columns of a table in a log."""


class PatientConsole(Console):
    """Goes quiet when whoever reads it leaves, as in `chaosgate run SPEC | head`: the run and its exit code stand."""

    def on_broken_pipe(self) -> None:
        """Say nothing more, and leave nothing to be flushed at the end."""
        self.quiet = True
        silence_stdout()


def make_console() -> PatientConsole:
    """Standard output; where that is no terminal, wide enough that a table need not fold its cells."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    return PatientConsole(highlight=False, soft_wrap=True, width=None if terminal else LOG_WIDTH)


def print_hanging(console: Console, head: Text, body: Text) -> None:
    """`head` and `body` in one line; on a terminal with less room `body` goes on below where it began.

    A path alone is never cut in two: a terminal that breaks it by itself can still copy it.
    """
    line = Text.assemble(head, body)
    if not console.is_terminal or line.cell_len <= console.width or " " not in body.plain:
        console.print(line)
        return
    grid = Table.grid()
    grid.add_column(width=head.cell_len, no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(head, body)
    console.print(grid)


def silence_stdout() -> None:
    """Send whatever is still printed nowhere, what Python flushes when it ends included."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
