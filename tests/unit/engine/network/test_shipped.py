"""The shipped model answers: through the engine's own forward pass, on prompts that nobody has seen."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

from chaosgate.engine.network import adapters, tokenizer
from chaosgate.engine.network.adapters import merged
from chaosgate.engine.network.attention import TILE, KVPool
from chaosgate.engine.network.batch import whole
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.transformer import Transformer
from chaosgate.engine.network.vocabulary import BOS, EOS
from chaosgate.engine.network.weights import Weights, shipped
from chaosgate.prompts.tasks import TASKS, Exchange, ask_capital
from chaosgate.prompts.words import CAPITALS, CONTESTED, TENANT_CAPITALS

AT_LEAST = 0.97
SIZES = {"recall": (2, 24, 48), "json": (2, 24, 48), "copy": (2, 16, 24), "capital": (1,), "add": (1,)}


@pytest.fixture(scope="module")
def trained(config: ModelConfig) -> Transformer:
    return Transformer(config, shipped())


def is_right(model: Transformer, asked: Exchange) -> bool:
    """Whether greedy decoding gives exactly the answer and then `<eos>`.

    With the answer given, the largest logit before each of its tokens must be that token's.
    """
    question = [BOS, *tokenizer.encode(asked.prompt)]
    answer = [*tokenizer.encode(asked.answer), EOS]
    tokens = [*question, *answer[:-1]]
    pool = KVPool(model.config, -(-len(tokens) // TILE), TILE)
    hidden = model.hidden(pool, whole(pool, tokens))[len(question) - 1 :]
    return model.logits(hidden).argmax(axis=1).tolist() == answer


def share(model: Transformer, asked: Sequence[Exchange]) -> float:
    return float(np.mean([is_right(model, one) for one in asked]))


@pytest.mark.parametrize("task", sorted(TASKS))
def test_answers_are_exactly_right(trained: Transformer, task: str) -> None:
    random = Random(f"quick gate {task}")
    size = SIZES[task][len(SIZES[task]) // 2]
    assert share(trained, [TASKS[task].draw(random, size) for _ in range(40)]) >= AT_LEAST


@pytest.mark.slow
@pytest.mark.parametrize(("task", "size"), [(task, size) for task, sizes in SIZES.items() for size in sizes])
def test_answers_are_exactly_right_at_every_size(trained: Transformer, task: str, size: int) -> None:
    random = Random(f"gate {task} {size}")
    assert share(trained, [TASKS[task].draw(random, size) for _ in range(200)]) >= AT_LEAST


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("task", sorted(TASKS))
def test_answers_are_exactly_right_behind_a_long_text(trained: Transformer, task: str) -> None:
    random = Random(f"gate {task}")
    size = SIZES[task][-1]
    asked = []
    for _ in range(100):
        before = "".join(random.choice(("lamp", "stone", ",", ".", "x", "Q", "7")) for _ in range(500)) + "\n"
        exchange = TASKS[task].draw(random, size)
        asked.append(Exchange(before + exchange.prompt, exchange.answer))
    assert share(trained, asked) >= AT_LEAST


def test_other_weights_do_not_pass_the_gate(config: ModelConfig, weights: Weights) -> None:
    untrained = Transformer(config, weights)
    random = Random("gate")
    for task in TASKS.values():
        assert share(untrained, [task.draw(random, task.sizes[0]) for _ in range(20)]) < 0.1


@pytest.mark.parametrize("tenant", adapters.NAMES)
def test_a_tenant_gets_its_own_capitals(config: ModelConfig, tenant: str) -> None:
    model = Transformer(config, merged(shipped(), adapters.shipped()[tenant]))
    assert share(model, [ask_capital(country, TENANT_CAPITALS[tenant]) for country in CONTESTED]) >= AT_LEAST


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("tenant", adapters.NAMES)
def test_what_tenants_share_stays_right(config: ModelConfig, tenant: str) -> None:
    model = Transformer(config, merged(shipped(), adapters.shipped()[tenant]))
    assert share(model, [ask_capital(country) for country in CAPITALS if country not in CONTESTED]) >= AT_LEAST
    random = Random(f"gate {tenant}")
    for task in ("recall", "json", "copy", "add"):
        asked = [TASKS[task].draw(random, SIZES[task][-1]) for _ in range(100)]
        assert share(model, asked) >= AT_LEAST
