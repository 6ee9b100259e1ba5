"""Prompts of plain words, as long as they are asked to be. Nothing is known of their answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, cycle, islice

from chaosgate.draws import uniform
from chaosgate.model.lengths import LengthDistribution
from chaosgate.model.workload import Lengths
from chaosgate.prompts.prompt import Prompt
from chaosgate.prompts.words import WORDS

OWN_WORDS = 12
"""Words at a prompt's begin that are drawn for it alone, of 96 each: no two prompts share a prefix worth caching."""
_CACHED = 64


class MadePromptSet:
    """So many prompts with drawn lengths, each a function of (seed, its index) alone, cycled in order."""

    name = "made"

    def __init__(self, lengths: Lengths, count: int, seed: int) -> None:
        self._lengths, self._count, self._seed = lengths, count, seed
        self.at = lru_cache(maxsize=count)(self._make)

    def __len__(self) -> int:
        return self._count

    def index(self, number: int) -> int:
        """Which prompt request `number` asks."""
        return number % self._count

    def _make(self, index: int) -> Prompt:
        words = drawn(self._lengths.words, self._seed, "words", index)
        tokens = self._lengths.max_tokens
        most = None if tokens is None else drawn(tokens, self._seed, "max-tokens", index)
        return Prompt(made_text(words, self._seed, index), None, max_tokens=most)


class TracePromptSet:
    """A prompt for each request of a trace, as long as the trace tells; `outputs` are the most tokens of answers."""

    name = "trace"

    def __init__(self, inputs: Sequence[int], outputs: Sequence[int] | None, seed: int) -> None:
        self._inputs, self._outputs, self._seed = inputs, outputs, seed
        self.at = lru_cache(maxsize=_CACHED)(self._make)

    def __len__(self) -> int:
        return len(self._inputs)

    def index(self, number: int) -> int:
        """Which prompt the request of row `number` asks."""
        return number % len(self._inputs)

    def _make(self, index: int) -> Prompt:
        most = None if self._outputs is None else self._outputs[index]
        return Prompt(made_text(self._inputs[index], self._seed, index), None, max_tokens=most)


def drawn(lengths: LengthDistribution, seed: int, *words: str | int) -> int:
    """One length of the distribution, the same for the same seed and words."""
    return lengths.at(uniform(seed, "length", *words))


def made_text(words: int, seed: int, index: int) -> str:
    """`words` plain words, separated by spaces: a begin of their own, then all words in turn from a drawn one on."""
    own = [WORDS[int(uniform(seed, "prompt", index, at) * len(WORDS))] for at in range(min(words, OWN_WORDS))]
    start = int(uniform(seed, "prompt", index, "rest") * len(WORDS))
    rest = islice(cycle(chain(WORDS[start:], WORDS[:start])), words - len(own))
    return " ".join(chain(own, rest))
