"""What a person sees while a run goes on: phases, a progress bar, live P99 of the first token and error rate."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from chaosgate.cli.console import PatientConsole
from chaosgate.errors import one_line
from chaosgate.model.plan import Step
from chaosgate.units import format_duration, format_value

LINE_EVERY = 10.0
"""Seconds between two progress lines where there is no terminal to draw on."""


class Quiet:
    """Says nothing."""

    def started(self, step: Step) -> None: ...
    def progress(self, step: Step, told: Mapping[str, Any]) -> None: ...
    def ended(self, step: Step, exit_code: int) -> None: ...


class Lines:
    """One line a phase and one every few seconds, for logs."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.begun = time.monotonic()
        self.next_line = 0.0
        self.window = ""
        self.notes: set[str] = set()

    def say(self, text: str) -> None:
        """One line with the time since the start."""
        self.console.print(f"[{time.monotonic() - self.begun:6.1f} s] {text}", markup=False, highlight=False)

    def note(self, step: Step, told: Mapping[str, Any]) -> None:
        """A line for what a step notes, once for each text."""
        if told["event"] == "note":
            line = f"{step.id} note: {one_line(str(told['text']))}"
            if line not in self.notes:
                self.notes.add(line)
                self.say(line)

    def started(self, step: Step) -> None:
        """Name the step."""
        self.say(f"{step.id} started")

    def progress(self, step: Step, told: Mapping[str, Any]) -> None:
        """Remember the window, and now and then say how the load does."""
        self.note(step, told)
        if told["event"] in ("window", "recovery"):
            self.window = window_text(told)
        elif told["event"] == "load" and time.monotonic() >= self.next_line:
            self.next_line = time.monotonic() + LINE_EVERY
            self.say(f"{step.id} {load_text(told)} {self.window}".rstrip())

    def ended(self, step: Step, exit_code: int) -> None:
        """Say how the step ended."""
        self.say(f"{step.id} ended" + (f" with exit code {exit_code}" if exit_code else ""))


class Bar(Lines):
    """A progress bar over the planned load with the live numbers beside it; finished steps scroll by above it."""

    def __init__(self, length: float, console: Console, bar: Progress) -> None:
        super().__init__(console)
        self.bar = bar
        self.task = bar.add_task("starting", total=length, numbers="")
        self.before = 0.0

    def say(self, text: str) -> None:
        """Above the bar."""
        self.bar.console.print(f"[{time.monotonic() - self.begun:6.1f} s] {text}", markup=False, highlight=False)

    def started(self, step: Step) -> None:
        """Name the step in front of the bar."""
        self.bar.update(self.task, description=step.id)

    def progress(self, step: Step, told: Mapping[str, Any]) -> None:
        """Move the bar and show the numbers."""
        self.note(step, told)
        if told["event"] in ("window", "recovery"):
            self.window = window_text(told)
        elif told["event"] == "load":
            done = self.before + float(told["elapsed"])
            self.bar.update(
                self.task, completed=done, description=step.id, numbers=load_text(told) + "  " + self.window
            )

    def ended(self, step: Step, exit_code: int) -> None:
        """Say how the step ended, and go on from where its load stopped."""
        super().ended(step, exit_code)
        if step.component == "measure":
            self.before = float(self.bar.tasks[self.task].completed)
        self.window = ""


def load_text(told: Mapping[str, Any]) -> str:
    """`412 requests  TTFT p99 12.3ms  errors 0 %`."""
    return (
        f"{told['requests']} requests  TTFT p99 {format_value(told['ttft_p99'], 'duration')}  "
        f"errors {format_value(told['error_rate'], 'share')}"
    )


def window_text(told: Mapping[str, Any]) -> str:
    """`slow-wire 180ms (window 7 of 26)`, where dose 0 is a control, or `recovery`."""
    if told["event"] == "recovery":
        return "recovery"
    dose = format_value(told["dose"], told["dimension"]) if told["dose"] else "control"
    return f"{told['fault']} {dose} (window {told['window'] + 1} of {told['of']})"


@contextmanager
def make_listener(length: float, run: str, *, quiet: bool) -> Iterator[Quiet | Lines]:
    """The listener of a run with `length` seconds of load: nothing, lines for a log, or a bar for a terminal."""
    console = PatientConsole(stderr=False, soft_wrap=True)
    if quiet:
        yield Quiet()
        return
    console.print(f"run {run}: {format_duration(round(length, 1))} of load", markup=False, highlight=False)
    if not console.is_terminal:
        yield Lines(console)
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.fields[numbers]}"), console=console, transient=True) as bar:
        yield Bar(length, console, bar)
