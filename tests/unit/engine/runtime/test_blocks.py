from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.engine.runtime.blocks import BlockPool, next_key, root_key

TEXTS = st.text(st.characters())
"""Lone surrogates, too."""


def test_takes_all_or_nothing() -> None:
    pool = BlockPool(3)
    assert pool.take(2) == [0, 1]
    assert pool.take(2) is None
    assert pool.free == 1
    assert pool.take(1) == [2]


def test_a_kept_block_is_shared_and_counted() -> None:
    pool = BlockPool(4)
    first = pool.take(1) or []
    pool.keep(first[0], b"k")
    assert pool.share(b"k") == first[0]
    assert pool.share(b"other") is None
    assert pool.holders(first[0]) == 2
    pool.release(first)
    assert (pool.free, pool.kept) == (3, 0)
    pool.release(first)
    assert (pool.free, pool.kept) == (4, 1)
    assert pool.share(b"k") == first[0]
    assert (pool.free, pool.kept) == (3, 0)


def test_blank_blocks_go_first_and_then_what_was_freed_longest_ago() -> None:
    pool = BlockPool(4)
    early, late = pool.take(2) or [], pool.take(1) or []
    for block in (*early, *late):
        pool.keep(block, bytes([block]))
    pool.release(early)
    pool.release(late)
    assert pool.take(1) == [3]
    assert pool.take(1) == [early[1]], "of one request the last block goes first"
    assert pool.share(bytes([early[1]])) is None
    assert pool.share(bytes([early[0]])) == early[0]
    assert pool.take(1) == late


def test_the_first_content_stays_unless_another_replaces_it() -> None:
    pool = BlockPool(3)
    first, second, third = pool.take(3) or []
    pool.keep(first, b"k")
    pool.keep(second, b"k")
    assert pool.share(b"k") == first
    pool.keep(third, b"k", replaces=True)
    assert pool.share(b"k") == third
    pool.release([first, first, second])
    assert (pool.free, pool.kept) == (2, 0)


def test_a_block_is_not_released_twice() -> None:
    pool = BlockPool(2)
    taken = pool.take(1) or []
    pool.release(taken)
    with pytest.raises(ValueError, match="block 0 is released and nobody holds it"):
        pool.release(taken)


@given(st.lists(st.integers(0, 511), max_size=6), st.lists(st.integers(0, 511), max_size=6), TEXTS, TEXTS)
def test_keys_are_equal_only_for_equal_tokens_and_context(
    first: list[int], second: list[int], one: str, other: str
) -> None:
    same = (first, one) == (second, other)
    assert (next_key(root_key(one), first) == next_key(root_key(other), second)) == same
    assert next_key(next_key(root_key(one), first), second) != next_key(root_key(one), [*first, *second])


def test_context_words_do_not_run_together() -> None:
    assert root_key("a", "bc") != root_key("ab", "c")


def test_a_lone_surrogate_is_a_context_like_any_other() -> None:
    assert len({root_key("\ud800"), root_key("\ud801"), root_key("?")}) == 3
