"""What a person sees while a run goes on."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console
from rich.progress import Progress

from chaosgate.cli.live import Bar, Lines, Quiet, load_text, make_listener, window_text
from chaosgate.model.plan import Step

DEPLOY = Step(id="deploy", component="deploy", deadline=1.0)
MEASURE = Step(id="block1-measure", component="measure", deadline=1.0)
LENGTH = 20.0
LOAD = {"event": "load", "elapsed": 4.0, "requests": 412, "ttft_p99": 0.0123, "error_rate": 0.01}
WINDOW = {"event": "window", "fault": "slow-wire", "dose": 0.18, "dimension": "duration", "window": 6, "of": 26}


def test_the_live_numbers_carry_their_units() -> None:
    assert load_text(LOAD) == "412 requests  TTFT p99 12.3ms  errors 1 %"


def test_a_number_that_is_not_there_is_a_dash() -> None:
    assert load_text({**LOAD, "ttft_p99": None, "error_rate": None}) == "412 requests  TTFT p99 -  errors -"


def test_a_window_names_fault_dose_and_place() -> None:
    assert window_text(WINDOW) == "slow-wire 180ms (window 7 of 26)"
    assert window_text({**WINDOW, "dose": 0.0}) == "slow-wire control (window 7 of 26)"


def test_a_log_gets_a_line_a_step_and_one_now_and_then() -> None:
    out = StringIO()
    lines = Lines(Console(file=out, width=200))
    lines.started(MEASURE)
    lines.progress(MEASURE, WINDOW)
    lines.progress(MEASURE, LOAD)
    lines.progress(MEASURE, LOAD)
    lines.ended(MEASURE, 0)
    lines.ended(DEPLOY, 3)
    said = [line.partition("] ")[2] for line in out.getvalue().splitlines()]
    assert said == [
        "block1-measure started",
        "block1-measure 412 requests  TTFT p99 12.3ms  errors 1 % slow-wire 180ms (window 7 of 26)",
        "block1-measure ended",
        "deploy ended with exit code 3",
    ]


def test_a_note_is_said_once_and_in_one_line() -> None:
    out = StringIO()
    lines = Lines(Console(file=out, width=200))
    for text in ("no gauges\n::error::forged\x1b[2J", "no gauges\n::error::forged\x1b[2J", "another"):
        lines.progress(MEASURE, {"event": "note", "text": text})
    said = [line.partition("] ")[2] for line in out.getvalue().splitlines()]
    assert said == ["block1-measure note: no gauges ::error::forged\ufffd[2J", "block1-measure note: another"]


def test_the_bar_says_notes_too() -> None:
    out = StringIO()
    with Progress(console=Console(file=out, width=200)) as progress:
        Bar(LENGTH, progress.console, progress).progress(MEASURE, {"event": "note", "text": "no gauges"})
    assert "block1-measure note: no gauges" in out.getvalue()


def test_the_bar_adds_up_over_the_phases() -> None:
    with Progress(console=Console(file=StringIO(), force_terminal=True)) as progress:
        bar = Bar(LENGTH, Console(file=StringIO()), progress)
        bar.progress(MEASURE, LOAD)
        bar.ended(MEASURE, 0)
        bar.progress(MEASURE, {**LOAD, "elapsed": 2.0})
        task = progress.tasks[0]
    assert (task.completed, task.total) == (6.0, 20.0)


def test_nothing_is_said_to_a_machine(capsys: pytest.CaptureFixture[str]) -> None:
    with make_listener(LENGTH, "some-run", quiet=True) as listener:
        assert isinstance(listener, Quiet)
        listener.started(DEPLOY)
        listener.progress(MEASURE, LOAD)
        listener.ended(DEPLOY, 0)
    assert capsys.readouterr() == ("", "")


def test_without_a_terminal_there_are_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with make_listener(LENGTH, "some-run", quiet=False) as listener:
        assert type(listener) is Lines
    assert capsys.readouterr().out == "run some-run: 20s of load\n"
