"""What one step of the engine computes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from chaosgate.engine.network.adapters import Adapter
from chaosgate.engine.network.attention import KVPool
from chaosgate.engine.network.sites import Tap
from chaosgate.engine.network.stored import Ints


@dataclass(frozen=True)
class Batch:
    """The tokens of one step: first one of each of `singles` requests, then longer parts of other requests.

    `tokens` and `positions` have one entry a row, `tables` one row a request, filled up to whole tiles with the pool's
    empty block; request i has the rows `starts[i]` to `starts[i + 1]`. `adapters` has one entry a request and is empty
    when nobody has one. A request appears once, and its rows are written into blocks that nobody else reads.
    """

    tokens: Ints
    positions: Ints
    tables: Ints
    starts: Sequence[int]
    singles: int
    adapters: Sequence[Adapter | None] = ()
    tap: Tap | None = None

    def rows(self, request: int) -> slice:
        """The rows of one request."""
        return slice(self.starts[request], self.starts[request + 1])

    def adapted(self) -> Iterator[tuple[list[int], Adapter]]:
        """Each adapter in use with its rows."""
        found: dict[str, tuple[list[int], Adapter]] = {}
        for request, adapter in enumerate(self.adapters):
            if adapter is not None:
                rows, _ = found.setdefault(adapter.name, ([], adapter))
                rows.extend(range(self.starts[request], self.starts[request + 1]))
        yield from found.values()


def whole(pool: KVPool, tokens: Sequence[int]) -> Batch:
    """All of one text at once, in the first blocks of an otherwise unused pool."""
    count = len(tokens)
    used = -(-count // pool.block_size)
    table = np.full(pool.columns(used), pool.empty)
    table[:used] = np.arange(used)
    return Batch(np.asarray(tokens, np.int64), np.arange(count), table[None], (0, count), singles=0)
