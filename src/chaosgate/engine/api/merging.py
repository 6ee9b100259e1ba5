"""Several generations as one stream, in the order in which their tokens come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TypeVar

Item = TypeVar("Item")
Pump = asyncio.Task[None]


async def merged(streams: Sequence[AsyncGenerator[Item]]) -> AsyncGenerator[tuple[int, Item]]:
    """Yields each item with the index of its stream; the first error of any ends all.

    Leaving the iteration early closes every stream. All have been asked for their first item before one is yielded.
    """
    if len(streams) == 1:
        async with aclosing(streams[0]) as only:
            async for item in only:
                yield 0, item
        return
    queue: asyncio.Queue[tuple[int, Item] | Pump] = asyncio.Queue()
    pumps = [asyncio.create_task(_pump(index, stream, queue)) for index, stream in enumerate(streams)]
    for pump in pumps:
        pump.add_done_callback(queue.put_nowait)
    try:
        left = len(pumps)
        while left:
            got = await queue.get()
            if isinstance(got, asyncio.Task):
                got.result()
                left -= 1
            else:
                yield got
    finally:
        for pump in pumps:
            pump.cancel()
        await asyncio.wait(pumps)


async def _pump(index: int, stream: AsyncGenerator[Item], queue: asyncio.Queue[tuple[int, Item] | Pump]) -> None:
    async with aclosing(stream):
        async for item in stream:
            queue.put_nowait((index, item))
