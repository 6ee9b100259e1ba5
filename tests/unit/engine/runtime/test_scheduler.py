from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from chaosgate.engine.network.batch import Batch
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.transformer import Transformer
from chaosgate.engine.runtime.config import ANSWER_FIELDS
from chaosgate.engine.runtime.scheduler import EngineDeadError, QueueFullError
from chaosgate.engine.runtime.sequence import Sequence
from chaosgate.model.sites import Hooks

from .driven import Driven, drawn


def prompts(count: int) -> list[list[int]]:
    """Prompts of 5 to 94 tokens; half of them begin alike."""
    shared = drawn(48, seed=99)
    return [(shared if seed % 2 else []) + drawn(5 + seed * 13 % 40, seed) for seed in range(count)]


def alone(model: Transformer, temperature: float, count: int) -> list[list[int]]:
    """What each request gets with nobody beside it, its prompt in one piece and nothing cached."""
    single = Driven(model, max_num_seqs=1, max_num_batched_tokens=2048, enable_prefix_caching=False)
    return [single.run(prompt, 4 + seed % 17, temperature) for seed, prompt in enumerate(prompts(count))]


@pytest.mark.thorough
@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize(
    ("sizes", "preempts"),
    [
        ({"max_num_seqs": 16, "enable_prefix_caching": False}, False),
        ({"max_num_seqs": 16, "max_num_batched_tokens": 24}, False),
        ({"max_num_seqs": 16, "num_blocks": 14, "max_num_batched_tokens": 64}, True),
        ({"max_num_seqs": 5, "num_blocks": 24, "block_size": 8, "max_num_batched_tokens": 20}, True),
    ],
    ids=["batched", "cut into parts and shared", "preempted", "preempted in parts"],
)
def test_no_token_depends_on_the_company(
    model: Transformer, temperature: float, sizes: dict[str, int], preempts: bool
) -> None:
    crowd = Driven(model, **sizes)
    sequences = []
    for seed, prompt in enumerate(prompts(30)):
        sequences.append(crowd.submit(prompt, 4 + seed % 17, temperature))
        if seed % 3 == 0:
            crowd.scheduler.step()
    crowd.drain()
    assert [crowd.tokens(sequence) for sequence in sequences] == alone(model, temperature, 30)
    assert bool(crowd.scheduler.preemptions) == preempts
    assert bool(crowd.scheduler.cache.found) == sizes.get("enable_prefix_caching", True)
    assert crowd.scheduler.cache_usage == 0


def test_requests_join_and_leave_between_steps(model: Transformer) -> None:
    driven = Driven(model, max_num_seqs=2)
    short, long, late = (driven.submit(drawn(9, seed), tokens) for seed, tokens in ((1, 1), (2, 6), (3, 3)))
    driven.scheduler.step()
    assert [driven.finish(sequence) for sequence in (short, long, late)] == ["length", None, None]
    assert (driven.scheduler.running, driven.scheduler.waiting) == (1, 1)
    driven.scheduler.step()
    assert (driven.scheduler.running, driven.scheduler.waiting) == (2, 0)
    assert driven.scheduler.cache_usage == 2 / 2048
    driven.drain()
    assert [driven.finish(sequence) for sequence in (short, long, late)] == ["length"] * 3
    assert driven.scheduler.cache_usage == 0


def test_a_long_prompt_is_read_in_parts_while_others_generate(model: Transformer) -> None:
    driven = Driven(model, max_num_batched_tokens=20)
    first = driven.submit(drawn(10, 1), 30)
    driven.scheduler.step()
    second = driven.submit(drawn(50, 2), 2)
    for generated in (2, 3):
        driven.scheduler.step()
        assert first.generated == generated
        assert (second.computed, second.generated) == (19 * (generated - 1), 0)
    driven.scheduler.step()
    assert (first.generated, second.generated) == (4, 1)


def test_who_generates_comes_before_a_prompt_that_was_begun_earlier(model: Transformer) -> None:
    driven = Driven(model, max_num_batched_tokens=8)
    prompt = driven.submit(drawn(7, 1), 40)
    driven.scheduler.step()
    long = driven.submit(drawn(200, 2), 1)
    driven.scheduler.step()
    other = driven.submit(drawn(1, 3), 5)
    for _ in range(4):
        driven.scheduler.step()
    assert (prompt.generated, long.computed, other.computed) == (6, 35, 0)


def test_the_youngest_is_preempted_and_goes_on_where_it_was(model: Transformer) -> None:
    driven = Driven(model, num_blocks=4, enable_prefix_caching=False)
    old, young = driven.submit(drawn(30, 1), 30), driven.submit(drawn(30, 2), 30)
    while not driven.scheduler.preemptions:
        driven.scheduler.step()
    assert (old.holding is not None, young.holding) == (True, None)
    assert (driven.scheduler.running, driven.scheduler.waiting) == (1, 1)
    made = young.generated
    assert made > 1
    driven.drain()
    assert len(driven.tokens(young)) == 30
    assert driven.tokens(young) == Driven(model).run(drawn(30, 2), 30)


def test_a_request_that_needs_every_block_is_answered_among_others(model: Transformer) -> None:
    driven = Driven(model, num_blocks=6)
    sequences = [driven.submit(drawn(66, seed), 31) for seed in range(4)]
    driven.drain()
    assert [driven.finish(sequence) for sequence in sequences] == ["length"] * 4


def test_cached_tokens_are_told(model: Transformer) -> None:
    driven = Driven(model)
    driven.run(drawn(40), 2)
    again = driven.submit([*drawn(40), 5], 2)
    driven.drain()
    assert [delta.cached for delta in driven.deltas[again]] == [32, 32]


@pytest.mark.parametrize("other", [{"adapter": "x"}, {"salt": "s"}, {"hooks": Hooks({}, salt="s")}])
def test_blocks_are_not_shared_across_adapters_and_salts(model: Transformer, other: dict[str, Any]) -> None:
    from ..network.test_transformer import adapter

    driven = Driven(model, adapters={"x": adapter(model.config, "x", 1)})
    driven.run(drawn(40), 1)
    second = driven.submit(drawn(40), 1, **other)
    driven.drain()
    assert driven.deltas[second][0].cached == 0


def test_each_request_has_its_adapter(model: Transformer) -> None:
    from ..network.test_transformer import adapter

    adapters = {name: adapter(model.config, name, seed) for seed, name in enumerate("ab")}
    driven = Driven(model, adapters=adapters)
    names = [None, "a", "b", "a", None]
    sequences = [driven.submit(drawn(20), 12, adapter=name) for name in names]
    driven.drain()
    answers = [driven.tokens(sequence) for sequence in sequences]
    assert answers[0] == answers[4] == Driven(model).run(drawn(20), 12)
    assert answers[1] == answers[3] == Driven(model, adapters=adapters).run(drawn(20), 12, adapter="a")
    assert len({tuple(answer) for answer in answers}) == 3


def test_a_full_queue_refuses_with_both_numbers(model: Transformer) -> None:
    driven = Driven(model, max_num_seqs=1, max_waiting=2)
    driven.submit(drawn(5), 5)
    driven.submit(drawn(5), 5)
    with pytest.raises(QueueFullError) as caught:
        driven.submit(drawn(5), 5)
    assert str(caught.value) == "the waiting queue is full: 2 requests wait, 2 are allowed; try again later"


def test_a_cancelled_request_frees_its_blocks_at_the_next_step(model: Transformer) -> None:
    driven = Driven(model, max_num_seqs=1, enable_prefix_caching=False)
    running, waiting, last = driven.submit(drawn(5), 500), driven.submit(drawn(6), 5), driven.submit(drawn(7), 2)
    driven.scheduler.step()
    driven.scheduler.cancel(running)
    driven.scheduler.cancel(waiting)
    assert driven.scheduler.cache_usage > 0
    driven.scheduler.step()
    assert running.holding is None
    assert last.holding is not None
    driven.drain()
    assert driven.scheduler.cache_usage == 0
    assert [driven.finish(sequence) for sequence in (running, waiting, last)] == [None, None, "length"]


def test_a_preempted_request_can_be_cancelled(model: Transformer) -> None:
    driven = Driven(model, num_blocks=4)
    driven.submit(drawn(30, 1), 30)
    young = driven.submit(drawn(30, 2), 30)
    while not driven.scheduler.preemptions:
        driven.scheduler.step()
    driven.scheduler.cancel(young)
    driven.drain()
    assert driven.finish(young) is None
    assert driven.scheduler.cache_usage == 0


def test_the_context_can_be_filled_to_its_last_position(model: Transformer) -> None:
    driven = Driven(model, max_num_seqs=1)
    sequence = driven.submit((65,) * 1000, 24, ignore_eos=True)
    driven.drain()
    assert driven.finish(sequence) == "length"
    assert len(driven.tokens(sequence)) == 24


def test_after_a_failure_everybody_is_told(model: Transformer) -> None:
    driven = Driven(model, max_num_seqs=1)
    running, waiting = driven.submit(drawn(5), 50), driven.submit(drawn(5), 50)
    driven.scheduler.step()
    arrived = driven.submit(drawn(5), 50)
    driven.scheduler.fail_all()
    assert [driven.finish(sequence) for sequence in (running, waiting, arrived)] == ["error"] * 3
    assert driven.error(running) == ""
    assert driven.scheduler.wait() is False
    with pytest.raises(EngineDeadError, match="restart the engine"):
        driven.submit(drawn(5), 1)


def test_a_kept_response_is_delivered_without_a_step_of_the_model(model: Transformer) -> None:
    driven = Driven(model, response_cache=ANSWER_FIELDS)
    first, other = driven.submit(drawn(9), 5), driven.submit(drawn(9), 6)
    driven.drain()
    queried = driven.scheduler.cache.queried
    again = driven.submit(drawn(9), 5)
    driven.scheduler.step()
    assert driven.text(again) == driven.text(first) != driven.text(other)
    assert driven.finish(again) == "length"
    assert driven.scheduler.cache.queried == queried
    assert Driven(model).scheduler.cache_usage == 0


def test_without_a_key_no_response_is_kept(model: Transformer) -> None:
    driven = Driven(model)
    driven.run(drawn(9), 5)
    again = driven.submit(drawn(9), 5)
    driven.scheduler.step()
    assert again.generated == 1


class Guessing:
    """A model that guesses: what it computes does not matter to who holds which block."""

    config = ModelConfig(layers=1, kv_heads=1, head_dim=2, max_model_len=128)

    def __init__(self) -> None:
        self._random = np.random.default_rng(1)

    def forward(self, pool: object, batch: Batch, wanted: list[int]) -> np.ndarray:
        return self._random.standard_normal((len(wanted), 512), dtype=np.float32)


ASKED = st.tuples(
    st.integers(1, 80), st.integers(0, 2), st.integers(1, 12), st.booleans(), st.booleans(), st.sampled_from(["", "w"])
)
"""Tokens of the prompt, which token, max_tokens, whether a hook changes the cache, whether that is shared, salt."""


class Accounting(RuleBasedStateMachine):
    """Random requests come, run, are preempted and cancelled; every block has as many holders as tables name it."""

    submitted = 0
    preempted = 0

    def __init__(self) -> None:
        super().__init__()
        self.driven = Driven(Guessing(), num_blocks=20, block_size=8, max_num_seqs=6, max_num_batched_tokens=64)
        self.open: list[Sequence] = []

    @rule(asked=st.lists(ASKED, min_size=1, max_size=4))
    def submit(self, asked: list[tuple[int, int, int, bool, bool, str]]) -> None:
        for tokens, begins, most, affects, shares, salt in asked:
            hooks = Hooks({"embedding" if affects else "logits": lambda array, context: array}, shares, salt)
            self.open.append(self.driven.submit([begins] * tokens, most, hooks=hooks))
            Accounting.submitted += 1

    @rule(at=st.integers(0))
    @precondition(lambda self: self.open)
    def cancel(self, at: int) -> None:
        self.driven.scheduler.cancel(self.open[at % len(self.open)])

    @rule(count=st.integers(1, 12))
    def step(self, count: int) -> None:
        for _ in range(count):
            self.driven.scheduler.step()

    @invariant()
    def nothing_leaks(self) -> None:
        scheduler = self.driven.scheduler
        running = [sequence for sequence in self.open if sequence.holding is not None]
        held = [block for sequence in running for block in sequence.held.blocks]
        pool = scheduler.cache.blocks
        assert [pool.holders(block) for block in range(20)] == [held.count(block) for block in range(20)]
        assert pool.free == 20 - len(set(held))
        assert len(running) == scheduler.running == 6 - scheduler.cache.slots

    def teardown(self) -> None:
        for _ in range(1000):
            if not (self.driven.scheduler.waiting or self.driven.scheduler.running):
                break
            self.driven.scheduler.step()
        assert self.driven.scheduler.cache_usage == 0
        for sequence in self.open:
            assert sequence.cancelled or self.driven.finish(sequence) in ("stop", "length")
        Accounting.preempted += self.driven.scheduler.preemptions


def accounted(examples: int) -> None:
    Accounting.submitted = Accounting.preempted = 0
    run_state_machine_as_test(Accounting, settings=settings(max_examples=examples, stateful_step_count=50))


@pytest.mark.thorough
def test_no_block_leaks() -> None:
    accounted(20)


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_block_leaks_over_ten_thousand_requests() -> None:
    accounted(400)
    assert Accounting.submitted > 10_000
    assert Accounting.preempted > 100
