"""The logs of a run as lines for people."""

from __future__ import annotations

import time

import click

from chaosgate.errors import one_line
from chaosgate.run.logs import Logs, Reader


class LogPrinter:
    """Prints the logs of a run: of the step or server `only`, else of all, each line behind the name of its own."""

    def __init__(self, logs: Logs, only: str | None, width: int) -> None:
        self.logs, self.only, self.width = logs, only, width
        self.readers: dict[str, Reader] = {}

    def print_all(self, tail: int | None, *, follow: bool) -> None:
        """Everything so far, at most `tail` lines of each log; with `follow` what comes until the run is over."""
        for name in self.new_logs():
            for line in self.readers[name].tail(tail):
                self.print_line(name, line)
        while follow and not self.logs.is_over():
            time.sleep(self.logs.poll)
            self.print_new(rest=False)
        self.print_new(rest=True)

    def print_new(self, *, rest: bool) -> None:
        """What was logged since the last look; `rest`: unfinished lines too, for nothing more comes."""
        self.new_logs()
        for name, reader in self.readers.items():
            for line in reader.lines(rest=rest):
                self.print_line(name, line)

    def new_logs(self) -> list[str]:
        """Open the logs that were not there at the last look."""
        new = [name for name in self.logs.names() if name not in self.readers and self.only in (None, name)]
        self.readers |= {name: self.logs.open(name) for name in new}
        return new

    def print_line(self, name: str, line: str) -> None:
        """One line; what a server wrote may hold anything."""
        prefix = f"{one_line(name):<{self.width}} | " if self.only is None else ""
        click.echo(prefix + one_line(line))
