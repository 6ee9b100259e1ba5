"""Several servers: each in its turn, one that is down last, and a request goes to the next when nothing was sent."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from contextlib import AsyncExitStack
from types import SimpleNamespace

import pytest
from aiohttp import web
from gateway_rig import ask, gateway, raw_upstream, upstream
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.gateway.clock import Clock
from chaosgate.gateway.upstreams import LONGEST_COOL_DOWN, Upstreams
from chaosgate.servers import listen

URLS = ("http://a", "http://b", "http://c")


class Watch:
    """A clock that is set by hand."""

    at = 0.0

    def now(self) -> float:
        """What it was set to."""
        return self.at


def made(**options: object) -> tuple[Upstreams, Watch]:
    clock = Watch()
    return Upstreams(clock, URLS, **options), clock  # type: ignore[arg-type]


def first(upstreams: Upstreams, variant: str | None = None) -> str:
    return upstreams.choose(variant)[0].url


def nowhere() -> str:
    """A URL that refuses connections."""
    with listen("127.0.0.1", 0) as taken:
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


def test_servers_take_turns_and_each_is_tried_once() -> None:
    upstreams, _ = made()

    assert [first(upstreams) for _ in range(6)] == [*URLS, *URLS]
    assert all(sorted(server.url for server in upstreams.choose()) == list(URLS) for _ in range(3))


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["failed", "connected", "wait"])), max_size=30))
def test_whoever_is_well_is_tried_before_whoever_is_not(steps: list[tuple[int, str]]) -> None:
    upstreams, clock = made()
    for which, step in steps:
        if step == "wait":
            clock.at += 0.7
        else:
            getattr(upstreams, step)(upstreams.all[which])
        order = upstreams.choose()
        well = [upstreams.well(server) for server in order]
        assert well == sorted(well, reverse=True)
        assert {server.url for server in order} == set(URLS)


def test_the_cool_down_doubles_to_its_limit_and_ends_with_a_connection() -> None:
    upstreams, clock = made()
    server, lengths = upstreams.all[0], []
    for _ in range(8):
        upstreams.failed(server)
        lengths.append(server.out_until - clock.at)
        clock.at = server.out_until
        assert upstreams.well(server)

    assert lengths == [1, 2, 4, 8, 16, LONGEST_COOL_DOWN, LONGEST_COOL_DOWN, LONGEST_COOL_DOWN]
    upstreams.failed(server)
    upstreams.connected(server)
    assert upstreams.well(server)
    upstreams.failed(server)
    assert server.out_until - clock.at == 1


def test_a_server_fails_for_a_million_requests_without_an_overflow() -> None:
    upstreams, _ = made()
    upstreams.all[0].failed_in_a_row = 1_000_000
    upstreams.failed(upstreams.all[0])

    assert upstreams.all[0].out_until == LONGEST_COOL_DOWN


def test_a_variant_has_its_own_server_and_an_unknown_one_the_default() -> None:
    upstreams, _ = made(variants={"gray": "http://gray/"})

    assert [server.url for server in upstreams.choose("gray")] == ["http://gray"]
    assert [first(upstreams, name) for name in ("grey", None)] == ["http://a", "http://b"]


def test_a_url_that_is_named_twice_is_one_server() -> None:
    upstreams = Upstreams(Clock(), ["http://a", "http://b", "http://a"], {"gray": "http://a"})
    upstreams.connected(upstreams.choose("gray")[0])

    assert [first(upstreams) for _ in range(4)] == ["http://a", "http://b"] * 2
    assert upstreams.render().count('requests_total{upstream="http://a"} 1') == 1


async def test_requests_go_to_all_servers_in_turn() -> None:
    def named(name: str):
        async def script(request: web.Request) -> web.StreamResponse:
            return web.Response(text=name)

        return script

    async with AsyncExitStack() as stack:
        one, two = [await stack.enter_async_context(upstream(named(name))) for name in ("one", "two")]
        served = await stack.enter_async_context(gateway(one, replicas=[two]))
        answers = Counter([(await ask(served.url))[1] for _ in range(10)])

        assert answers == {b"one": 5, b"two": 5}
        assert f'chaosgate_gateway_upstream_requests_total{{upstream="{one}"}} 5' in served.run.upstreams.render()


async def test_a_request_goes_with_its_body_to_the_next_server_when_one_is_down() -> None:
    down, body = nowhere(), b"x" * 200_000

    async def upload():
        for start in range(0, len(body), 50_000):
            yield body[start : start + 50_000]

    async with upstream() as up, gateway(down, replicas=[up]) as served:
        assert [await ask(served.url, sent) for sent in (body, upload(), body, b"")] == [
            (200, body),
            (200, body),
            (200, body),
            (200, b""),
        ]
        page = served.run.upstreams.render()
        assert f'upstream_requests_total{{upstream="{up}"}} 4' in page
        assert f'upstream_failures_total{{upstream="{down}"}} 1' in page
        assert f'upstream_up{{upstream="{down}"}} 0' in page
        assert f'upstream_up{{upstream="{up}"}} 1' in page


async def test_a_server_that_was_sent_the_request_is_the_only_one_that_gets_it() -> None:
    reached: list[str] = []

    async def script(request: web.Request) -> web.StreamResponse:
        reached.append(request.path)
        return web.Response()

    async with raw_upstream(b"") as dying, upstream(script) as url, gateway(dying, replicas=[url]) as served:
        assert (await ask(served.url))[0] == 502
        assert reached == []


async def test_when_all_are_down_each_is_named_and_one_that_comes_back_is_found() -> None:
    one, two = nowhere(), nowhere()
    async with gateway(one, replicas=[two]) as served:
        status, body = await ask(served.url)

        assert status == 502
        assert json.loads(body)["error"]["message"] == (
            f"upstream {one} did not answer: connection refused; upstream {two} did not answer: connection refused; "
            "check that the server runs"
        )
        served.run.upstreams.all[0].url = two
        async with upstream() as up:
            served.run.upstreams.all[1].url = up
            assert await ask(served.url, b"back") == (200, b"back")


async def test_health_is_asked_of_each_server_and_decides_who_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chaosgate.gateway.health.EVERY_SECONDS", 0.01)
    state = SimpleNamespace(status=503, asked=asyncio.Event())

    async def script(request: web.Request) -> web.StreamResponse:
        if request.path == "/health":
            state.asked.set()
            return web.Response(status=state.status)
        return web.Response(text="sick one")

    async with AsyncExitStack() as stack:
        sick, well = [await stack.enter_async_context(upstream(one)) for one in (script, _answer_well)]
        served = await stack.enter_async_context(gateway(sick, replicas=[well], healthPath="/health"))
        server = served.run.upstreams.all[0]
        async with asyncio.timeout(20):
            while served.run.upstreams.well(server):  # noqa: ASYNC110 (the gateway has no events for tests)
                await asyncio.sleep(0.005)
            assert {(await ask(served.url))[1] for _ in range(4)} == {b"well one"}
            state.status = 200
            while not served.run.upstreams.well(server):  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        assert {(await ask(served.url))[1] for _ in range(4)} == {b"well one", b"sick one"}


async def _answer_well(request: web.Request) -> web.StreamResponse:
    return web.Response(text="well one")
