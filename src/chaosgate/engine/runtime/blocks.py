"""Which cache block belongs to whom."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np


class BlockPool:
    """Hands out `count` blocks by number, counts who holds each, and remembers what full ones contain.

    A block is free (nobody holds it). A free block whose content has a key waits to be shared again; when new blocks
    are needed, those without content go first and then the one that was freed longest ago.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._holders = [0] * count
        self._blank = list(range(count - 1, -1, -1))
        self._keyed: OrderedDict[int, None] = OrderedDict()
        self._key_of: dict[int, bytes] = {}
        self._block_of: dict[bytes, int] = {}

    @property
    def free(self) -> int:
        """Blocks that nobody holds."""
        return len(self._blank) + len(self._keyed)

    @property
    def kept(self) -> int:
        """Blocks that nobody holds and that could be shared again."""
        return len(self._keyed)

    def holders(self, block: int) -> int:
        """How many requests hold `block`."""
        return self._holders[block]

    def take(self, count: int) -> list[int] | None:
        """So many blocks of unknown content, held once; None, and nothing taken, when fewer are free."""
        if count > self.free:
            return None
        taken = [self._blank.pop() if self._blank else self._evicted() for _ in range(count)]
        for block in taken:
            self._holders[block] = 1
        return taken

    def share(self, key: bytes) -> int | None:
        """The block with the content of `key`, held once more; None when there is none."""
        block = self._block_of.get(key)
        if block is not None:
            self._keyed.pop(block, None)
            self._holders[block] += 1
        return block

    def release(self, blocks: Sequence[int]) -> None:
        """Gives blocks back. The last is evicted first: a prefix is worth more than what follows it."""
        for block in reversed(blocks):
            if not self._holders[block]:
                raise ValueError(f"block {block} is released and nobody holds it")
            self._holders[block] -= 1
            if self._holders[block]:
                continue
            if block in self._key_of:
                self._keyed[block] = None
            else:
                self._blank.append(block)

    def keep(self, block: int, key: bytes, replaces: bool = False) -> None:
        """Lets `block` be found under `key`. A block found there before stays, unless this one `replaces` it."""
        before = self._block_of.get(key)
        if before is not None and not replaces:
            return
        if before is not None:
            self._unkey(before)
        self._block_of[key] = block
        self._key_of[block] = key

    def _evicted(self) -> int:
        block, _ = self._keyed.popitem(last=False)
        del self._block_of[self._key_of.pop(block)]
        return block

    def _unkey(self, block: int) -> None:
        del self._block_of[self._key_of.pop(block)]
        if block in self._keyed:
            del self._keyed[block]
            self._blank.append(block)


def root_key(*context: str) -> bytes:
    """The key before the first block: what the content of blocks depends on beside the tokens."""
    # A client's text may hold a lone surrogate, which has no UTF-8 form; two that differ still need keys of their own.
    return blake2b("\x1f".join(context).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def next_key(key: bytes, tokens: Sequence[int]) -> bytes:
    """The key of a full block of `tokens` after the one of `key`: equal only where all tokens before are equal, too.

    BLAKE2b (RFC 7693) over the key before and the tokens, as vLLM chains its block hashes.
    """
    return blake2b(key + np.asarray(tokens, "<i8").tobytes(), digest_size=16).digest()
