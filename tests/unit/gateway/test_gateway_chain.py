"""Faults end to end: what a window does to requests, and what the ledger says of it."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from typing import Any, Literal

import aiohttp
from gateway_rig import (
    CHAT,
    SEED,
    ask,
    cut,
    error,
    gateway,
    latency,
    named,
    settled,
    streaming,
    token_events,
    until,
    upstream,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosgate.draws import Draw
from chaosgate.gateway.chain import HEAD, Link
from chaosgate.gateway.ledger import Touch
from chaosgate.gateway.passage import Passage
from chaosgate.gateway.server import Gateway
from chaosgate.model.fault import Delay, Effect, Fault, Reply, RequestFault, Sweep, WireFault
from chaosgate.model.request_facts import RequestFacts
from chaosgate.units import Duration


class Stall(RequestFault):
    """A fault that is not the gateway's to carry out."""

    dose: Sweep[Literal["delay"], Duration]
    surface = "engine"
    goes = "expires"
    max_dose = 1.0


class HoldAndRefuse(WireFault):
    """A fault with two effects, one after the other."""

    dose: Sweep[Literal["delay"], Duration]
    max_dose = 60.0

    def effects(self, dose: float, draw: Draw) -> Sequence[Effect]:
        return Delay(dose), Reply(504, {}, {})


ALL = [latency(jitter="5ms"), error(), cut()]


def planned(rows: list[dict[str, Any]]) -> list[tuple[str, str, float, bool]]:
    """The planned ledger, in an order that does not depend on time."""
    return sorted((row["request"], row["fault"], row["draw"], row["planned"]) for row in rows)


def links_of(served: Gateway, faults: Sequence[Fault]) -> tuple[list[Link], list[Touch]]:
    """The links of one request, from the windows that are open now."""
    chain = served.run.chain
    return chain.links(faults, chain.open_windows(faults), "7.block1.1", RequestFacts(CHAT))


async def send_all(served: Gateway, numbers: list[int], concurrency: int) -> None:
    """Send the requests in this order, so many at a time."""
    places = asyncio.Semaphore(concurrency)

    async def send(number: int) -> None:
        async with places:
            await ask(served.url, headers=named(number))

    await asyncio.gather(*(send(number) for number in numbers))


async def test_the_planned_ledger_is_the_same_at_concurrency_1_and_64_in_any_order() -> None:
    faults = [latency(share="30 %"), error(share="50 %"), cut(share="70 %", name="snip")]
    ledgers = []
    async with upstream(streaming(token_events(2))) as url:
        for concurrency in (1, 64):
            numbers = list(range(150))
            random.Random(concurrency).shuffle(numbers)
            async with gateway(url, faults) as served:
                if concurrency == 64:
                    served.run.windows.open("slow", 0, 0.001, 60)
                    served.run.windows.open("bad", 1, 0.5, 60)
                await send_all(served, numbers, concurrency)
                ledgers.append(planned(await settled(served)))

    assert ledgers[0] == ledgers[1]
    assert len(ledgers[0]) == 450
    expected = Draw(SEED, "slow", f"{SEED}.block1.17").at("select")
    assert (f"{SEED}.block1.17", "slow", expected, expected < 0.3) in ledgers[0]


@settings(max_examples=20)
@given(pieces=st.lists(st.binary(min_size=1, max_size=400), max_size=6), seed=st.integers(0, 1000))
async def test_dose_0_leaves_every_byte_as_it_was_and_touches_every_planned_request(
    pieces: list[bytes], seed: int
) -> None:
    async with upstream(streaming(pieces)) as url, gateway(url, ALL) as served:
        for window, fault in enumerate(("slow", "bad", "cut")):
            served.run.windows.open(fault, window, 0.0, 60)

        assert await ask(served.url, headers=named(seed)) == (200, b"".join(pieces))
        rows = {row["fault"]: row for row in await settled(served)}
        assert (rows["slow"]["applied"], rows["slow"]["effect"]) == (True, "delay 0.000 s")
        assert (rows["bad"]["applied"], rows["bad"]["bypassed"]) == (False, "dose 0")
        assert (rows["cut"]["applied"], rows["cut"]["bypassed"]) == (False, "dose 0")
        assert "llm_chaos_injected_total{" not in served.run.metrics.render()


async def test_a_delay_is_at_least_as_long_as_drawn_and_in_the_ledger() -> None:
    async with upstream() as url, gateway(url, [latency(jitter="30ms")]) as served:
        served.run.windows.open("slow", 3, 0.05, 60)
        await send_all(served, list(range(12)), 12)
        rows = await settled(served)

        assert len(rows) == 12
        for row in rows:
            drawn = 0.05 + 0.03 * (2 * Draw(SEED, "slow", row["request"]).at("jitter") - 1)
            assert row["done"] - row["seen"] >= drawn
            assert row["effect"] == f"delay {drawn:.3f} s"
            assert (row["window"], row["dose"], row["applied"], row["bypassed"]) == (3, 0.05, True, None)
        assert served.run.windows.active()[0].applied == 12


async def test_delays_of_several_faults_add_up() -> None:
    async with upstream() as url, gateway(url, [latency("first"), latency("second")]) as served:
        served.run.windows.open("second", 0, 0.06, 60)
        served.run.windows.open("first", 1, 0.05, 60)
        await ask(served.url, headers=named(1))
        rows = await settled(served)

        assert [row["fault"] for row in rows] == ["first", "second"]
        assert rows[0]["done"] - rows[0]["seen"] >= 0.11


async def test_a_delay_counts_from_the_arrival() -> None:
    async with gateway("http://127.0.0.1:9", [latency()]) as served:
        served.run.windows.open("slow", 0, 0.05, 60)
        links, _ = links_of(served, served.run.config.faults)
        passage = Passage(due=(arrival := served.run.clock.now() - 1))
        await served.run.chain.walk(links, passage)

        assert passage.due == arrival + 0.05


async def test_the_gateways_own_time_leaves_delays_out() -> None:
    async with upstream() as url, gateway(url, [latency()]) as served:
        served.run.windows.open("slow", 0, 0.3, 60)
        await ask(served.url, headers=named(1))

        page = served.run.metrics.render()
        (total,) = (line for line in page.splitlines() if line.startswith("chaosgate_gateway_added_seconds_sum"))
        assert 0 < float(total.split()[1]) < 0.3
        assert "chaosgate_gateway_added_seconds_count 1" in page


async def test_a_reply_answers_for_the_server_after_the_delays_before_it() -> None:
    faults = [latency(), error(status=429, retryAfter="7s"), cut()]
    async with upstream() as url, gateway(url, faults) as served:
        for fault, dose in (("slow", 0.03), ("bad", 1.0), ("cut", 1.0)):
            served.run.windows.open(fault, 1, dose, 60)
        async with (
            aiohttp.ClientSession() as session,
            session.post(served.url + CHAT, data=b'{"model": "m-1"}', headers=named(5)) as response,
        ):
            assert response.status == 429
            assert response.headers["Retry-After"] == "7"
            assert (await response.json())["error"] == {
                "message": "injected by bad",
                "type": "chaos",
                "param": None,
                "code": 429,
            }
        rows = {row["fault"]: row for row in await settled(served)}
        assert rows["slow"]["done"] - rows["slow"]["seen"] >= 0.03
        assert rows["bad"]["effect"] == "reply 429"
        assert (rows["cut"]["applied"], rows["cut"]["bypassed"]) == (False, "answered by bad")
        page = served.run.metrics.render()
        assert 'llm_chaos_injected_total{type="wire.error",model="m-1"} 1' in page
        assert 'llm_chaos_injected_total{type="wire.latency",model="m-1"} 1' in page


async def test_the_ledger_says_why_a_request_was_not_touched() -> None:
    faults = [latency(share="0 %"), error("off"), error("rare"), {**latency("elsewhere"), "select": {"path": "/other"}}]
    async with upstream() as url, gateway(url, faults) as served:
        for fault in ("slow", "rare", "elsewhere"):
            served.run.windows.open(fault, 2, 1e-9, 60)
        await ask(served.url, headers=named(1))

        rows = {row["fault"]: (row["planned"], row["bypassed"], row["window"]) for row in await settled(served)}
        assert rows == {
            "slow": (False, None, 2),
            "off": (True, "no window", None),
            "rare": (True, "spared by the draw", 2),
            "elsewhere": (False, None, 2),
        }


async def test_faults_touch_their_phase_only() -> None:
    async with upstream() as url, gateway(url, [error()]) as served:
        served.run.windows.open("bad", 0, 1.0, 60)

        assert (await ask(served.url, headers=named(1, "baseline")))[0] == 200
        assert (await ask(served.url))[0] == 200
        assert (await ask(served.url, headers=named(1)))[0] == 503


async def test_a_halt_lets_the_sleeping_go_and_the_ledger_says_so() -> None:
    async with upstream() as url, gateway(url, [latency(), error()]) as served:
        served.run.windows.open("slow", 0, 50.0, 60)
        served.run.windows.open("bad", 0, 1.0, 60)
        sleeping = [asyncio.ensure_future(ask(served.url, headers=named(number))) for number in range(5)]
        await until(lambda: served.run.windows.active()[0].applied == 5)
        served.run.windows.halt("enough")

        assert [status for status, _ in await asyncio.gather(*sleeping)] == [200] * 5
        rows = await settled(served)
        for row in rows:
            if row["fault"] == "slow":
                assert row["applied"]
                assert row["effect"].startswith("delay 50.000 s, halted after ")
            else:
                assert (row["applied"], row["bypassed"]) == (False, "halted")
        await ask(served.url, headers=named(99))
        assert {row["bypassed"] for row in await settled(served) if row["request"] == "7.block1.99"} == {"halted"}


async def test_a_halt_ends_a_fault_of_several_effects_after_the_one_that_is_on() -> None:
    async with upstream() as url, gateway(url, [latency()]) as served:
        served.run.windows.open("slow", 0, 50.0, 60)
        links, (touch,) = links_of(served, [HoldAndRefuse.model_validate(latency())])
        passage = Passage(due=served.run.clock.now())
        walking = asyncio.ensure_future(served.run.chain.walk(links, passage))
        await until(lambda: touch.applied)
        served.run.windows.halt("enough")

        await walking
        assert passage.ending is None
        assert str(touch.effect).startswith("delay 50.000 s, halted after ")


async def test_a_window_that_closes_does_not_shorten_a_delay() -> None:
    async with upstream() as url, gateway(url, [latency()]) as served:
        served.run.windows.open("slow", 0, 0.2, 60)
        sleeping = asyncio.ensure_future(ask(served.url, headers=named(1)))
        await until(lambda: served.run.windows.active()[0].applied)
        served.run.windows.close("slow")
        await sleeping

        (row,) = await settled(served)
        assert row["done"] - row["seen"] >= 0.2


async def test_a_fault_of_another_surface_has_windows_but_no_effect_here() -> None:
    async with upstream() as url, gateway(url, [latency()]) as served:
        stall = Stall.model_validate({**latency(), "kind": "engine.stall"})
        served.run.windows.open("slow", 4, 1.0, 60)
        links, (touch,) = links_of(served, [stall])

        assert links == [HEAD]
        assert (touch.planned, touch.bypassed) == (True, "carried by the engine")
        assert touch.window is served.run.windows.get("slow")


async def test_a_request_id_that_comes_twice_gets_rows_twice() -> None:
    async with upstream() as url, gateway(url, [latency()]) as served:
        for _ in range(3):
            await ask(served.url, headers=named(8))

        assert [(row["request"], row["repeat"]) for row in await settled(served)] == [
            ("7.block1.8", 0),
            ("7.block1.8", 1),
            ("7.block1.8", 2),
        ]


async def test_requests_without_an_id_are_named_by_what_they_ask() -> None:
    async with upstream() as url, gateway(url, [latency()]) as served:
        for body in (b"a", b"b", b"a"):
            await ask(served.url, body)

        rows = await settled(served)
        assert [row["request"] for row in rows] == [
            "anonymous.ca978112ca1b.0",  # sha256 of "a" and "b", cut to 12 digits
            "anonymous.3e23e8160039.0",
            "anonymous.ca978112ca1b.1",
        ]
        assert {(row["phase"], row["fault"], row["planned"]) for row in rows} == {("anonymous", None, False)}
        assert json.loads(served.run.ledger.lines("anonymous")[0])["request"] == rows[0]["request"]
