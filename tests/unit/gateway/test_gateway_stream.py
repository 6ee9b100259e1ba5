"""Cut streams: what the client gets, byte for byte, and what the ledger says."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest
from aiohttp import web
from gateway_rig import (
    CHAT,
    ask,
    cut,
    gateway,
    named,
    raw,
    raw_post,
    settled,
    streaming,
    token_events,
    until,
    upstream,
)
from hypothesis import given, settings
from hypothesis import strategies as st

TOKENS = 5
DONE = b"data: [DONE]\n\n"


async def read_until_broken(url: str) -> tuple[bytes, bool]:
    """What a client gets of the stream, and whether it ended as HTTP says it should."""
    got = b""
    async with aiohttp.ClientSession() as session, session.post(url + CHAT, data=b"{}", headers=named(1)) as response:
        try:
            async for chunk in response.content.iter_any():
                got += chunk
        except aiohttp.ClientPayloadError:
            return got, False
        return got, True


@pytest.mark.parametrize("after", range(TOKENS + 2))
async def test_a_cut_stream_has_its_events_and_no_end(after: int) -> None:
    events = token_events(TOKENS)
    async with upstream(streaming(events)) as url, gateway(url, [cut(after=after)]) as served:
        served.run.windows.open("cut", 0, 1.0, 60)
        got, whole = await read_until_broken(served.url)
        (row,) = await settled(served)

    if after <= TOKENS:
        assert (got, whole) == (b"".join(events[:after]), False)
        assert (row["applied"], row["effect"]) == (True, f"cut after {after} events")
    else:
        assert (got, whole) == (b"".join(events), True)
        assert (row["applied"], row["bypassed"]) == (False, "the stream ended first")


@pytest.mark.parametrize("after", range(TOKENS + 2))
async def test_a_stream_cut_with_the_marker_ends_as_if_it_were_whole(after: int) -> None:
    events = token_events(TOKENS)
    async with upstream(streaming(events)) as url, gateway(url, [cut(after=after, marker=True)]) as served:
        served.run.windows.open("cut", 0, 1.0, 60)
        got, whole = await read_until_broken(served.url)
        (row,) = await settled(served)

    assert whole
    if after < TOKENS:
        assert got == b"".join(events[:after]) + DONE
        assert (row["applied"], row["effect"]) == (True, f"cut after {after} events with [DONE]")
    else:
        assert got == b"".join(events)
        assert (row["applied"], row["bypassed"]) == (False, "the stream ended first")


@settings(max_examples=30)
@given(
    comments=st.lists(st.integers(0, 2), min_size=4, max_size=4),
    newline=st.sampled_from([b"\n", b"\r\n", b"\r"]),
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=5),
    after=st.integers(0, 4),
)
async def test_the_cut_does_not_depend_on_comments_line_ends_or_chunks(
    comments: list[int], newline: bytes, sizes: list[int], after: int
) -> None:
    end = newline * 2
    events = [b": keep-alive" + end] * comments[0]
    expected = b"".join(events) if after == 0 else b""
    for number in range(4):
        if after == number:
            expected = b"".join(events)
        events += [b"data: %d" % number + end, *[b": keep-alive" + end] * comments[number]]
    whole = b"".join(events)
    chunks, start = [], 0
    while start < len(whole):
        size = sizes[len(chunks) % len(sizes)]
        chunks.append(whole[start : start + size])
        start += size
    async with upstream(streaming(chunks)) as url, gateway(url, [cut(after=after)]) as served:
        served.run.windows.open("cut", 0, 1.0, 60)

        assert await read_until_broken(served.url) == ((expected, False) if after < 4 else (whole, True))


async def test_a_cut_ends_the_request_at_the_server() -> None:
    ended = asyncio.Event()

    async def script(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"data: 1\n\ndata: 2\n\n")
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return response

    async with upstream(script) as url, gateway(url, [cut(after=1)]) as served:
        served.run.windows.open("cut", 0, 1.0, 60)

        assert await read_until_broken(served.url) == (b"data: 1\n\n", False)
        await asyncio.wait_for(ended.wait(), 10)


@pytest.mark.parametrize("marker", [False, True])
async def test_a_cut_stream_promises_no_length(marker: bool) -> None:
    events = token_events(3)
    length = {"Content-Length": str(len(b"".join(events)))}
    async with upstream(streaming(events, length)) as url, gateway(url, [cut(after=1, marker=marker)]) as served:
        served.run.windows.open("cut", 0, 1.0, 60)

        assert await read_until_broken(served.url) == (events[0] + (DONE if marker else b""), marker)


async def test_a_cut_before_http_1_1_resets_the_connection() -> None:
    async with upstream(streaming(token_events(3))) as url, gateway(url, [cut(after=1)]) as served:
        served.run.windows.open("cut", 0, 1.0, 60)

        with pytest.raises(ConnectionResetError):
            await raw(served.url, raw_post(named(1), version="1.0"))


async def test_a_halt_ends_the_cutting_of_streams_under_way() -> None:
    halted = asyncio.Event()

    async def script(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"data: 1\n\n")
        await halted.wait()
        await response.write(b"data: 2\n\ndata: [DONE]\n\n")
        return response

    async with upstream(script) as url, gateway(url, [cut(after=1)]) as served:
        served.run.windows.open("cut", 0, 1.0, 60)
        answer = asyncio.ensure_future(ask(served.url, headers=named(1)))
        await until(served.run.ledger.unfinished)
        served.run.windows.halt("enough")
        halted.set()

        assert await answer == (200, b"data: 1\n\ndata: 2\n\ndata: [DONE]\n\n")
        (row,) = await settled(served)
        assert (row["applied"], row["bypassed"]) == (False, "halted")


@pytest.mark.parametrize(
    ("headers", "reason"),
    [({"Content-Type": "application/json"}, "not a stream"), ({"Content-Encoding": "br"}, "the stream is compressed")],
)
async def test_what_cannot_be_cut_passes_whole(headers: dict[str, str], reason: str) -> None:
    events = token_events(3)
    async with upstream(streaming(events, headers)) as url, gateway(url, [cut(after=1)]) as served:
        served.run.windows.open("cut", 0, 1.0, 60)

        assert await ask(served.url, headers=named(1)) == (200, b"".join(events))
        (row,) = await settled(served)
        assert (row["applied"], row["bypassed"]) == (False, reason)


@pytest.mark.parametrize("coding", ["identity", "Identity"])
async def test_what_is_said_to_come_as_it_is_can_be_cut(coding: str) -> None:
    events = token_events(3)
    script = streaming(events, {"Content-Encoding": coding})
    async with upstream(script) as url, gateway(url, [cut(after=1, marker=True)]) as served:
        served.run.windows.open("cut", 0, 1.0, 60)
        assert await ask(served.url, headers=named(1)) == (200, events[0] + events[-1])


async def test_an_event_without_end_passes_whole() -> None:
    body = b"data: 1\n\ndata: " + bytes(2 * 1024 * 1024)
    async with upstream(streaming([body])) as url, gateway(url, [cut(after=1)]) as served:
        served.run.windows.open("cut", 0, 1.0, 60)

        assert await ask(served.url, headers=named(1)) == (200, body)
        (row,) = await settled(served)
        assert (row["applied"], row["bypassed"]) == (False, "an event is too long")


async def test_of_two_cuts_the_earlier_one_counts() -> None:
    faults = [cut("late", after=3), cut("early", after=1)]
    async with upstream(streaming(token_events(5))) as url, gateway(url, faults) as served:
        for fault in ("late", "early"):
            served.run.windows.open(fault, 0, 1.0, 60)

        assert await read_until_broken(served.url) == (b"data: token 0\n\n", False)
        rows = {row["fault"]: row for row in await settled(served)}
        assert rows["early"]["effect"] == "cut after 1 events"
        assert rows["late"]["bypassed"] == "cut by early"
