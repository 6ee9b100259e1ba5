"""Faults inside the engine at the gateway: what goes upstream, what the ledger makes of it, what nobody sees."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from gateway_rig import (
    CHAT,
    SEED,
    TOKEN,
    ask,
    cut,
    drift,
    error,
    gateway,
    latency,
    named,
    overwrite,
    settled,
    until,
    upstream,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosgate.draws import Draw
from chaosgate.model.fault_headers import CARRIED_HEADER, FAULTS_HEADER, REFUSED_HEADER, TOKEN_HEADER
from chaosgate.tokens import engine_token


class Engine:
    """A server that keeps the headers it was sent, and answers with `headers`; it carries what it is asked to."""

    def __init__(self, *headers: tuple[str, str], status: int = 200, carries: bool = False) -> None:
        self.headers = headers
        self.status = status
        self.carries = carries
        self.seen: list[dict[str, str]] = []

    async def serve(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.seen.append(dict(request.headers))
        response = web.Response(body=body, status=self.status)
        for name, value in self.headers:
            response.headers.add(name, value)
        load = request.headers.get(FAULTS_HEADER)
        if self.carries and load is not None:
            response.headers[CARRIED_HEADER] = ",".join(fault["name"] for fault in json.loads(load)["faults"])
        return response

    @property
    def loads(self) -> list[Any]:
        """What each request carried, None where it carried nothing."""
        return [json.loads(seen[FAULTS_HEADER]) if FAULTS_HEADER in seen else None for seen in self.seen]


async def rows_of(engine: Engine, faults: Sequence[dict[str, Any]], doses: dict[str, float]) -> dict[str, Any]:
    """The ledger's rows of one request by fault, `doses` being on."""
    async with upstream(engine.serve) as url, gateway(url, faults) as served:
        for window, (fault, dose) in enumerate(doses.items()):
            served.run.windows.open(fault, window, dose, 60)
        await ask(served.url, headers=named(3))
        return {row["fault"]: row for row in await settled(served)}


async def test_a_fault_goes_upstream_with_the_dose_the_draw_and_the_token() -> None:
    engine = Engine(carries=True)
    rows = await rows_of(engine, [overwrite()], {"over": 0.25})

    dosed = [{"name": "over", "dose": 0.25}]
    assert engine.loads == [{"seed": SEED, "request": "7.block1.3", "faults": dosed, "salt": ""}]
    assert engine.seen[0][TOKEN_HEADER] == engine_token(TOKEN) != TOKEN
    assert (rows["over"]["applied"], rows["over"]["effect"]) == (True, "carried at dose 0.25")


async def test_dose_0_goes_the_same_way() -> None:
    engine = Engine(carries=True)
    rows = await rows_of(engine, [overwrite()], {"over": 0.0})
    assert engine.loads[0]["faults"] == [{"name": "over", "dose": 0.0}]
    assert (rows["over"]["applied"], rows["over"]["effect"]) == (True, "carried at dose 0")


async def test_the_ledger_says_how_much_of_the_dose_the_request_got() -> None:
    rows = await rows_of(Engine(carries=True), [drift()], {"drift": 0.5})
    assert rows["drift"]["effect"] == "carried at dose 0.5, of which the request got 0.2856"


async def test_all_requests_of_a_window_have_its_salt_where_the_fault_shares() -> None:
    engine = Engine(carries=True)
    faults = [overwrite(share="50 %", shares=True), overwrite("alone", share="0 %"), overwrite("other", shares=True)]
    async with upstream(engine.serve) as url, gateway(url, faults) as served:
        windows = served.run.windows

        async def salts() -> set[str | None]:
            before = len(engine.loads)
            for number in range(8):
                await ask(served.url, headers=named(number))
            return {load and load["salt"] for load in engine.loads[before:]}

        windows.open("alone", 0, 0.5, 60)
        assert await salts() == {None}
        on = windows.open("over", 0, 0.5, 60)
        assert await salts() == {f"over.0.{on:.6f}"}
        assert {len(load["faults"]) for load in engine.loads if load} == {0, 1}, "the spared carry it, too"
        also = windows.open("other", 3, 0.5, 60)
        assert await salts() == {f"over.0.{on:.6f},other.3.{also:.6f}"}
        windows.close("over")
        windows.close("other")
        assert await salts() == {None}
        again = windows.open("over", 0, 0.5, 60)
        assert await salts() == {f"over.0.{again:.6f}"} != {f"over.0.{on:.6f}"}


async def test_a_spared_request_is_not_in_the_ledger_as_touched() -> None:
    rows = await rows_of(Engine(carries=True), [overwrite(share="0 %", shares=True)], {"over": 0.5})
    assert (rows["over"]["planned"], rows["over"]["applied"], rows["over"]["bypassed"]) == (False, False, None)


async def test_without_a_window_nothing_is_carried() -> None:
    engine = Engine(carries=True)
    rows = await rows_of(engine, [overwrite()], {})
    assert engine.loads == [None]
    assert TOKEN_HEADER not in engine.seen[0]
    assert (rows["over"]["applied"], rows["over"]["bypassed"]) == (False, "no window")


@pytest.mark.parametrize(
    ("engine", "reason"),
    [
        (Engine(), "the engine does not carry it"),
        (Engine((CARRIED_HEADER, "another")), "the engine does not carry it"),
        (Engine((CARRIED_HEADER, "overs")), "the engine does not carry it"),
        (Engine((REFUSED_HEADER, "over: unknown site 'x'")), "the engine refused it: unknown site 'x'"),
        (Engine((REFUSED_HEADER, "*: the token is wrong")), "the engine refused it: the token is wrong"),
        (Engine((REFUSED_HEADER, "another: why")), "the engine does not carry it"),
        (Engine(status=503), "the engine answered status 503"),
    ],
)
async def test_what_the_engine_did_not_carry_out_is_not_applied(engine: Engine, reason: str) -> None:
    rows = await rows_of(engine, [overwrite()], {"over": 0.25})
    assert (rows["over"]["planned"], rows["over"]["applied"], rows["over"]["bypassed"]) == (True, False, reason)


async def test_each_fault_is_settled_by_itself_in_the_order_of_the_spec() -> None:
    engine = Engine((CARRIED_HEADER, "third, first"), (REFUSED_HEADER, "second: no"))
    faults = [overwrite("first"), overwrite("second"), drift("third")]
    rows = await rows_of(engine, faults, {"third": 1.0, "second": 0.5, "first": 0.1})

    assert [fault["name"] for fault in engine.loads[0]["faults"]] == ["first", "second", "third"]
    assert {name: row["applied"] for name, row in rows.items()} == {"first": True, "second": False, "third": True}


async def test_an_engine_that_is_gone_carried_nothing() -> None:
    async with gateway("http://127.0.0.1:9", [overwrite()]) as served:
        served.run.windows.open("over", 0, 0.5, 60)
        assert (await ask(served.url, headers=named(1)))[0] == 502
        (row,) = await settled(served)
        assert (row["applied"], row["bypassed"]) == (False, "no answer of the engine")


async def test_a_client_that_leaves_before_the_answer_leaves_it_unsettled() -> None:
    arrived = asyncio.Event()

    async def never(request: web.Request) -> web.StreamResponse:
        arrived.set()
        await asyncio.sleep(60)
        return web.Response()

    async with upstream(never) as url, gateway(url, [overwrite()]) as served:
        served.run.windows.open("over", 0, 0.5, 60)
        asking = asyncio.ensure_future(ask(served.url, headers=named(1)))
        await arrived.wait()
        asking.cancel()
        (row,) = await settled(served)
        assert (row["applied"], row["bypassed"]) == (False, "no answer of the engine")


@pytest.mark.parametrize("faults", [[overwrite(), error()], [error(), overwrite()]], ids=["before", "behind"])
async def test_a_request_that_is_answered_here_carries_nothing(faults: list[dict[str, Any]]) -> None:
    engine = Engine(carries=True)
    rows = await rows_of(engine, faults, {"over": 0.5, "bad": 1.0})
    assert engine.seen == []
    assert (rows["over"]["applied"], rows["over"]["bypassed"]) == (False, "answered by bad")


async def test_a_delay_and_a_fault_of_the_engine_both_act() -> None:
    engine = Engine(carries=True)
    rows = await rows_of(engine, [overwrite(), latency()], {"over": 0.5, "slow": 0.02})
    assert rows["over"]["applied"]
    assert rows["slow"]["done"] - rows["slow"]["seen"] >= 0.02


async def test_a_reply_is_told_to_a_cut_before_it_too() -> None:
    rows = await rows_of(Engine(), [cut(), error()], {"cut": 1.0, "bad": 1.0})
    assert rows["cut"]["bypassed"] == "answered by bad"


async def test_a_request_held_until_a_halt_goes_on_without_its_fault() -> None:
    engine = Engine(carries=True)
    async with upstream(engine.serve) as url, gateway(url, [overwrite(), latency()]) as served:
        served.run.windows.open("over", 0, 0.5, 60)
        served.run.windows.open("slow", 1, 50.0, 60)
        asking = asyncio.ensure_future(ask(served.url, headers=named(1)))
        await until(lambda: served.run.windows.get("slow") and served.run.windows.active()[1].applied)
        served.run.windows.halt("enough")

        assert (await asking)[0] == 200
        assert engine.loads == [None]
        rows = {row["fault"]: row for row in await settled(served)}
        assert (rows["over"]["applied"], rows["over"]["bypassed"]) == (False, "halted")


async def test_a_window_that_expired_carries_nothing_any_more() -> None:
    engine = Engine(carries=True)
    async with upstream(engine.serve) as url, gateway(url, [overwrite()]) as served:
        served.run.windows.open("over", 0, 0.5, 0.05)
        await ask(served.url, headers=named(1))
        await until(lambda: served.run.windows.get("over") is None)
        await ask(served.url, headers=named(2))
        assert [load is not None for load in engine.loads] == [True, False]


async def test_clients_can_neither_send_nor_see_what_is_between_gateway_and_engine() -> None:
    forged = {FAULTS_HEADER: '{"seed": 1}', TOKEN_HEADER: "stolen", CARRIED_HEADER: "over"}
    engine = Engine((CARRIED_HEADER, "over"), (REFUSED_HEADER, "*: no"), ("X-Other", "kept"))
    async with upstream(engine.serve) as url, gateway(url, [overwrite()]) as served:
        async with (
            aiohttp.ClientSession() as session,
            session.post(served.url + CHAT, data=b"{}", headers={**named(1), **forged}) as response,
        ):
            assert response.headers["X-Other"] == "kept"
            assert not [name for name in response.headers if name.lower().startswith("x-chaosgate-")]
        assert not [name for name in engine.seen[0] if name.lower().startswith("x-chaosgate-")]


async def test_requests_without_a_name_and_of_other_phases_carry_nothing() -> None:
    engine = Engine(carries=True)
    async with upstream(engine.serve) as url, gateway(url, [overwrite()]) as served:
        served.run.windows.open("over", 0, 0.5, 60)
        await ask(served.url)
        await ask(served.url, headers=named(1, "baseline"))
        assert engine.loads == [None, None]


async def test_a_touched_request_counts_by_kind_and_model_above_dose_0_only() -> None:
    engine = Engine(carries=True)
    async with upstream(engine.serve) as url, gateway(url, [overwrite()]) as served:
        served.run.windows.open("over", 0, 0.0, 60)
        await ask(served.url, b'{"model": "m"}', headers=named(1))
        assert "llm_chaos_injected_total{" not in served.run.metrics.render()
        served.run.windows.close("over")
        served.run.windows.open("over", 1, 0.1, 60)
        await ask(served.url, b'{"model": "m"}', headers=named(2))
        assert 'llm_chaos_injected_total{type="kv.token-overwrite",model="m"} 1' in served.run.metrics.render()


@settings(max_examples=10)
@given(share=st.integers(0, 100), numbers=st.sets(st.integers(0, 500), min_size=1, max_size=30))
async def test_whom_it_touches_is_drawn_as_for_every_other_fault(share: int, numbers: set[int]) -> None:
    engine = Engine(carries=True)
    async with upstream(engine.serve) as url, gateway(url, [overwrite(share=f"{share} %")]) as served:
        served.run.windows.open("over", 0, 0.5, 60)
        await asyncio.gather(*(ask(served.url, headers=named(number)) for number in numbers))
        rows = await settled(served)

    drawn = {number for number in numbers if Draw(SEED, "over", f"7.block1.{number}").at("select") < share / 100}
    assert {row["request"] for row in rows if row["applied"]} == {f"7.block1.{number}" for number in drawn}
    assert {load["request"] for load in engine.loads if load} == {f"7.block1.{number}" for number in drawn}
