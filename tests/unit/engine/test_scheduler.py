from __future__ import annotations

import numpy as np
import pytest

from chaosgate.engine.config import EngineConfig
from chaosgate.engine.sampler import Sampling
from chaosgate.engine.scheduler import Deliveries, EngineDeadError, QueueFullError, Scheduler
from chaosgate.engine.sequence import Generation, Sequence
from chaosgate.engine.transformer import Transformer


class Driven:
    """A scheduler stepped by hand, with the texts it delivered."""

    def __init__(self, model: Transformer, **sizes: int) -> None:
        self.scheduler = Scheduler(model, EngineConfig(**sizes), self._deliver)
        self.texts: dict[Sequence, str] = {}
        self.finishes: dict[Sequence, str] = {}

    def _deliver(self, deliveries: Deliveries) -> None:
        for sequence, delta in deliveries:
            self.texts[sequence] = self.texts.get(sequence, "") + delta.text
            if delta.finish:
                self.finishes[sequence] = delta.finish

    def submit(self, seed: int, tokens: int, temperature: float = 0.0) -> Sequence:
        prompt = np.random.default_rng(seed).integers(0, 512, 5 + seed * 13 % 90)
        return self.scheduler.submit(Generation(tuple(map(int, prompt)), tokens, Sampling(temperature, seed=seed)))

    def drain(self) -> None:
        while self.scheduler.waiting or self.scheduler.running:
            self.scheduler.step()


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_text_does_not_depend_on_the_company(model: Transformer, temperature: float) -> None:
    alone = []
    single = Driven(model, max_num_seqs=1)
    for seed in range(24):
        sequence = single.submit(seed, 4 + seed % 9, temperature)
        single.drain()
        alone.append(single.texts[sequence])
    crowd = Driven(model, max_num_seqs=16)
    sequences = []
    for seed in range(24):
        sequences.append(crowd.submit(seed, 4 + seed % 9, temperature))
        if seed % 3 == 0:
            crowd.scheduler.step()
    crowd.drain()
    assert [crowd.texts[sequence] for sequence in sequences] == alone


def test_requests_join_and_leave_between_steps(model: Transformer) -> None:
    driven = Driven(model, max_num_seqs=2)
    short, long, late = driven.submit(1, 2), driven.submit(2, 6), driven.submit(3, 3)
    driven.scheduler.step()
    assert driven.finishes == {short: "length"}
    assert (driven.scheduler.running, driven.scheduler.waiting) == (1, 1)
    driven.scheduler.step()
    assert (driven.scheduler.running, driven.scheduler.waiting) == (2, 0)
    assert driven.scheduler.cache_usage > 0
    driven.drain()
    assert set(driven.finishes) == {short, long, late}
    assert driven.scheduler.cache_usage == 0


def test_a_full_queue_refuses_with_both_numbers(model: Transformer) -> None:
    driven = Driven(model, max_num_seqs=1, max_waiting=2)
    driven.submit(1, 5)
    driven.submit(2, 5)
    with pytest.raises(QueueFullError, match="the waiting queue is full: 2 requests wait, 2 are allowed"):
        driven.submit(3, 5)


def test_a_cancelled_request_frees_its_place(model: Transformer) -> None:
    driven = Driven(model, max_num_seqs=1)
    running, waiting, last = driven.submit(1, 500), driven.submit(2, 5), driven.submit(3, 1)
    driven.scheduler.step()
    driven.scheduler.cancel(running)
    driven.scheduler.cancel(waiting)
    driven.drain()
    assert driven.finishes == {last: "length"}
    assert waiting not in driven.texts


def test_a_step_prefills_at_least_one_prompt_and_no_more_than_the_budget(model: Transformer) -> None:
    driven = Driven(model, max_num_seqs=8, prefill_budget=1)
    for seed in range(3):
        driven.submit(seed, 50)
    driven.scheduler.step()
    assert (driven.scheduler.running, driven.scheduler.waiting) == (1, 2)


def test_the_context_can_be_filled_to_its_last_position(model: Transformer) -> None:
    driven = Driven(model, max_num_seqs=1)
    sequence = driven.scheduler.submit(Generation((65,) * 1000, 24, Sampling(0.0)))
    driven.drain()
    assert driven.finishes == {sequence: "length"}


def test_after_a_failure_everybody_is_told(model: Transformer) -> None:
    driven = Driven(model, max_num_seqs=1)
    running, waiting = driven.submit(1, 50), driven.submit(2, 50)
    driven.scheduler.step()
    driven.scheduler.fail_all()
    assert driven.finishes == {running: "error", waiting: "error"}
    assert driven.scheduler.wait() is False
    with pytest.raises(EngineDeadError, match="restart the engine"):
        driven.submit(3, 1)
