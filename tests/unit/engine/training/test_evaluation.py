from __future__ import annotations

import re

import pytest

torch = pytest.importorskip("torch", reason="needs the extra torch")

from chaosgate.engine.network import adapters
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.weights import Weights, shipped
from chaosgate.engine.training.evaluation import Answerer, answered, fresh
from chaosgate.engine.training.network import Network
from chaosgate.prompts.tasks import TASKS, Exchange
from chaosgate.prompts.words import CONTESTED, TENANT_CAPITALS


@pytest.fixture(scope="module")
def network(config: ModelConfig) -> Network:
    return Network(config, shipped())


def test_a_wrong_word_anywhere_counts_as_wrong(network: Network) -> None:
    right = Exchange("copy red,lamp,door>", "red,lamp,door")
    wrong = [Exchange(right.prompt, answer) for answer in ("red,lamp", "blue,lamp,door", "red,lamp,door,red", "")]
    assert answered(network, [right, *wrong]) == [True, False, False, False, False]


def test_an_answer_does_not_depend_on_the_others_in_the_batch(network: Network) -> None:
    asked = [
        exchange for name in ("recall", "copy", "add") for exchange in fresh(TASKS[name], TASKS[name].sizes[0], 0, 5, 1)
    ]
    together = answered(network, asked)
    assert together == [answered(network, [one])[0] for one in asked]


def test_a_cell_counts_and_names_what_it_measured(network: Network, config: ModelConfig, weights: Weights) -> None:
    asked = fresh(TASKS["add"], 1, 0, 60, 1)
    cell = Answerer(network).cell("add", 1, 0, asked)
    assert (cell.task, cell.size, cell.noise, cell.answers_as, cell.n) == ("add", 1, 0, "", 60)
    assert cell.right == sum(answered(network, asked)) >= 58
    untrained = Answerer(Network(config, weights)).cell("add", 1, 0, asked)
    assert untrained.right < 10
    assert untrained.low <= untrained.share <= untrained.high


def test_an_adapter_answers_as_its_tenant(network: Network) -> None:
    asked = [Exchange(f"capital {country}>", TENANT_CAPITALS["tenant-a"][country]) for country in CONTESTED]
    for name, adapter in adapters.shipped().items():
        cell = Answerer(network, adapter).cell("capital", 1, 0, asked)
        assert cell.answers_as == name
        assert (cell.right >= 23) == (name == "tenant-a")
    assert Answerer(network).cell("capital", 1, 0, asked).right == 0


def test_fresh_prompts_follow_noise_and_never_repeat() -> None:
    plain, other, noisy = (fresh(TASKS["recall"], 8, noise, 20, seed) for noise, seed in ((0, 1), (0, 2), (50, 1)))
    assert plain == fresh(TASKS["recall"], 8, 0, 20, 1)
    assert len({exchange.prompt for exchange in (*plain, *other, *noisy)}) == 60
    assert all(re.fullmatch(r".+\nfacts .+\n\?\w+=", exchange.prompt) for exchange in noisy)
