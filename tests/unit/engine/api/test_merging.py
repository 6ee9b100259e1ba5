from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from chaosgate.engine.api.merging import merged


class Streams:
    """Streams that give what they are told to, and note that they were closed."""

    def __init__(self, count: int) -> None:
        self.queues: list[asyncio.Queue[int | Exception]] = [asyncio.Queue() for _ in range(count)]
        self.begun: list[int] = []
        self.closed: list[int] = []
        self.all_begun = asyncio.Event()

    async def stream(self, index: int) -> AsyncGenerator[int]:
        self.begun.append(index)
        if len(self.begun) == len(self.queues):
            self.all_begun.set()
        try:
            while got := await self.queues[index].get():
                if isinstance(got, Exception):
                    raise got
                yield got
        finally:
            self.closed.append(index)

    def give(self, index: int, *items: int | Exception) -> None:
        for item in items:
            self.queues[index].put_nowait(item)


@pytest.mark.parametrize("count", [1, 2, 5])
async def test_every_item_comes_with_the_index_of_its_stream(count: int) -> None:
    streams = Streams(count)
    for index in range(count):
        streams.give(index, 10 * index + 1, 10 * index + 2, 0)
    got = [item async for item in merged([streams.stream(index) for index in range(count)])]
    for index in range(count):
        assert [item for at, item in got if at == index] == [10 * index + 1, 10 * index + 2]
    assert sorted(streams.closed) == list(range(count))


async def test_items_come_in_the_order_of_time() -> None:
    streams = Streams(2)
    async with aclosing(merged([streams.stream(0), streams.stream(1)])) as items:
        streams.give(1, 7)
        assert await anext(items) == (1, 7)
        assert streams.begun == [0, 1]
        streams.give(0, 8)
        assert await anext(items) == (0, 8)
    assert sorted(streams.closed) == [0, 1]


@pytest.mark.parametrize("count", [1, 3])
async def test_one_that_fails_ends_all(count: int) -> None:
    streams = Streams(count)
    streams.give(count - 1, 5, ValueError("broken"))
    async with aclosing(merged([streams.stream(index) for index in range(count)])) as items:
        assert await anext(items) == (count - 1, 5)
        with pytest.raises(ValueError, match="broken"):
            await anext(items)
    assert sorted(streams.closed) == list(range(count))


async def test_a_reader_that_is_cancelled_closes_all() -> None:
    streams = Streams(3)

    async def read() -> None:
        async with aclosing(merged([streams.stream(index) for index in range(3)])) as items:
            async for _ in items:
                pass

    task = asyncio.create_task(read())
    await streams.all_begun.wait()
    task.cancel()
    await asyncio.wait([task])
    assert sorted(streams.closed) == [0, 1, 2]
