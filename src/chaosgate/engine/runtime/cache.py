"""Keys and values of the running requests, in blocks of one pool."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from chaosgate.engine.network.attention import KVPool
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.stored import Ints
from chaosgate.engine.runtime.blocks import BlockPool, next_key


@dataclass
class Holding:
    """The blocks of one request, in the order of positions. The first `known` are found by their content.

    `key` is that of the last known one. None: the request reads nothing of others and leaves nothing to them. One that
    `replaces` reads nothing either, and what it leaves takes the place of the same content.
    """

    slot: int
    key: bytes | None
    replaces: bool = False
    blocks: list[int] = field(default_factory=list)
    known: int = 0


class PagedCache:
    """The pool's memory, its allocation, and a table for each of `slots` requests.

    `tables` (slots, blocks) lists each request's blocks, filled up with the pool's empty block. With `sharing`, a full
    block is found again by whoever continues the same tokens in the same context.
    """

    def __init__(self, config: ModelConfig, slots: int, blocks: int, block_size: int, sharing: bool) -> None:
        self.pool = KVPool(config, blocks, block_size)
        self.blocks = BlockPool(blocks)
        self.sharing = sharing
        columns = self.pool.columns(self.needed(config.max_model_len))
        self.tables: Ints = np.full((slots, columns), self.pool.empty)
        self._slots = list(range(slots - 1, -1, -1))
        self.queried = 0
        """Tokens whose blocks were looked for."""
        self.found = 0
        """Tokens whose blocks were found."""

    @property
    def slots(self) -> int:
        """Requests that could still begin."""
        return len(self._slots)

    @property
    def usage(self) -> float:
        """Share of the blocks that requests hold, 0 to 1."""
        return 1 - self.blocks.free / self.blocks.count

    def needed(self, tokens: int) -> int:
        """Blocks for so many tokens."""
        return -(-tokens // self.pool.block_size)

    def begin(self, tokens: list[int], key: bytes | None, replaces: bool = False) -> Holding:
        """A holding with the blocks found for the beginning of `tokens`; at least one token is left to compute.

        `key` is the `root_key` of what their content depends on, None for a request that shares nothing. One that
        `replaces` what is found there finds nothing itself.
        """
        holding = Holding(self._slots.pop(), key if self.sharing else None, replaces)
        if holding.key is not None and not replaces:
            self._find(tokens, holding)
        return holding

    def _find(self, tokens: list[int], holding: Holding) -> None:
        size = self.pool.block_size
        for start in range(0, len(tokens) - size, size):
            key = next_key(holding.key or b"", tokens[start : start + size])
            block = self.blocks.share(key)
            if block is None:
                break
            holding.blocks.append(block)
            holding.key = key
        holding.known = len(holding.blocks)
        self.tables[holding.slot, : holding.known] = holding.blocks

    def count(self, holding: Holding, tokens: int) -> None:
        """Counts what was looked for and found for `tokens`, once their request is sure of its place."""
        if holding.key is not None and not holding.replaces:
            self.queried += tokens
            self.found += holding.known * self.pool.block_size

    def grow(self, holding: Holding, tokens: int) -> bool:
        """Takes blocks until `tokens` fit; False, and nothing taken, when too few are free."""
        held = len(holding.blocks)
        more = self.needed(tokens) - held
        if more <= 0:
            return True
        taken = self.blocks.take(more)
        if taken is None:
            return False
        self.pool.wipe(taken)
        self.tables[holding.slot, held : held + more] = taken
        holding.blocks.extend(taken)
        return True

    def keep(self, holding: Holding, tokens: list[int], computed: int) -> None:
        """Lets the blocks that the first `computed` of `tokens` fill be found by their content."""
        size = self.pool.block_size
        while holding.key is not None and (holding.known + 1) * size <= computed:
            start = holding.known * size
            holding.key = next_key(holding.key, tokens[start : start + size])
            self.blocks.keep(holding.blocks[holding.known], holding.key, holding.replaces)
            holding.known += 1

    def end(self, holding: Holding) -> None:
        """Gives everything back."""
        self.blocks.release(holding.blocks)
        self.tables[holding.slot, : len(holding.blocks)] = self.pool.empty
        self._slots.append(holding.slot)
        holding.blocks, holding.slot = [], -1
