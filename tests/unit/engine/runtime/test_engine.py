from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from chaosgate.engine.runtime.config import EngineConfig
from chaosgate.engine.runtime.engine import Engine, RequestFailedError
from chaosgate.engine.runtime.sampler import Sampling
from chaosgate.engine.runtime.scheduler import EngineDeadError
from chaosgate.engine.runtime.sequence import Generation
from chaosgate.errors import UsageError
from chaosgate.model.sites import Hooks

from .driven import drawn

CONFIG = EngineConfig(seed=7)
ASKED = Generation(tuple(drawn(20)), 12, Sampling(0.0), ignore_eos=True)


async def answer(engine: Engine, generation: Generation) -> list[int]:
    return [delta.token async for delta in engine.generate(generation)]


async def test_requests_at_once_get_what_one_alone_gets() -> None:
    engine = Engine(CONFIG)
    try:
        alone = await answer(engine, ASKED)
        together = await asyncio.gather(*(answer(engine, replace(ASKED, salt=str(number))) for number in range(9)))
        assert together == [alone] * 9
    finally:
        engine.close()


async def test_leaving_a_stream_frees_its_blocks() -> None:
    engine = Engine(replace(CONFIG, enable_prefix_caching=False))
    try:
        async with aclosing(engine.generate(replace(ASKED, max_tokens=1000))) as deltas:
            await anext(deltas)
            assert engine.scheduler.cache_usage > 0
        for _ in range(1000):
            await asyncio.sleep(0.01 if engine.scheduler.running else 0)
        assert engine.scheduler.running == engine.scheduler.cache_usage == 0
    finally:
        engine.close()


async def test_a_failed_hook_ends_its_request_alone() -> None:
    engine = Engine(CONFIG)
    try:
        hooked = replace(ASKED, hooks=Hooks({"logits": lambda array, context: array[:5]}))
        with pytest.raises(RequestFailedError) as caught:
            await answer(engine, hooked)
        assert str(caught.value) == "the hook at logits was given shape (512,) and answered (5,)"
        assert len(await answer(engine, ASKED)) == 12
    finally:
        engine.close()


async def test_hooks_of_the_engine_come_before_those_of_a_request() -> None:
    order = []

    def note(name: str) -> Any:
        return lambda array, context: (order.append(name), array)[1]

    engine = Engine(CONFIG, hooks=Hooks({"tokenizer": note("engine")}))
    try:
        await answer(engine, ASKED)
        await answer(engine, replace(ASKED, hooks=Hooks({"tokenizer": note("own")})))
        assert order == ["engine", "engine", "own"]
    finally:
        engine.close()


async def test_what_can_never_be_answered_is_refused_before_it_waits() -> None:
    engine = Engine(CONFIG)
    try:
        with pytest.raises(UsageError, match="the model's context has 1024"):
            await answer(engine, replace(ASKED, max_tokens=2000))
        assert engine.scheduler.waiting == 0
    finally:
        engine.close()


async def test_after_its_end_nothing_is_generated() -> None:
    engine = Engine(CONFIG)
    stream = engine.generate(replace(ASKED, max_tokens=1000))
    await anext(stream)
    engine.close()
    assert not engine.alive
    with pytest.raises(EngineDeadError):
        [delta async for delta in stream]
    with pytest.raises(EngineDeadError):
        await answer(engine, ASKED)
