"""A load of so many requests, and the headers that go with each."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import web
from scripted_chat import ANSWER, Serve, streaming

from chaosgate.loadgen.generator import LoadGenerator, LoadSettings
from chaosgate.loadgen.trace import PhaseClock
from chaosgate.model.observation import Observation
from chaosgate.model.workload import Workload

OPEN = {"process": "poisson", "rate": "200/s"}
CLOSED = {"process": "closed", "concurrency": 3}


@pytest.mark.parametrize("arrivals", [OPEN, CLOSED])
@pytest.mark.parametrize("most", [1, 2, 20])
async def test_exactly_so_many_are_sent_and_then_it_is_over(
    serve: Serve, arrivals: dict[str, object], most: int
) -> None:
    seen: list[Observation] = []
    headers: list[str | None] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        headers.append(request.headers.get("Authorization"))
        return await streaming(ANSWER)(request)

    given = {"arrivals": arrivals, "prompts": {"set": "recall-24"}, "maxTokens": 8}
    settings = LoadSettings(
        await serve(answer),
        "m",
        Workload.model_validate(given),
        "load",
        seconds=3600.0,
        warmup=0.0,
        drain=30.0,
        requests=most,
        headers={"Authorization": "Bearer sesame"},
    )
    async with asyncio.timeout(60):
        await LoadGenerator(settings, seen.append, PhaseClock()).run(asyncio.Event())
    assert [one.outcome for one in seen] == ["ok"] * most
    assert headers == ["Bearer sesame"] * most
    assert {one.request for one in seen} == {f"0.load.{number}" for number in range(most)}
