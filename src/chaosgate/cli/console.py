"""The console everything for people is printed on."""

from __future__ import annotations

import os
import sys

from rich.console import Console


class PatientConsole(Console):
    """Goes quiet when whoever reads it leaves, as in `chaosgate run SPEC | head`: the run and its exit code stand."""

    def on_broken_pipe(self) -> None:
        """Say nothing more, and leave nothing to be flushed at the end."""
        self.quiet = True
        silence_stdout()


def silence_stdout() -> None:
    """Send whatever is still printed nowhere, what Python flushes when it ends included."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
