from __future__ import annotations

import asyncio
from types import SimpleNamespace

from chaosgate.engine.api.streams import Patience


class Transport:
    """Notes that it was cut off."""

    def __init__(self) -> None:
        self.cut = asyncio.Event()

    def abort(self) -> None:
        self.cut.set()


async def test_a_write_that_does_not_end_is_cut_off() -> None:
    transport = Transport()
    with Patience(SimpleNamespace(transport=transport), 0.02) as patience:
        patience.begin()
        patience.end()
        patience.begin()
        await asyncio.wait_for(transport.cut.wait(), 20)


async def test_a_stream_that_has_nothing_to_send_is_waited_for() -> None:
    transport = Transport()
    with Patience(SimpleNamespace(transport=transport), 0.02) as patience:
        patience.begin()
        patience.end()
        await asyncio.sleep(0.2)
    patience.begin()
    await asyncio.sleep(0.1)
    assert not transport.cut.is_set(), "neither while nothing is written nor after the end"


async def test_a_client_that_is_gone_already_cannot_be_cut_off() -> None:
    with Patience(SimpleNamespace(transport=None), 0.02) as patience:
        patience.begin()
        await asyncio.sleep(0.1)
