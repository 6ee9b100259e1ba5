"""Whoever waits goes on when it is due, or at once when all are let go."""

from __future__ import annotations

import asyncio
import time

import pytest

from chaosgate.sleepers import Sleepers


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("ahead", [-1, 0.0003, 0.0012, 0.02])
async def test_they_wake_when_due_and_not_before(ahead: float, exact: bool) -> None:
    due = time.monotonic() + ahead
    assert await Sleepers(time.monotonic).until(due, exact)
    assert time.monotonic() >= due


@pytest.mark.parametrize("exact", [True, False])
async def test_all_who_wait_can_be_let_go(exact: bool) -> None:
    sleepers = Sleepers(time.monotonic)
    waiting = [asyncio.create_task(sleepers.until(time.monotonic() + 1000 + one, exact)) for one in range(3)]
    await asyncio.sleep(0)
    sleepers.release()

    assert await asyncio.wait_for(asyncio.gather(*waiting), 10) == [False, False, False]


async def test_nobody_sleeps_after_a_release() -> None:
    sleepers = Sleepers(time.monotonic)
    sleepers.release()

    assert not await sleepers.until(1e9)


@pytest.mark.parametrize("exact", [True, False])
async def test_others_are_served_while_one_waits(exact: bool) -> None:
    turns = 0
    waiting = asyncio.create_task(Sleepers(time.monotonic).until(time.monotonic() + 0.005, exact))
    while not waiting.done():
        turns += 1
        await asyncio.sleep(0)

    assert turns > 3
