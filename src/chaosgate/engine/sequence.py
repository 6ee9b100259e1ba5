"""One request on its way through the engine."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Literal

from chaosgate.engine.sampler import Sampling, sample
from chaosgate.engine.stops import StopScanner
from chaosgate.engine.tokenizer import Detokenizer
from chaosgate.engine.vocabulary import EOS
from chaosgate.engine.weights import Array

FinishReason = Literal["stop", "length", "error"]


@dataclass(frozen=True)
class Generation:
    """What to generate: after `prompt` (token ids) up to `max_tokens` tokens, fewer on `<eos>` or a stop string."""

    prompt: tuple[int, ...]
    max_tokens: int
    sampling: Sampling = field(default_factory=Sampling)
    stops: tuple[str, ...] = ()
    ignore_eos: bool = False


@dataclass(frozen=True)
class Delta:
    """One generated token: the text it adds (maybe none), and at the last one why it is the last.

    `at` is `time.monotonic()` of its making. With `finish` "error" there is no token: the engine died.
    """

    text: str
    finish: FinishReason | None
    at: float


class Sequence:
    """A `Generation` with its progress. The scheduler's thread owns it; others only set `cancelled`."""

    def __init__(self, generation: Generation) -> None:
        self.generation = generation
        self.slot = -1
        self.last_token = -1
        self.generated = 0
        self.finished = False
        self.cancelled = False
        self._random = generation.sampling.generator()
        self._detokenizer = Detokenizer()
        self._scanner = StopScanner(generation.stops)

    def advance(self, logits: Array) -> Delta:
        """Draws the next token from `logits` (vocabulary,)."""
        self.last_token = sample(logits, self.generation.sampling, self._random)
        self.generated += 1
        text, stopped = self._scanner.push(self._detokenizer.push(self.last_token))
        finish = self._finish(stopped)
        if finish and not stopped:
            rest, stopped = self._scanner.push(self._detokenizer.flush())
            text += rest + self._scanner.flush()
        self.finished = finish is not None
        return Delta(text, finish, time.monotonic())

    def _finish(self, stopped: bool) -> FinishReason | None:
        if stopped or (self.last_token == EOS and not self.generation.ignore_eos):
            return "stop"
        return "length" if self.generated >= self.generation.max_tokens else None
