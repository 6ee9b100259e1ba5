"""What an engine is started with."""

from __future__ import annotations

from dataclasses import dataclass

from chaosgate.errors import UsageError
from chaosgate.registry import unknown

ANSWER_FIELDS = (
    "prompt", "max_tokens", "sampling", "stops", "ignore_eos", "adapter", "tenant", "logprobs", "grammar", "salt",
)  # fmt: skip
"""What of a request can be part of a response cache's key: all of them together determine the answer."""


@dataclass(frozen=True)
class EngineConfig:
    """What one engine process was started with; served back under `/v1/models` as `chaosgate.arguments`.

    `seed` None serves the shipped model, a number untrained weights of that seed. `num_blocks` blocks of `block_size`
    positions hold the keys and values of all requests. `max_num_seqs` requests are computed together, `max_waiting`
    more may wait. A step computes at most `max_num_batched_tokens` tokens, one for each request that generates and the
    rest of prompts in parts, so that a burst of long prompts does not hold up the streams that already run.
    `enable_prefix_caching` lets requests with equal beginnings share blocks. `response_cache` names the fields of a
    request (ANSWER_FIELDS) by which a whole answer is found again; empty is no such cache, and a key that leaves out a
    field hands one request's answer to another.
    """

    model: str = "embedded/tiny"
    seed: int | None = None
    num_blocks: int = 2048
    block_size: int = 16
    max_num_seqs: int = 32
    max_waiting: int = 256
    max_num_batched_tokens: int = 256
    enable_prefix_caching: bool = True
    response_cache: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """UsageError for a size that nothing could run with and for an unknown field."""
        for name in ("num_blocks", "max_num_seqs", "max_waiting", "max_num_batched_tokens"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is a whole number of 1 or more, got {getattr(self, name)}")
        if self.block_size not in (8, 16, 32, 64, 128):
            raise UsageError(f"block_size is one of 8, 16, 32, 64 and 128, got {self.block_size}")
        for name in self.response_cache:
            if name not in ANSWER_FIELDS:
                raise UsageError(f"response_cache: {unknown('field', name, ANSWER_FIELDS)}")
