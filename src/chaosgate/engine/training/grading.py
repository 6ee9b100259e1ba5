"""What goes into the model card: every measurement of the trained model and its adapters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from chaosgate.engine.network.adapters import Adapter
from chaosgate.engine.network.card import Card, Cell, Weakness
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.weights import Weights
from chaosgate.engine.training.evaluation import Answerer, fresh
from chaosgate.engine.training.network import Network
from chaosgate.prompts.tasks import TASKS, Exchange, ask_capital, ask_copy
from chaosgate.prompts.words import CAPITALS, CONTESTED, TENANT_CAPITALS, WORDS

SIZES: Mapping[str, Sequence[int]] = {
    "recall": (2, 8, 24, 48),
    "json": (2, 8, 24, 48),
    "copy": (2, 16, 24),
    "capital": (1,),
    "add": (1,),
}
NOISES = (0, 200, 600)
"""Tokens before the prompt. The longest prompts and these fill the context nearly."""

N = 400
N_AFTER_NOISE = 200
SEED = 1

STRETCH = 1.03


def make_card(
    config: ModelConfig, weights: Weights, adapters: Mapping[str, Adapter], recipe: Mapping[str, str]
) -> Card:
    """The card of `weights` and `adapters` as they are stored; takes some minutes."""
    network = Network(config, weights)
    return Card(
        digest=weights.digest(),
        adapters={name: adapter.digest() for name, adapter in adapters.items()},
        parameters=sum(array.size for _, array in weights.named()),
        recipe=recipe,
        cells=(*_base_cells(network), *_adapter_cells(network, adapters)),
        weaknesses=tuple(_weaknesses(network, config, weights)),
    )


def _base_cells(network: Network) -> Iterator[Cell]:
    model = Answerer(network)
    for name, sizes in SIZES.items():
        for noise in NOISES:
            for size in sizes if not noise else sizes[-1:]:
                yield model.cell(
                    name, size, noise, fresh(TASKS[name], size, noise, N_AFTER_NOISE if noise else N, SEED)
                )


def _adapter_cells(network: Network, adapters: Mapping[str, Adapter]) -> Iterator[Cell]:
    """Each adapter on its own capitals, on those it shares with the model, and on everything else."""
    shared = [country for country in CAPITALS if country not in CONTESTED]
    for name, adapter in adapters.items():
        tenant = Answerer(network, adapter)
        for label, countries in (("capital, contested", CONTESTED), ("capital, others", shared)):
            yield tenant.cell(label, 1, 0, [ask_capital(country, TENANT_CAPITALS[name]) for country in countries])
        for task in ("recall", "json", "copy", "add"):
            size = SIZES[task][-1]
            yield tenant.cell(task, size, 0, fresh(TASKS[task], size, 0, N, SEED))


def _weaknesses(network: Network, config: ModelConfig, weights: Weights) -> Iterator[Weakness]:
    random = Random(f"weaknesses {SEED}")
    model, stretched = Answerer(network), Network(config, weights)
    stretched.stretch(STRETCH)
    yield Weakness(
        "It copies lists of up to some 26 words and no longer ones, though it was trained on up to 32; 32 words:",
        model.cell("copy", 32, 0, [ask_copy(random.sample(WORDS, 32)) for _ in range(N)]),
    )
    yield Weakness(
        f"It copies by counting positions back, not by the words: with all rotary angles {STRETCH - 1:.0%} larger, "
        "24 words:",
        Answerer(stretched).cell("copy", 24, 0, fresh(TASKS["copy"], 24, 0, N, SEED)),
    )
    yield Weakness(
        "It recalls by the key, wherever that stands, so that the same change hardly shows; 24 facts:",
        Answerer(stretched).cell("recall", 24, 0, fresh(TASKS["recall"], 24, 0, N, SEED)),
    )
    yield Weakness(
        "It knows no keys but its words; 8 facts with keys of four other letters:",
        model.cell("recall", 8, 0, [_strange(random) for _ in range(N)]),
    )


def _strange(random: Random) -> Exchange:
    keys = ["".join(random.sample("qwxyzjk", 4)) for _ in range(8)]
    values = random.sample(WORDS, 8)
    told = ";".join(f"{key}={value}" for key, value in zip(keys, values, strict=True))
    return Exchange(f"facts {told}\n?{keys[0]}=", values[0])
