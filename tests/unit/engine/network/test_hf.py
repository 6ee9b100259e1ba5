from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from safetensors.numpy import load_file, save_file

from chaosgate.engine.network import adapters, hf
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.weights import Weights, shipped
from chaosgate.errors import UsageError

from . import reference


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hf") / "new" / "model"
    hf.export(folder)
    return folder


def test_the_folder_holds_what_transformers_and_peft_look_for(exported: Path) -> None:
    assert sorted(str(path.relative_to(exported)) for path in exported.rglob("*") if path.is_file()) == [
        "adapters/tenant-a/adapter_config.json",
        "adapters/tenant-a/adapter_model.safetensors",
        "adapters/tenant-b/adapter_config.json",
        "adapters/tenant-b/adapter_model.safetensors",
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    ]


def test_the_config_has_the_shapes_of_the_weights(exported: Path) -> None:
    config = json.loads((exported / "config.json").read_text())
    arrays = load_file(exported / "model.safetensors")
    width, heads, size = config["hidden_size"], config["num_attention_heads"], config["head_dim"]
    assert arrays["model.embed_tokens.weight"].shape == (config["vocab_size"], width)
    assert arrays["lm_head.weight"].shape == (config["vocab_size"], width)
    prefix = f"model.layers.{config['num_hidden_layers'] - 1}"
    assert arrays[f"{prefix}.self_attn.q_proj.weight"].shape == (heads * size, width)
    assert arrays[f"{prefix}.self_attn.v_proj.weight"].shape == (config["num_key_value_heads"] * size, width)
    assert arrays[f"{prefix}.block_sparse_moe.gate.weight"].shape == (config["num_local_experts"], width)
    last = f"{prefix}.block_sparse_moe.experts.{config['num_local_experts'] - 1}"
    assert (
        arrays[f"{last}.w1.weight"].shape == arrays[f"{last}.w3.weight"].shape == (config["intermediate_size"], width)
    )
    assert arrays[f"{last}.w2.weight"].shape == (width, config["intermediate_size"])
    assert not config["tie_word_embeddings"]


def test_every_parameter_is_there_once(exported: Path) -> None:
    arrays = load_file(exported / "model.safetensors")
    assert sum(array.size for array in arrays.values()) == sum(array.size for _, array in shipped().named())
    assert len(arrays) == 3 + 3 * (2 + 4 + 1 + 3 * 8)
    assert {array.dtype for array in arrays.values()} == {np.dtype(np.float16)}


def test_an_expert_by_mixtrals_names_computes_what_ours_does(config: ModelConfig, weights: Weights) -> None:
    named = dict(hf.parameters(config, weights))
    row = np.random.default_rng(1).standard_normal(128)
    prefix = "model.layers.1.block_sparse_moe"
    scores = named[f"{prefix}.gate.weight"] @ row
    total = np.zeros(128)
    shares = np.exp(np.sort(scores)[-2:]) / np.exp(np.sort(scores)[-2:]).sum()
    for expert, share in zip(np.argsort(scores)[-2:], shares, strict=True):
        gate, up, down = (named[f"{prefix}.experts.{expert}.{name}.weight"] for name in ("w1", "w3", "w2"))
        opened = gate @ row
        total += share * (down @ (opened / (1 + np.exp(-opened)) * (up @ row)))
    assert np.abs(total - reference.experts(config, weights.layers[1], row)).max() < 1e-4


def test_heads_are_cut_where_ours_are(config: ModelConfig, weights: Weights) -> None:
    named = dict(hf.parameters(config, weights))
    parts = [named[f"model.layers.2.self_attn.{name}.weight"] for name in ("q_proj", "k_proj", "v_proj")]
    assert [len(part) for part in parts] == [128, 64, 64]
    assert_array_equal(np.concatenate(parts).T, weights.layers[2].qkv)
    assert_array_equal(named["model.layers.2.self_attn.o_proj.weight"].T, weights.layers[2].output)


def test_an_adapter_by_pefts_names_changes_what_ours_does(exported: Path) -> None:
    adapter = adapters.shipped()["tenant-b"]
    folder = exported / "adapters" / "tenant-b"
    config = json.loads((folder / "adapter_config.json").read_text())
    arrays = load_file(folder / "adapter_model.safetensors")
    assert len(arrays) == 3 * 4 * 2
    prefix = "base_model.model.model.layers.1.self_attn.k_proj"
    change = (
        config["lora_alpha"] / config["r"] * (arrays[f"{prefix}.lora_B.weight"] @ arrays[f"{prefix}.lora_A.weight"])
    )
    down, up = adapter.layers[1].key
    assert np.abs(change.T - adapter.scale * (down @ up)).max() < 0.01
    assert np.abs(change).max() > 0.01


def test_a_second_export_writes_the_same_bytes(exported: Path, tmp_path: Path) -> None:
    for _ in range(2):
        hf.export(tmp_path)
    for path in exported.rglob("*.*"):
        assert path.read_bytes() == (tmp_path / path.relative_to(exported)).read_bytes()


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "adapters/tenant-a/adapter_config.json"])
def test_another_model_s_folder_is_left_as_it_is(tmp_path: Path, name: str) -> None:
    taken = tmp_path / name
    taken.parent.mkdir(parents=True, exist_ok=True)
    taken.write_bytes(b"of another model")
    with pytest.raises(UsageError) as refused:
        hf.export(tmp_path)
    assert str(refused.value) == (
        f"{tmp_path} holds {name}, which no export of this model wrote; name another folder, or remove them first"
    )
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [taken]
    assert taken.read_bytes() == b"of another model"


def test_what_was_trained_on_from_an_export_is_another_model(tmp_path: Path) -> None:
    hf.export(tmp_path)
    save_file({"weight": np.zeros(3, np.float32)}, tmp_path / "model.safetensors", {"format": "pt"})
    before = (tmp_path / "model.safetensors").read_bytes()
    with pytest.raises(UsageError, match=r"holds adapters/.*, model\.safetensors, .*, which no export"):
        hf.export(tmp_path)
    assert (tmp_path / "model.safetensors").read_bytes() == before


def test_files_of_other_names_stay(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    hf.export(tmp_path)
    assert (tmp_path / "README.md").read_text() == "mine"


@pytest.mark.parametrize("earlier", [False, True])
def test_an_export_that_is_stopped_leaves_what_there_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, earlier: bool
) -> None:
    if earlier:
        hf.export(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(hf, "generation_config", lambda: {"half": "done"})
    monkeypatch.setattr(hf, "adapter_config", stopped)
    with pytest.raises(KeyboardInterrupt):
        hf.export(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_anyone_may_read_what_was_exported(exported: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    assert {path.stat().st_mode for path in exported.rglob("*") if path.is_file()} == {other.stat().st_mode}


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "taken"
    path.write_text("")
    with pytest.raises(UsageError, match=re.escape(f"cannot write the model to {path}: File exists; name a folder")):
        hf.export(path)
