"""How many fresh prompts the trained model answers exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import torch

from chaosgate.engine.network import tokenizer
from chaosgate.engine.network.adapters import Adapter
from chaosgate.engine.network.card import Cell
from chaosgate.engine.network.vocabulary import BOS, EOS, PAD
from chaosgate.engine.training.documents import noise
from chaosgate.engine.training.network import Low, Network, lows
from chaosgate.prompts.tasks import Exchange, Task
from chaosgate.statistics.binomial import clopper_pearson

ROWS = 50


@dataclass(frozen=True)
class Answerer:
    """The network with an adapter, or without where `adapter` is None."""

    network: Network
    adapter: Adapter | None = None

    def cell(self, task: str, size: int, noise_tokens: int, asked: Sequence[Exchange]) -> Cell:
        """How many of `asked` are answered exactly."""
        low = lows(self.adapter) if self.adapter else ()
        right = sum(sum(answered(self.network, asked[at : at + ROWS], low)) for at in range(0, len(asked), ROWS))
        lowest, highest = clopper_pearson(right, len(asked))
        name = self.adapter.name if self.adapter else ""
        return Cell(task, size, noise_tokens, name, len(asked), right, round(lowest, 4), round(highest, 4))


def fresh(task: Task, size: int, noise_tokens: int, n: int, seed: int) -> list[Exchange]:
    """`n` exchanges after noise. Their seed names what they are for: none repeats another's draws, or training's."""
    random = Random(f"evaluation {seed} {task.name} {size} {noise_tokens}")
    return [_after_noise(random, noise_tokens, task.draw(random, size)) for _ in range(n)]


def _after_noise(random: Random, count: int, asked: Exchange) -> Exchange:
    return Exchange((noise(random, count) if count else "") + asked.prompt, asked.answer)


@torch.no_grad()
def answered(network: Network, asked: Sequence[Exchange], low: tuple[Low, ...] = ()) -> list[bool]:
    """For each exchange whether greedy decoding gives exactly the answer and then `<eos>`.

    That is so just when, with the answer given, the largest logit before each of its tokens is that token's: one pass
    instead of one a token.
    """
    questions = [[BOS, *tokenizer.encode(one.prompt)] for one in asked]
    answers = [[*tokenizer.encode(one.answer), EOS] for one in asked]
    longest = max(len(question) + len(answer) for question, answer in zip(questions, answers, strict=True))
    tokens = torch.full((len(asked), longest), PAD)
    wanted = torch.zeros(len(asked), longest, dtype=torch.bool)
    for row, (question, answer) in enumerate(zip(questions, answers, strict=True)):
        end = len(question) + len(answer)
        # Padding stands behind: what comes later cannot reach an earlier position.
        tokens[row, :end] = torch.tensor(question + answer)
        wanted[row, len(question) : end] = True
    logits, _ = network(tokens[:, :-1], wanted[:, 1:], low)
    hits = torch.ones_like(wanted)
    hits[wanted] = logits.argmax(-1) == tokens[wanted]
    return [bool(hit) for hit in hits.all(1)]
