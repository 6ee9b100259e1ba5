"""What requests ask of the gateway: opt-in, noise and variants, what they are told, and that others see nothing."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest
from aiohttp import web
from gateway_rig import (
    CHAT,
    cut,
    error,
    gateway,
    latency,
    named,
    raw,
    raw_post,
    settled,
    streaming,
    token_events,
    upstream,
)

from chaosgate.gateway.server import Gateway
from chaosgate.gateway.wishes import IGNORED_HEADER, INJECTED_HEADER, variant_of
from chaosgate.model.request_facts import RequestFacts

Answer = tuple[int, bytes, str | None, str | None]


async def tell(
    served: Gateway, headers: Mapping[str, str] | None = None, body: bytes = b"{}", number: int | None = 1
) -> Answer:
    """Ask the chat path; status, body, what was injected and what was ignored."""
    sent = {**({} if number is None else named(number)), **(headers or {})}
    async with aiohttp.ClientSession() as session, session.post(served.url + CHAT, data=body, headers=sent) as response:
        told = [response.headers.get(name) for name in (INJECTED_HEADER, IGNORED_HEADER)]
        return response.status, await response.read(), told[0], told[1]


def noise(line: str) -> dict[str, str]:
    return {"baggage": f"user=1,llm.mesh.noise={quote(line, safe=':')}"}


def opt_in(fault: dict[str, Any]) -> dict[str, Any]:
    return {**fault, "select": {**fault["select"], "optIn": True}}


async def rows(served: Gateway) -> list[tuple[str, bool, bool, str | None]]:
    """Of each row its fault, whether it was planned and applied, and why not."""
    return [(row["fault"], row["planned"], row["applied"], row["bypassed"]) for row in await settled(served)]


def undated(answer: bytes) -> bytes:
    """The answer without its second, which may end between two answers."""
    head, dated, body = re.split(rb"(?<=\r\n)(Date: [^\r]+\r\n)", answer)
    assert dated
    return head + body


async def test_a_request_that_asks_for_nothing_is_told_nothing_though_a_fault_touches_it() -> None:
    async with upstream() as url, gateway(url, [latency()], noise=True, variants={"canary": url}) as served:
        plain = undated(await raw(served.url, raw_post(named(1))))
        served.run.windows.open("slow", 0, 0.001, 60)
        assert undated(await raw(served.url, raw_post({**named(2), "baggage": "user=1,broken"}))) == plain
        assert (await settled(served))[1]["applied"]
        assert b"X-Chaos" not in plain


async def test_a_fault_with_opt_in_waits_for_it_and_the_ledger_says_so() -> None:
    async with upstream() as url, gateway(url, [opt_in(latency()), opt_in(error())]) as served:
        served.run.windows.open("slow", 0, 0.001, 60)
        served.run.windows.open("bad", 0, 1.0, 60)
        assert await tell(served) == (200, b"{}", None, None)
        assert await tell(served, {"X-Chaos-Mode": "slow"}) == (200, b"{}", "slow;wire.latency;delay 0.001 s", None)
        status, _, injected, _ = await tell(served, {"x-chaos-mode": "on"})
        assert (status, injected) == (503, "slow;wire.latency;delay 0.001 s, bad;wire.error;reply 503")
        assert (await tell(served, noise("x")))[0] == 503
        assert (await rows(served))[:4] == [
            ("slow", False, False, "no opt-in"),
            ("bad", False, False, "no opt-in"),
            ("slow", True, True, None),
            ("bad", False, False, "no opt-in"),
        ]


async def test_controls_and_closed_windows_inject_nothing() -> None:
    async with upstream() as url, gateway(url, [latency()]) as served:
        assert await tell(served, {"X-Chaos-Mode": "slow"}) == (200, b"{}", None, None)
        served.run.windows.open("slow", 0, 0.0, 60)
        assert await tell(served, {"X-Chaos-Mode": "slow"}) == (200, b"{}", None, None)


async def test_what_will_be_done_to_a_stream_is_told_ahead_and_only_of_a_stream() -> None:
    async with upstream(streaming(token_events(4))) as url, gateway(url, [cut()]) as served:
        served.run.windows.open("cut", 0, 1.0, 60)
        async with (
            aiohttp.ClientSession() as session,
            session.post(served.url + CHAT, headers={**named(1), "X-Chaos-Mode": "on"}) as response,
        ):
            assert response.headers[INJECTED_HEADER] == "cut;stream.cut;edits the stream"
            with pytest.raises(aiohttp.ClientPayloadError):
                await response.read()
    async with upstream() as url, gateway(url, [cut()]) as served:
        served.run.windows.open("cut", 0, 1.0, 60)
        assert await tell(served, {"X-Chaos-Mode": "on"}) == (200, b"{}", None, None)


async def test_a_server_that_does_not_answer_has_no_stream_to_edit() -> None:
    async with upstream() as url:
        pass
    async with gateway(url, [cut()]) as served:
        served.run.windows.open("cut", 0, 1.0, 60)
        status, _, injected, _ = await tell(served, {"X-Chaos-Mode": "on"})
        assert (status, injected) == (502, None)


async def test_a_name_that_no_fault_has_is_told_and_breaks_nothing() -> None:
    async with upstream() as url, gateway(url, [latency()]) as served:
        told = await tell(served, {"X-Chaos-Mode": "slwo, \xe9"})
        assert told[:3] == (200, b"{}", None)
        assert told[3] is not None
        assert told[3].startswith("X-Chaos-Mode: unknown fault 'slwo'%3B did you mean 'slow'?")
        assert "%" in told[3].split(", ")[1]
        assert told[3].isascii()


async def test_noise_touches_the_request_that_brings_it_and_no_other() -> None:
    async with upstream() as url, gateway(url, [latency()], noise=True) as served:
        told = await tell(served, noise("latency:2ms,error:100%"))
        assert told[0] == 503
        assert told[2] == "noise-latency;wire.latency;delay 0.002 s, noise-error;wire.error;reply 503"
        assert await tell(served) == (200, b"{}", None, None)
        assert await rows(served) == [
            ("slow", True, False, "no window"),
            ("noise-latency", True, True, None),
            ("noise-error", True, True, None),
            ("slow", True, False, "no window"),
        ]
        assert 'type="wire.error"' in served.run.metrics.render()
        assert served.run.windows.active() == []


async def test_noise_draws_by_the_body_where_a_request_has_no_name() -> None:
    async with upstream() as url, gateway(url, noise=True) as served:
        answers = [await tell(served, noise("error:50%"), body=b"same", number=None) for _ in range(40)]
        assert {status for status, *_ in answers} == {200, 503}
        draws = [row["draw"] for row in await settled(served)]
        assert len(set(draws)) == 40


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        (noise("latncy:5ms"), "llm.mesh.noise: unknown word 'latncy'%3B did you mean 'latency'?"),
        (noise("error:100%,latency:90s"), "llm.mesh.noise: latency: dose: read 90s%3B wire.latency allows 0 to 60s"),
        (
            {"baggage": "llm.mesh.noise=error:100%,p95:true"},
            "llm.mesh.noise: baggage member 'p95:true' is no key=value%3B within a value write a comma as %252C",
        ),
    ],
)
async def test_noise_that_cannot_be_read_goes_through_untouched_and_is_told(headers: dict[str, str], why: str) -> None:
    async with upstream() as url, gateway(url, noise=True) as served:
        status, body, injected, ignored = await tell(served, headers)
        assert (status, body, injected) == (200, b"{}", None)
        assert ignored is not None
        assert ignored.startswith(why)


async def test_without_leave_noise_is_an_opt_in_and_no_more() -> None:
    async with upstream() as url, gateway(url, [latency()]) as served:
        assert await tell(served, noise("error:100%")) == (200, b"{}", None, None)
        assert await tell(served, noise("nonsense")) == (200, b"{}", None, None)


async def test_after_a_halt_no_noise_is_made() -> None:
    async with upstream() as url, gateway(url, noise=True) as served:
        served.run.windows.halt("test")
        assert await tell(served, noise("error:100%")) == (200, b"{}", None, None)
        assert await rows(served) == [("noise-error", True, False, "halted")]


async def test_a_variant_is_answered_by_its_own_server_and_an_unknown_one_by_the_default() -> None:
    async def canary(request: web.Request) -> web.StreamResponse:
        return web.Response(body=b"canary")

    async with upstream() as url, upstream(canary) as other, gateway(url, variants={"canary": other}) as served:
        assert await tell(served) == (200, b"{}", None, None)
        assert await tell(served, {"baggage": "llm.mesh.gray=canary"}) == (200, b"canary", None, None)
        status, body, _, ignored = await tell(served, {"baggage": "llm.mesh.gray=canry"})
        assert (status, body) == (200, b"{}")
        assert ignored is not None
        assert ignored.startswith("llm.mesh.gray: unknown variant 'canry'%3B did you mean 'canary'?")
        assert ignored.endswith("%3B the request went to the default server")
    async with upstream() as url, gateway(url) as served:
        assert await tell(served, {"baggage": "llm.mesh.gray=canary"}) == (200, b"{}", None, None)


def test_the_variant_is_the_one_that_the_baggage_names() -> None:
    assert variant_of(RequestFacts("/", {"baggage": "llm.mesh.gray=a%20b"})) == "a b"
    assert variant_of(RequestFacts("/")) is None


async def test_a_fault_selects_by_model_stream_and_header() -> None:
    chosen = {"share": "100 %", "model": "m", "stream": True, "header": {"X-Team": "red"}}
    fault = {**error(), "select": chosen}
    body = json.dumps({"model": "m", "stream": True}).encode()
    async with upstream() as url, gateway(url, [fault]) as served:
        served.run.windows.open("bad", 0, 1.0, 60)
        answers = await asyncio.gather(
            tell(served, {"X-Team": "red"}, body),
            tell(served, {"X-Team": "blue"}, body, number=2),
            tell(served, {"X-Team": "red"}, body.replace(b"true", b"false"), number=3),
            tell(served, {"X-Team": "red"}, b"\xff no JSON", number=4),
        )
        assert [status for status, *_ in answers] == [503, 200, 200, 200]
        assert answers[3][1] == b"\xff no JSON"


@pytest.mark.parametrize("name", ["x", "\u00e9" * 300, "%" * 300])
async def test_of_many_mistakes_a_few_are_told_so_that_a_client_can_read_its_header(name: str) -> None:
    mode = ",".join([name] * (8000 // (len(name.encode()) + 1)))
    async with upstream() as url, gateway(url, [latency()]) as served:
        status, _, _, ignored = await tell(served, {"X-Chaos-Mode": mode})
    assert status == 200
    assert ignored is not None
    assert ignored.count("X-Chaos-Mode: unknown fault") == 8
