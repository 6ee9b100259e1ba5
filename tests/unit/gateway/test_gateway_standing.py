"""A gateway alone: whoever asks is touched, and its faults change while it serves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from gateway_rig import TOKEN, ask, until, upstream

from chaosgate.errors import GatewayError, UsageError
from chaosgate.gateway.standing import Address, StandingGateway
from chaosgate.gateway.standing_config import standing_config
from chaosgate.gateway.tls import UpstreamTls
from chaosgate.model.observation import LedgerRow
from chaosgate.servers import listen, url_of


@asynccontextmanager
async def standing(*faults: str, seed: int = 1) -> AsyncIterator[StandingGateway]:
    async with (
        upstream() as url,
        StandingGateway(standing_config(faults, upstream=url, seed=seed), Address(), TOKEN) as one,
    ):
        yield one


async def rows(gateway: StandingGateway) -> list[LedgerRow]:
    await until(lambda: not gateway.run.rows.unfinished())
    return gateway.run.rows.rows()


async def test_any_request_is_touched_from_the_first_on() -> None:
    async with standing("wire.error=100%,status=503") as gateway:
        assert (await ask(gateway.url, b'{"a": 1}'))[0] == 503
        (row,) = await rows(gateway)
    assert (row.fault, row.applied, row.effect, row.window, row.dose) == ("wire-error", True, "reply 503", 0, 1.0)


async def test_what_no_fault_touches_passes_byte_for_byte() -> None:
    async with standing() as gateway:
        assert await ask(gateway.url, b'{"a":\n1}') == (200, b'{"a":\n1}')
        (row,) = await rows(gateway)
    assert (row.fault, row.planned) == (None, False)


async def test_which_requests_are_hit_depends_on_seed_and_body_alone() -> None:
    bodies = [json.dumps({"n": number}).encode() for number in range(60)]

    async def hit(seed: int, order: list[bytes]) -> set[bytes]:
        async with standing("wire.error=50%", seed=seed) as gateway:
            answers = await asyncio.gather(*(ask(gateway.url, body) for body in order))
        return {body for body, (status, _) in zip(order, answers, strict=True) if status != 200}

    first = await hit(1, bodies)
    assert 15 <= len(first) <= 45, "a binomial of 60 halves lies outside with probability 5e-5"
    assert await hit(1, bodies[::-1]) == first
    assert await hit(2, bodies) != first


async def test_a_fault_goes_on_and_off_and_changes_its_dose() -> None:
    async with standing("wire.error=100%,status=503") as gateway:
        statuses = [(await ask(gateway.url))[0]]
        gateway.off("wire-error")
        gateway.off("wire-error")
        assert gateway.window("wire-error") is None
        statuses.append((await ask(gateway.url))[0])
        gateway.on("wire-error", "0 %")
        statuses.append((await ask(gateway.url))[0])
        gateway.on("wire-error", 1.0)
        statuses.append((await ask(gateway.url))[0])
        seen = [(row.window, row.dose, row.bypassed) for row in await rows(gateway)]
    assert statuses == [503, 200, 200, 503]
    assert seen == [(0, 1.0, None), (None, None, "no window"), (1, 0.0, "dose 0"), (2, 1.0, None)]


async def test_a_higher_dose_hits_whom_a_lower_one_hit() -> None:
    bodies = [json.dumps({"n": number}).encode() for number in range(80)]
    hit = []
    for dose in ("20%", "60%"):
        async with standing(f"wire.error={dose}") as gateway:
            answers = [await ask(gateway.url, body) for body in bodies]
        hit.append({body for body, (status, _) in zip(bodies, answers, strict=True) if status != 200})
    assert hit[0] < hit[1]


async def test_halt_ends_every_fault_and_lets_held_requests_go() -> None:
    async with standing("wire.latency=60s") as gateway:
        held = asyncio.create_task(ask(gateway.url))
        await until(lambda: gateway.run.rows.unfinished())
        gateway.halt("enough")
        assert (await asyncio.wait_for(held, 10))[0] == 200
        with pytest.raises(GatewayError, match=r"the run is halted \(enough\)"):
            gateway.on("wire-latency")
        assert gateway.window("wire-latency") is None


@pytest.mark.parametrize(
    ("name", "dose", "said"),
    [
        ("wire-latenzy", "1s", "unknown fault 'wire-latenzy'; did you mean 'wire-latency'?"),
        ("wire-latency", "1", "wire-latency: read '1'; write a duration such as 250ms, 2s or 5m (us, ms, s, m, h)"),
        ("wire-latency", 61, "wire-latency: dose: read 61s; wire.latency allows 0 to 60s"),
        ("wire-latency", -1, "wire-latency: dose: read -1s; wire.latency allows 0 to 60s"),
    ],
)
async def test_a_wrong_fault_or_dose_changes_nothing(name: str, dose: str | float, said: str) -> None:
    async with standing("wire.latency=1ms") as gateway:
        with pytest.raises(UsageError) as caught:
            gateway.on(name, dose)
        window = gateway.window("wire-latency")
        assert window is not None
        assert (window.dose, window.window) == (0.001, 0)
    assert str(caught.value) == said


async def test_the_admin_port_tells_and_switches_for_the_holder_of_the_token() -> None:
    async with standing("wire.error=100%") as gateway, aiohttp.ClientSession() as session:
        path = f"{gateway.admin_url}/v1/faults/wire-error"
        async with session.delete(path) as refused:
            assert refused.status == 401
        assert gateway.window("wire-error") is not None
        holder = {"Authorization": f"Bearer {TOKEN}"}
        async with session.get(f"{gateway.admin_url}/v1/status", headers=holder) as told:
            status = await told.json()
        assert (status["run"], status["active"][0]["expires_in"] > 86_400) == ("no-run", True)
        async with session.delete(path, headers=holder) as done:
            assert done.status == 200
        assert (await ask(gateway.url))[0] == 200


async def test_the_numbers_are_counted() -> None:
    async with standing("wire.error=100%,status=503,path=/none", "wire.latency=0ms") as gateway:
        await ask(gateway.url)
        await rows(gateway)
        tally = gateway.run.tally
    assert tally.statuses == {200: 1}
    assert (tally.faults["wire-error"].planned, tally.faults["wire-latency"].planned) == (0, 1)
    latency = tally.latency(0.99)
    assert latency is not None
    assert 0 < latency < 10


async def test_a_gateway_that_cannot_start_leaves_its_ports(tmp_path: Path) -> None:
    config = standing_config(upstream="https://127.0.0.1:9")
    config = config.model_copy(update={"tls": UpstreamTls(ca_file=tmp_path / "none.pem")})
    gateway = StandingGateway(config, Address(), TOKEN)
    with pytest.raises(UsageError, match="cannot be read"):
        await gateway.__aenter__()
    for url in (gateway.url, gateway.admin_url):
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(*url.removeprefix("http://").split(":"))


async def test_a_gateway_without_an_admin_port_leaves_its_data_port() -> None:
    config, port = (
        standing_config(upstream="http://127.0.0.1:9"),
        url_of(free := listen("127.0.0.1", 0)).rpartition(":")[2],
    )
    free.close()
    with pytest.raises(UsageError, match="a port is a number"):
        StandingGateway(config, Address(port=int(port), admin_port=70_000), TOKEN)
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", int(port))
