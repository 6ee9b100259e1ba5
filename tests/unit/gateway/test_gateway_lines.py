"""A ledger's lines come back as they were added, however often they are read in between."""

from __future__ import annotations

import json
import os

from hypothesis import given
from hypothesis import strategies as st

from chaosgate.gateway.lines import PackedLines, RecentLines

LINES = st.lists(st.binary(max_size=300).map(lambda data: data.replace(b"\n", b"") + b"\n"), max_size=30)


def read(lines: PackedLines) -> list[bytes]:
    """The lines, from blocks that each end with one."""
    blocks = list(lines.blocks())
    assert all(block.endswith(b"\n") for block in blocks)
    return [line + b"\n" for block in blocks for line in block[:-1].split(b"\n")]


@given(LINES, st.sets(st.integers(0, 30)))
def test_packed_lines_come_back_whenever_they_are_read(added: list[bytes], readings: set[int]) -> None:
    lines = PackedLines()
    for number, line in enumerate(added):
        if number in readings:
            assert read(lines) == added[:number]
        lines.add(line)

    assert read(lines) == added


def test_a_reader_sees_the_lines_of_its_moment() -> None:
    lines = PackedLines()
    lines.add(b"first\n")
    blocks = lines.blocks()
    lines.add(b"second\n")

    assert list(blocks) == [b"first\n"]


def test_many_lines_come_in_blocks_that_are_small_and_end_with_a_line() -> None:
    lines, added = PackedLines(), [b"%06d %s\n" % (number, os.urandom(20).hex().encode()) for number in range(20_000)]
    for line in added:
        lines.add(line)
    blocks = list(lines.blocks())

    assert b"".join(blocks) == b"".join(added)
    assert len(blocks) > 10
    assert all(block.endswith(b"\n") and len(block) < 100_000 for block in blocks)


def test_a_line_longer_than_a_block_is_not_cut() -> None:
    lines, long = PackedLines(), b"x" * 300_000 + b"\n"
    lines.add(long)
    lines.add(b"y\n")

    assert read(lines) == [long, b"y\n"]


def test_rows_take_a_tenth_of_their_size() -> None:
    lines, size = PackedLines(), 0
    for number in range(10_000):
        row = {"request": f"7.block1.{number}", "phase": "block1", "fault": "slow", "bypassed": "spared by the draw"}
        line = json.dumps({**row, "planned": True, "applied": False, "effect": None}).encode() + b"\n"
        size += len(line)
        lines.add(line)

    assert len(lines._packed) < size / 10


@given(LINES, st.integers(1, 10))
def test_recent_lines_are_the_newest(added: list[bytes], limit: int) -> None:
    lines = RecentLines(limit)
    for line in added:
        lines.add(line)

    assert b"".join(lines.blocks()) == b"".join(added[-limit:])
