from __future__ import annotations

from dataclasses import dataclass

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.runtime.blocks import root_key
from chaosgate.engine.runtime.cache import Holding, PagedCache

TINY = ModelConfig(layers=1, kv_heads=1, head_dim=2, max_model_len=64)
KEY = root_key("")
SIZE = 8


def cache(blocks: int = 8, slots: int = 4, sharing: bool = True) -> PagedCache:
    return PagedCache(TINY, slots, blocks, SIZE, sharing)


def filled(paged: PagedCache, tokens: list[int], key: bytes | None = KEY, replaces: bool = False) -> Holding:
    """A holding whose tokens are all computed."""
    holding = paged.begin(tokens, key, replaces)
    assert paged.grow(holding, len(tokens))
    paged.count(holding, len(tokens))
    paged.keep(holding, tokens, len(tokens))
    return holding


def test_blocks_come_as_tokens_do() -> None:
    paged = cache()
    holding = paged.begin([1] * 20, KEY)
    assert paged.grow(holding, 9)
    assert len(holding.blocks) == 2
    assert paged.grow(holding, 16)
    assert len(holding.blocks) == 2
    assert paged.tables[holding.slot, :3].tolist() == [*holding.blocks, paged.pool.empty]
    assert paged.usage == 2 / 8
    assert not paged.grow(holding, 8 * 8 + 1)
    assert len(holding.blocks) == 2
    paged.end(holding)
    assert paged.usage == 0
    assert (paged.tables == paged.pool.empty).all()


def test_an_equal_beginning_is_found_up_to_the_last_whole_block() -> None:
    paged = cache()
    first = filled(paged, list(range(20)))
    second = paged.begin([*range(18), 99, 98], KEY)
    assert second.blocks == first.blocks[:2]
    assert second.known == 2
    assert paged.tables[second.slot, :2].tolist() == first.blocks[:2]
    third = paged.begin([*range(8), 5, *range(9, 20)], KEY)
    assert third.blocks == first.blocks[:1]
    assert (paged.queried, paged.found) == (20, 0)
    for holding in (second, third):
        paged.count(holding, 20)
    assert (paged.queried, paged.found) == (60, 24)


def test_one_token_is_always_left_to_compute() -> None:
    paged = cache()
    first = filled(paged, list(range(16)))
    assert paged.begin(list(range(16)), KEY).blocks == first.blocks[:1]
    assert paged.begin(list(range(17)), KEY).blocks == first.blocks


def test_what_grows_behind_a_shared_beginning_is_found_too() -> None:
    paged = cache()
    filled(paged, list(range(9)))
    longer = filled(paged, list(range(25)))
    assert paged.begin(list(range(30)), KEY).blocks == longer.blocks[:3]


def test_another_context_a_private_request_and_a_cache_without_sharing_find_nothing() -> None:
    paged = cache()
    filled(paged, list(range(20)))
    assert paged.begin(list(range(20)), root_key("adapter")).blocks == []
    assert paged.begin(list(range(20)), None).blocks == []
    private = cache()
    filled(private, list(range(20)), key=None)
    assert private.begin(list(range(20)), KEY).blocks == []
    without = cache(sharing=False)
    filled(without, list(range(20)))
    assert without.begin(list(range(20)), KEY).blocks == []


def test_a_request_that_replaces_reads_nothing_and_leaves_its_blocks() -> None:
    paged = cache()
    first = filled(paged, list(range(20)))
    second = filled(paged, list(range(20)), replaces=True)
    assert paged.queried == 20
    assert paged.begin(list(range(20)), KEY).blocks == second.blocks[:2] != first.blocks[:2]


def test_a_block_is_wiped_before_the_next_request_has_it() -> None:
    paged = cache(blocks=2)
    holding = filled(paged, [1] * 16)
    paged.pool.cells[:, holding.blocks] = 7
    paged.end(holding)
    fresh = paged.begin([2] * 16, KEY)
    assert paged.grow(fresh, 16)
    assert not paged.pool.cells.any()


@dataclass
class Open:
    """A request of the state machine."""

    holding: Holding
    tokens: list[int]
    computed: int = 0


class Accounting(RuleBasedStateMachine):
    """Random requests come, grow, and end in any order; every block has as many holders as tables name it."""

    def __init__(self) -> None:
        super().__init__()
        self.paged = cache(blocks=12)
        self.open: list[Open] = []

    @precondition(lambda self: self.paged.slots)
    @rule(
        tokens=st.lists(st.integers(0, 1), min_size=1, max_size=64),
        key=st.sampled_from([KEY, root_key("other"), None]),
        replaces=st.booleans(),
    )
    def begin(self, tokens: list[int], key: bytes | None, replaces: bool) -> None:
        holding = self.paged.begin(tokens, key, replaces)
        self.open.append(Open(holding, tokens, holding.known * SIZE))
        assert self.open[-1].computed < len(tokens)

    @precondition(lambda self: self.open)
    @rule(at=st.integers(0), more=st.integers(1, 64))
    def grow(self, at: int, more: int) -> None:
        request = self.open[at % len(self.open)]
        end = min(request.computed + more, len(request.tokens))
        free = self.paged.blocks.free
        needed = -(-end // SIZE) - len(request.holding.blocks)
        assert self.paged.grow(request.holding, end) == (needed <= free)
        if needed <= free:
            request.computed = end
            self.paged.keep(request.holding, request.tokens, end)

    @precondition(lambda self: self.open)
    @rule(at=st.integers(0))
    def end(self, at: int) -> None:
        self.paged.end(self.open.pop(at % len(self.open)).holding)

    @invariant()
    def nothing_leaks(self) -> None:
        held = [block for request in self.open for block in request.holding.blocks]
        assert [self.paged.blocks.holders(block) for block in range(12)] == [held.count(block) for block in range(12)]
        assert self.paged.blocks.free == 12 - len(set(held))
        assert self.paged.slots == 4 - len(self.open)
        for request in self.open:
            blocks = request.holding.blocks
            row = self.paged.tables[request.holding.slot].tolist()
            assert row == blocks + [12] * (len(row) - len(blocks))

    def teardown(self) -> None:
        while self.open:
            self.end(0)
        assert self.paged.usage == 0
        assert (self.paged.tables == self.paged.pool.empty).all()


TestAccounting = Accounting.TestCase
TestAccounting.settings = settings(max_examples=50, stateful_step_count=40)
