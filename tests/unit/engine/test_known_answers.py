"""The shipped model gives the known answers of every prompt set, asked as a run asks them."""

from __future__ import annotations

import asyncio

import pytest

from chaosgate.loadgen.client import ChatClient, open_session
from chaosgate.loadgen.trace import Call, PhaseClock
from chaosgate.model.observation import Observation
from chaosgate.prompts.sets import prompt_set, prompt_sets

from .conftest import Served

ENOUGH = 0.97
AT_ONCE = 8


async def answers(url: str, name: str) -> list[Observation]:
    """Every prompt of a set once, some at a time."""
    clock, room = PhaseClock(), asyncio.Semaphore(AT_ONCE)
    async with open_session() as session:
        client = ChatClient(session, url, model="embedded/tiny", max_tokens=40, seed=7, timeout=60.0, clock=clock)

        async def ask(index: int) -> Observation:
            prompt = prompt_set(name).prompts[index]
            trace = client.trace(Call(f"7.baseline.{index}", "baseline", f"{name}/{index}", prompt, 0.0, False))
            async with room:
                await client.ask(trace)
            return trace.observation()

        return await asyncio.gather(*map(ask, range(len(prompt_set(name).prompts))))


@pytest.mark.parametrize("name", prompt_sets())
async def test_the_shipped_model_gives_the_known_answers(served: Served, name: str) -> None:
    seen = await answers(served.url, name)
    assert {one.outcome for one in seen} == {"ok"}
    wrong = [one.prompt for one in seen if one.answer == "wrong"]
    assert len(wrong) <= (1 - ENOUGH) * len(seen), wrong


async def test_the_drill_asks_nothing_that_the_model_answers_wrong(served: Served) -> None:
    """One wrong prompt of 24 would be 4 % of the drill's requests, and its bound is 95 %."""
    assert {one.answer for one in await answers(served.url, "recall-24")} == {"right"}
