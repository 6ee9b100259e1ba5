from __future__ import annotations

import asyncio

import pytest

from chaosgate.loadgen.deadline import Deadlines


async def wait(deadlines: Deadlines, seconds: float) -> str:
    try:
        with deadlines.start():
            await asyncio.sleep(seconds)
    except TimeoutError:
        return "timeout"
    return "done"


async def test_each_task_has_the_whole_limit_and_no_more() -> None:
    deadlines, begun = Deadlines(0.3), asyncio.get_running_loop().time()
    first = asyncio.create_task(wait(deadlines, 10))
    quick = asyncio.create_task(wait(deadlines, 0.01))
    await asyncio.sleep(0.2)
    second = asyncio.create_task(wait(deadlines, 10))
    assert (await quick, await first) == ("done", "timeout")
    assert asyncio.get_running_loop().time() - begun >= 0.3
    assert await second == "timeout"
    assert asyncio.get_running_loop().time() - begun >= 0.5


async def test_a_later_request_is_ended_though_all_before_it_were_done() -> None:
    deadlines = Deadlines(0.05)
    for _ in range(3):
        assert await wait(deadlines, 0) == "done"
    await asyncio.sleep(0.1)
    assert await wait(deadlines, 10) == "timeout"


async def test_a_task_that_is_done_with_its_request_is_left_alone() -> None:
    deadlines = Deadlines(0.05)
    assert await wait(deadlines, 0) == "done"
    await asyncio.sleep(0.1)


async def test_a_cancellation_from_elsewhere_is_no_timeout() -> None:
    task = asyncio.create_task(wait(Deadlines(10), 10))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancellation_beside_a_timeout_goes_on() -> None:
    task = asyncio.create_task(wait(Deadlines(0.0), 10))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled() or task.result() == "timeout"


async def test_errors_of_the_request_pass() -> None:
    with pytest.raises(KeyError), Deadlines(1.0).start():
        raise KeyError("no")
