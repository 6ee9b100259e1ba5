"""A ledger's lines: all of them, compressed to about a tenth of their size, or the newest ones."""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Iterator
from typing import Protocol

_LEVEL = 1
"""The fastest: rows repeat their keys, so that higher levels save little more."""


class Lines(Protocol):
    """Lines in the order in which they were added."""

    def add(self, line: bytes) -> None:
        """Keep `line`, which ends with a newline and has no other."""

    def blocks(self) -> Iterator[bytes]:
        """The lines so far, many at a time; those that are added meanwhile are left out."""


class RecentLines:
    """The newest `limit` lines."""

    def __init__(self, limit: int) -> None:
        self._lines: deque[bytes] = deque(maxlen=limit)

    def add(self, line: bytes) -> None:
        """As Lines."""
        self._lines.append(line)

    def blocks(self) -> Iterator[bytes]:
        """As Lines, in one block."""
        return iter([b"".join(self._lines)])


class PackedLines:
    """All lines, as one deflate stream (RFC 1951): adding one costs microseconds, and nothing is packed in bulk."""

    def __init__(self) -> None:
        self._packer = zlib.compressobj(_LEVEL, wbits=-zlib.MAX_WBITS)
        self._packed = bytearray()

    def add(self, line: bytes) -> None:
        """As Lines."""
        self._packed += self._packer.compress(line)

    def blocks(self) -> Iterator[bytes]:
        """As Lines."""
        stream = bytes(self._packed) + self._packer.copy().flush()
        return _unpacked(stream)


def _unpacked(stream: bytes, size: int = 64 * 1024) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
    begun = b""
    while not unpacker.eof:
        block = begun + unpacker.decompress(stream, size)
        stream = unpacker.unconsumed_tail
        whole = block.rfind(b"\n") + 1
        begun = block[whole:]
        if whole:
            yield block[:whole]
