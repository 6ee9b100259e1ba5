"""What a person sees of a load while it runs and at its end."""

from __future__ import annotations

import asyncio
import re
from io import StringIO
from typing import Any

import pytest
from rich.console import Console
from scripted_requests import request
from small_drill import eventually

from chaosgate.cli.load_tally import Goal, Numbers, Tally
from chaosgate.cli.load_view import follow, line, picture
from chaosgate.loadgen.trace import Pending

NUMBERS = Numbers(
    elapsed=12.04,
    share=0.4,
    requests=240,
    outcomes={"ok": 238, "error": 2},
    asked=20.0,
    sent=20.06,
    tokens=160.4,
    in_flight=3,
    ttft_p50=0.0412,
    ttft_p99=0.08,
    delay_p99=0.001,
)


def of(**changed: Any) -> Numbers:
    return Numbers(**{**vars(NUMBERS), **changed})


def shown(numbers: Numbers) -> str:
    out = StringIO()
    Console(file=out, width=100, highlight=False).print(picture("chaosgate load http://h", numbers))
    return out.getvalue()


def test_a_line_has_everything() -> None:
    assert line(NUMBERS) == (
        "[  12.0 s] 240 requests, 20.1/s sent of 20/s; 3 in flight; ok: 238, error: 2; TTFT p50 41.2ms p99 80ms; "
        "160 tokens/s"
    )


def test_what_is_unknown_is_not_made_up() -> None:
    said = line(of(asked=None, in_flight=None, ttft_p50=None, ttft_p99=None, outcomes={}))
    assert said == "[  12.0 s] 240 requests, 20.1/s sent; TTFT p50 - p99 -; 160 tokens/s"


def test_a_client_that_lags_is_shown_while_it_does() -> None:
    assert "LAGS" not in line(NUMBERS)
    assert "LAGS" not in shown(NUMBERS)
    assert line(of(delay_p99=0.06)).endswith("; THE CLIENT LAGS by 60ms (p99)")
    assert "THE CLIENT LAGS by 60ms (p99)" in shown(of(delay_p99=0.06))


def test_the_picture_names_what_the_numbers_are_of() -> None:
    said = shown(NUMBERS)
    assert "chaosgate load http://h   12 s   Ctrl-C ends the sending" in said
    assert "240: ok 238, error 2" in said
    assert re.search(r"rate +20.1/s sent of 20/s +of the last 5 s", said)
    assert "━" in said


async def test_a_terminal_gets_a_picture_and_a_log_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chaosgate.cli.load_view.LINE_EVERY", 0.01)
    for terminal, live, says in ((True, True, "Ctrl-C"), (True, False, "[  12.0 s]"), (False, True, "[  12.0 s]")):
        out = StringIO()
        console = Console(file=out, force_terminal=terminal, width=100, color_system=None)
        task = asyncio.create_task(follow(lambda: NUMBERS, console, "title", live=live))
        await asyncio.to_thread(eventually, lambda says=says, out=out: says in out.getvalue(), says)
        task.cancel()
        await asyncio.wait([task])


def test_the_tally_reads_the_last_seconds_only() -> None:
    tally = Tally()
    for at in range(20):
        tally.add(request(scheduled=at + 0.0, first=0.5 if at < 10 else 0.1, end=0.9))
    read = tally.read(20.0, [Pending("x", 19.5, None, False)], 1.0, Goal(40.0, None))
    assert (read.requests, read.in_flight, read.share) == (20, 1, 0.5)
    assert read.ttft_p99 == pytest.approx(0.1)
    assert read.sent == pytest.approx(6 / 5)
    assert tally.read(20.0, None, None, Goal(40.0, 80)).share == 0.25
    tally.forget()
    assert tally.read(20.0, None, None, Goal(40.0, None)).ttft_p50 is None
