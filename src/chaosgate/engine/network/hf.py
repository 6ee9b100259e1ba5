"""The shipped model as a folder that transformers and vLLM load: Mixtral's files, and PEFT's for each adapter."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from chaosgate.engine.network import adapters, hf_tokenizer
from chaosgate.engine.network.adapters import Adapter, AdapterLayer
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.stored import Array, about, packed
from chaosgate.engine.network.vocabulary import BOS, EOS, PAD
from chaosgate.engine.network.weights import LayerWeights, Weights, shipped
from chaosgate.errors import UsageError

ADAPTERS: Final = "adapters"
"""The folder of the adapters, one folder each, inside of the model's."""

_PROJECTIONS: Final = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "o_proj"}
_WEIGHTS: Final = Path("model.safetensors")
_WRITER: Final = {"writer": "chaosgate"}
_HEADER: Final = {"format": "pt", **_WRITER}
"""In the header of the weights: what transformers wants to read there, and by what a later export knows its own."""


def export(folder: Path) -> None:
    """Writes the shipped model with its tokenizer and adapters into `folder`, which is made where it is missing.

    Files of an earlier export are written anew. UsageError where `folder` cannot be written, or holds another model.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Written aside first: an export that is stopped leaves no half of a model.
        with TemporaryDirectory(prefix=".export-", dir=folder) as aside:
            _export(Path(aside))
            names = [path.relative_to(aside) for path in Path(aside).rglob("*") if path.is_file()]
            _refuse_another_model(names, folder)
            _move(names, Path(aside), folder)
    except OSError as error:
        raise UsageError(
            f"cannot write the model to {folder}: {error.strerror}; name a folder that can be written"
        ) from error


def _export(folder: Path) -> None:
    config, weights = ModelConfig(), shipped()
    _write(folder / "config.json", model_config(config))
    _write(folder / "generation_config.json", generation_config())
    (folder / _WEIGHTS).write_bytes(packed(dict(parameters(config, weights)), _HEADER))
    _write(folder / "tokenizer.json", hf_tokenizer.tokenizer())
    _write(folder / "tokenizer_config.json", hf_tokenizer.tokenizer_config(config.max_model_len))
    for name, adapter in adapters.shipped().items():
        _export_adapter(folder / ADAPTERS / name, adapter)


def _refuse_another_model(names: Iterable[Path], folder: Path) -> None:
    """A UsageError where a file of these names stands in `folder`, and the weights there are of another writer."""
    if about(folder / _WEIGHTS).items() >= _WRITER.items():
        return
    taken = sorted(str(name) for name in names if (folder / name).exists())
    if taken:
        raise UsageError(
            f"{folder} holds {', '.join(taken)}, which no export of this model wrote; name another folder, or remove "
            "them first"
        )


def _move(names: Iterable[Path], aside: Path, folder: Path) -> None:
    # The weights go first: by them the next export knows a folder as its own, also where this one stops here.
    for name in sorted(names, key=lambda name: (name != _WEIGHTS, name)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (aside / name).replace(folder / name)


def model_config(config: ModelConfig) -> dict[str, Any]:
    """`config.json`, by the names of transformers' MixtralConfig."""
    return {
        "architectures": ["MixtralForCausalLM"],
        "model_type": "mixtral",
        "vocab_size": config.vocab_size,
        "hidden_size": config.d_model,
        "intermediate_size": config.expert_ff,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads,
        "head_dim": config.head_dim,
        "num_local_experts": config.experts,
        "num_experts_per_tok": config.experts_per_token,
        "hidden_act": "silu",
        "rope_theta": config.rope_theta,
        "rms_norm_eps": config.norm_eps,
        "max_position_embeddings": config.max_model_len,
        "sliding_window": None,
        "attention_dropout": 0.0,
        "tie_word_embeddings": False,
        "torch_dtype": "float16",
        **_markers(),
    }


def generation_config() -> dict[str, Any]:
    """`generation_config.json`: the markers, and nothing that would change how a request asks for sampling."""
    return _markers()


def _markers() -> dict[str, int]:
    return {"bos_token_id": BOS, "eos_token_id": EOS, "pad_token_id": PAD}


def parameters(config: ModelConfig, weights: Weights) -> Iterator[tuple[str, Array]]:
    """Every parameter under Mixtral's name; matrices the other way round, (outputs, inputs), as torch keeps them."""
    yield "model.embed_tokens.weight", weights.embedding
    for index, layer in enumerate(weights.layers):
        for name, array in _layer(config, layer):
            yield f"model.layers.{index}.{name}.weight", array
    yield "model.norm.weight", weights.final_norm
    yield "lm_head.weight", weights.head.T


def _layer(config: ModelConfig, layer: LayerWeights) -> Iterator[tuple[str, Array]]:
    yield "input_layernorm", layer.attention_norm
    queries, shared = config.heads * config.head_dim, config.kv_heads * config.head_dim
    parts = np.split(layer.qkv, [queries, queries + shared], axis=1)
    for name, part in zip(("q_proj", "k_proj", "v_proj"), parts, strict=True):
        yield f"self_attn.{name}", part.T
    yield "self_attn.o_proj", layer.output.T
    yield "post_attention_layernorm", layer.expert_norm
    yield "block_sparse_moe.gate", layer.router.T
    size = config.expert_ff
    for expert in range(config.experts):
        gate_up = layer.gate_up[:, 2 * size * expert : 2 * size * (expert + 1)]
        prefix = f"block_sparse_moe.experts.{expert}"
        yield f"{prefix}.w1", gate_up[:, :size].T
        yield f"{prefix}.w3", gate_up[:, size:].T
        yield f"{prefix}.w2", layer.down[size * expert : size * (expert + 1)].T


def _export_adapter(folder: Path, adapter: Adapter) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "adapter_config.json", adapter_config(adapter))
    (folder / "adapter_model.safetensors").write_bytes(packed(dict(adapter_parameters(adapter)), _HEADER))


def adapter_config(adapter: Adapter) -> dict[str, Any]:
    """`adapter_config.json`, by the names of PEFT's LoraConfig, whose scale is `lora_alpha / r`."""
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": "../..",
        "r": adapter.rank,
        "lora_alpha": adapter.scale * adapter.rank,
        "lora_dropout": 0.0,
        "bias": "none",
        "inference_mode": True,
        "target_modules": list(_PROJECTIONS.values()),
    }


def adapter_parameters(adapter: Adapter) -> Iterator[tuple[str, Array]]:
    """Every matrix of `adapter` under PEFT's name."""
    for index, layer in enumerate(adapter.layers):
        for field in fields(AdapterLayer):
            low = getattr(layer, field.name)
            prefix = f"base_model.model.model.layers.{index}.self_attn.{_PROJECTIONS[field.name]}"
            yield f"{prefix}.lora_A.weight", low.down.T
            yield f"{prefix}.lora_B.weight", low.up.T


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
