"""Faults that travel with requests through a whole engine: who is hit, who is spared, and that nothing stays."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp.test_utils import TestClient, TestServer
from gateway_rig import TOKEN as ADMIN_TOKEN
from gateway_rig import gateway, named, overwrite

from chaosgate.engine.api.server import Api
from chaosgate.engine.faulting import Faulting
from chaosgate.engine.runtime.config import EngineConfig
from chaosgate.engine.runtime.engine import Engine
from chaosgate.model.carried_faults import CarriedFaults, Dosed
from chaosgate.model.fault import FAULTS, EngineFault
from chaosgate.model.fault_headers import CARRIED_HEADER, FAULTS_HEADER, REFUSED_HEADER, TOKEN_HEADER
from chaosgate.tokens import engine_token, token_digest

TOKEN = engine_token(ADMIN_TOKEN)
PROMPT = "facts red=lamp;blue=stone;green=river;black=cloud;gold=table;pink=amber\n?blue="
Client = TestClient[Any, Any]
Told = dict[str, str]


def fault(name: str, kind: str, parameter: str, value: Any, **more: Any) -> EngineFault:
    dose = {"parameter": parameter, "values": [value], "hold": "1s", "washout": "1s"}
    found = FAULTS.get(kind).model_validate({"name": name, "kind": kind, "dose": dose, **more})
    assert isinstance(found, EngineFault)
    return found


OVER = fault("over", "kv.token-overwrite", "share", "10 %")
SHARED = fault("shared", "kv.token-overwrite", "share", "10 %", shares=True)
DRIFT = fault("drift", "embedding.temporal-drift", "sigma", 1)


@asynccontextmanager
async def serving(*, carries: bool = True, **config: Any) -> AsyncIterator[Client]:
    """A client of an engine with untrained weights, which answers every prompt with bytes of its own."""
    engine = Engine(EngineConfig(seed=7, **config))
    layers, experts = engine.model_config.layers, engine.model_config.experts
    faulting = Faulting((OVER, SHARED, DRIFT), token_digest(TOKEN), layers, experts) if carries else None
    async with TestClient(TestServer(Api(engine, faulting=faulting).application())) as client:
        yield client


def load(*faults: tuple[str, float], request: str = "7.block1.5", token: str = TOKEN, salt: str = "") -> dict[str, str]:
    dosed = tuple(Dosed(name=name, dose=dose) for name, dose in faults)
    carried = CarriedFaults(seed=7, request=request, faults=dosed, salt=salt)
    return {FAULTS_HEADER: carried.to_header(), TOKEN_HEADER: token}


async def ask(
    client: Client | aiohttp.ClientSession,
    headers: dict[str, str] | None = None,
    stream: bool = False,
    prompt: str = PROMPT,
) -> tuple[str, dict[str, str]]:
    """The answer's text, and what its headers say of the faults."""
    body = {"model": "embedded/tiny", "prompt": prompt, "max_tokens": 12, "ignore_eos": True, "stream": stream}
    response = await client.post("/v1/completions", json=body | {"temperature": 0}, headers=headers)
    assert response.status == 200
    told = {name: response.headers[name] for name in (CARRIED_HEADER, REFUSED_HEADER) if name in response.headers}
    if not stream:
        return (await response.json())["choices"][0]["text"], told
    events = [line[6:] for line in (await response.text()).splitlines() if line.startswith("data: {")]
    return "".join(json.loads(event)["choices"][0]["text"] for event in events), told


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("name", "dose"), [("over", 0.6), ("drift", 3.0)])
async def test_a_request_is_hit_and_the_next_one_is_not(name: str, dose: float, stream: bool) -> None:
    async with serving() as client:
        clean, told = await ask(client, stream=stream)
        assert told == {}
        hit, told = await ask(client, load((name, dose)), stream)
        assert told == {CARRIED_HEADER: name}
        assert hit != clean
        assert await ask(client, stream=stream) == (clean, {})
        assert await ask(client, load((name, dose)), stream) == (hit, {CARRIED_HEADER: name})


async def test_dose_0_runs_and_changes_nothing() -> None:
    async with serving() as client:
        clean, _ = await ask(client)
        assert await ask(client, load(("over", 0.0), ("drift", 0.0))) == (clean, {CARRIED_HEADER: "drift,over"})


async def test_a_hit_does_not_depend_on_how_the_prompt_is_computed() -> None:
    answers = set()
    for config in ({}, {"max_num_batched_tokens": 16, "max_num_seqs": 16}, {"enable_prefix_caching": False}):
        async with serving(**config) as client:
            answers.add((await ask(client, load(("over", 0.4), ("drift", 0.3))))[0])
    assert len(answers) == 1


async def test_each_request_has_draws_of_its_own() -> None:
    async with serving() as client:
        found = {(await ask(client, load(("over", 0.4), request=f"7.block1.{number}")))[0] for number in range(6)}
    assert len(found) > 3


async def test_neighbours_with_the_same_prompt_are_spared_unless_the_fault_shares() -> None:
    async with serving() as client:
        clean, _ = await ask(client)
        for name, harmed in (("over", False), ("shared", True)):
            await ask(client, load((name, 1.0), salt="1"))
            assert ((await ask(client, load(salt="1")))[0] != clean) == harmed


async def test_what_a_fault_shares_is_found_within_its_window_alone() -> None:
    async with serving() as client:
        clean, _ = await ask(client)
        hit, _ = await ask(client, load(("shared", 1.0), salt="1"))
        harmed = await ask(client, load(salt="1"))
        assert (await ask(client)) == (clean, {}), "the wash-out"
        assert (await ask(client, load(salt="2"))) == (clean, {}), "a later window"
        assert (await ask(client, load(("shared", 0.0), salt="3")))[0] == clean, "a control"
        assert (await ask(client, load(salt="1"))) == harmed, "a neighbour still under way when the window ends"
        assert clean not in (hit, harmed[0])


async def test_a_shared_fault_replaces_what_its_neighbours_left_before() -> None:
    async with serving() as client:
        clean, _ = await ask(client, load(salt="1"))
        await ask(client, load(("shared", 1.0), salt="1"))
        assert (await ask(client, load(salt="1")))[0] != clean


async def test_what_a_neighbour_computes_behind_polluted_blocks_goes_with_the_window_too() -> None:
    longer = PROMPT + "=stone;red=lamp;green=river;black=cloud;gold=table\n?red="
    async with serving() as client:
        clean, _ = await ask(client, prompt=longer)
    async with serving() as client:
        await ask(client, load(("shared", 1.0), salt="1"))
        assert (await ask(client, load(salt="1"), prompt=longer))[0] != clean
        assert (await ask(client, prompt=longer))[0] == clean


async def test_from_the_gateway_s_window_to_the_engine_s_cache_and_gone_with_it() -> None:
    async with serving() as client:
        fault = overwrite("shared", "50 %", shares=True)
        async with gateway(str(client.make_url("")).rstrip("/"), [fault]) as served:
            windows = served.run.windows

            async def through(phase: str = "block1") -> list[str]:
                async with aiohttp.ClientSession(served.url) as session:
                    return [(await ask(session, named(number, phase)))[0] for number in range(8)]

            clean = await through("baseline")
            windows.open("shared", 0, 1.0, 60)
            polluted = await through()
            elsewhere = await through("baseline")
            windows.close("shared")
            washout = await through()
            windows.open("shared", 1, 0.0, 60)
            control = await through()
        draws = [OVER.model_copy(update={"name": "shared"}).draw(7, f"7.block1.{n}").at("select") for n in range(8)]

    first = next(number for number, draw in enumerate(draws) if draw < 0.5)
    spared = [number for number, draw in enumerate(draws) if draw >= 0.5 and number > first]
    assert spared, "nobody shows the harm"
    assert all(polluted[number] != clean[number] for number in spared)
    assert clean == elsewhere == washout == control


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        (load(("over", 0.6), token="other"), "*: the token in X-Chaosgate-Token is missing or wrong"),
        (load(("gone", 0.6)), "gone: unknown fault 'gone'; did you mean 'over'?"),
        ({FAULTS_HEADER: "{", TOKEN_HEADER: TOKEN}, "*: X-Chaosgate-Faults cannot be read: "),
    ],
)
async def test_what_is_refused_leaves_the_answer_as_it_was(headers: dict[str, str], reason: str) -> None:
    async with serving() as client:
        clean, _ = await ask(client)
        text, told = await ask(client, headers)
    assert text == clean
    assert told[REFUSED_HEADER].startswith(reason)
    assert CARRIED_HEADER not in told


async def test_an_engine_that_was_told_of_no_faults_ignores_them() -> None:
    async with serving(carries=False) as client:
        clean, _ = await ask(client)
        assert await ask(client, load(("over", 1.0))) == (clean, {})
