"""What a person sees of a gateway: numbers, a line, a picture."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from io import StringIO

import pytest
from gateway_rig import TOKEN, ask, until, upstream
from rich.console import Console, RenderableType

from chaosgate.cli import gateway_view
from chaosgate.cli.gateway_numbers import NEWEST, FaultNumbers, Meter, Numbers, Passed
from chaosgate.cli.gateway_view import follow, line, picture, summary
from chaosgate.gateway.standing import Address, StandingGateway
from chaosgate.gateway.standing_config import standing_config

NUMBERS = Numbers(
    since_start=12.0,
    requests=34,
    rate=6.8,
    under_way=2,
    statuses={200: 27, 499: 1, 503: 4},
    faults=(FaultNumbers("bad", "wire.error", "10 %", 34, 4, {"spared by the draw": 30}),),
    p50=0.0002,
    p99=0.0009,
    newest=(Passed("anonymous.abc.0", 1.0, ("bad: reply 503",)), Passed("anonymous.def.0", 2.0, ())),
    halted=None,
)


def drawn(shown: RenderableType) -> list[str]:
    console = Console(file=StringIO(), width=120)
    console.print(shown)
    return [" ".join(text.split()) for text in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def test_a_line_has_all_numbers() -> None:
    assert line(NUMBERS) == (
        "[  12.0 s] 34 requests, 6.8/s, 2 under way; 200: 27, client left: 1, 503: 4; bad on 4 of 34; gateway p99 900us"
    )


def test_nothing_is_made_up_before_the_first_request() -> None:
    empty = replace(NUMBERS, requests=0, rate=0.0, under_way=0, statuses={}, faults=(), p50=None, p99=None, newest=())
    assert line(empty) == "[  12.0 s] 0 requests, 0.0/s, 0 under way; gateway p99 -"
    assert "by status none yet" in drawn(summary(empty))


def test_the_picture_shows_faults_and_the_newest_requests() -> None:
    text = drawn(picture("the gateway", NUMBERS))
    assert text[0] == "the gateway 12 s Ctrl-C ends it"
    assert "by status 200: 27, client left: 1, 503: 4" in text
    assert "bad wire.error 10 % 34 4 (11.8 %) spared by the draw: 30" in text
    assert "1.0 s abc.0 bad: reply 503" in text
    assert "2.0 s def.0 untouched" in text


def test_what_others_wrote_forges_no_line_and_no_markup() -> None:
    forged = replace(NUMBERS.faults[0], bypassed={"the engine refused it: [red]a\nb\x1b[2J": 1})
    numbers = replace(NUMBERS, faults=(forged,), halted="x\ny", newest=(Passed("a.b.0", 1.0, ("[bold]\n",)),))
    for text in (drawn(picture("g", numbers)), [line(numbers)], drawn(summary(numbers))):
        assert not any("\x1b" in one for one in text)
    assert "halted: x y" in drawn(picture("g", numbers))
    assert any("[red]a b\ufffd[2J: 1" in one for one in drawn(summary(numbers)))


async def test_a_meter_reads_a_gateway() -> None:
    async with upstream() as url:
        config = standing_config(["wire.error=100%,status=503", "wire.latency=0ms"], upstream=url)
        async with StandingGateway(config, Address(), TOKEN) as gateway:
            meter = Meter(gateway)
            for number in range(NEWEST + 2):
                await ask(gateway.url, str(number).encode())
            gateway.off("wire-error")
            await ask(gateway.url, b"last")
            await until(lambda: not gateway.run.rows.unfinished())
            numbers = meter.read()
            later = meter.read()
    assert (numbers.requests, numbers.under_way, numbers.statuses) == (NEWEST + 3, 0, {200: 1, 503: NEWEST + 2})
    assert [fault.dose for fault in numbers.faults] == ["off", "0s"]
    assert [fault.applied for fault in numbers.faults] == [NEWEST + 2, 1]
    assert len(numbers.newest) == NEWEST
    assert numbers.newest[-2].effects == ("wire-error: reply 503",)
    assert numbers.newest[-1].effects == ("wire-latency: delay 0.000 s",)
    assert numbers.rate > 0
    assert later.since_start > numbers.since_start


@pytest.mark.parametrize(
    ("terminal", "live", "drawn"), [(True, True, True), (True, False, False), (False, True, False)]
)
async def test_it_draws_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, live: bool, drawn: bool
) -> None:
    monkeypatch.setattr(gateway_view, "DRAW_EVERY", 0.01)
    monkeypatch.setattr(gateway_view, "LINE_EVERY", 0.01)
    out = StringIO()
    console = Console(file=out, force_terminal=terminal, width=120, soft_wrap=True)
    async with upstream() as url, StandingGateway(standing_config([], upstream=url), Address(), TOKEN) as gateway:
        task = asyncio.create_task(follow(Meter(gateway), console, "the title", live=live))
        await ask(gateway.url)
        await until(lambda: "the title" in out.getvalue() if drawn else "1 requests" in out.getvalue())
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert ("the title" in out.getvalue()) == drawn
