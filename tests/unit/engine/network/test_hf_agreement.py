"""transformers, given the exported folder, answers as the engine does."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from chaosgate.engine.network import hf, tokenizer
from chaosgate.engine.network.attention import TILE, KVPool
from chaosgate.engine.network.batch import whole
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.transformer import Transformer
from chaosgate.engine.network.vocabulary import BOS, EOS
from chaosgate.engine.network.weights import shipped
from chaosgate.prompts.tasks import TASKS

torch = pytest.importorskip("torch", reason="needs the extra torch")
transformers = pytest.importorskip("transformers", reason="needs the extra torch")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SIZES = {"recall": 24, "json": 24, "copy": 16, "capital": 1, "add": 1}
LONGEST = 48


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hf")
    hf.export(folder)
    return folder


@pytest.fixture(scope="module")
def theirs(folder: Path) -> Any:
    return transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()


def greedy(model: Transformer, prompt: list[int]) -> list[int]:
    """What the engine's network puts out, by a full pass for each token."""
    tokens = [*prompt]
    while len(tokens) < len(prompt) + LONGEST and (len(tokens) == len(prompt) or tokens[-1] != EOS):
        pool = KVPool(model.config, -(-len(tokens) // TILE), TILE)
        hidden = model.hidden(pool, whole(pool, tokens))
        tokens.append(int(model.logits(hidden[-1:])[0].argmax()))
    return tokens[len(prompt) :]


def test_every_weight_is_taken_and_none_is_made_up(folder: Path) -> None:
    _, loading = transformers.AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True)
    assert not loading["missing_keys"]
    assert not loading["unexpected_keys"]
    assert not loading["mismatched_keys"]


def test_greedy_answers_agree_on_99_prompts_in_100(config: ModelConfig, theirs: Any) -> None:
    ours = Transformer(config, shipped())
    same = []
    for name, size in SIZES.items():
        random = Random(f"agreement {name}")
        for _ in range(40):
            prompt = [BOS, *tokenizer.encode(TASKS[name].draw(random, size).prompt)]
            made = theirs.generate(torch.tensor([prompt]), max_new_tokens=LONGEST, do_sample=False)
            same.append(made[0, len(prompt) :].tolist() == greedy(ours, prompt))
    assert sum(same) >= 0.99 * len(same)


def test_logits_agree_to_rounding(config: ModelConfig, theirs: Any) -> None:
    tokens = [BOS, *tokenizer.encode("facts red=lamp;door=blue\n?red=")]
    pool = KVPool(config, -(-len(tokens) // TILE), TILE)
    model = Transformer(config, shipped())
    ours = model.logits(model.hidden(pool, whole(pool, tokens)))
    with torch.no_grad():
        others = theirs(torch.tensor([tokens])).logits[0].numpy()
    assert abs(ours - others).max() < 1e-3


def test_the_tokenizer_loads_with_its_chat_template(folder: Path) -> None:
    loaded = transformers.AutoTokenizer.from_pretrained(folder)
    prompt = TASKS["json"].draw(Random(1), 8).prompt
    assert loaded(prompt).input_ids == [BOS, *tokenizer.encode(prompt)]
    messages = [
        {"role": "user", "content": "add 1+2>"},
        {"role": "assistant", "content": "3"},
        {"role": "user", "content": "add 2+2>"},
    ]
    ids = loaded.apply_chat_template(messages, return_dict=True)["input_ids"]
    assert ids == [BOS, *tokenizer.encode("add 1+2>3"), EOS, *tokenizer.encode("add 2+2>")]
    assert (loaded.bos_token_id, loaded.eos_token_id, loaded.pad_token_id) == (BOS, EOS, 256)
