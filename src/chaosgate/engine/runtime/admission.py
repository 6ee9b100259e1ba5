"""Whether a request can be answered at all."""

from __future__ import annotations

from collections.abc import Mapping

from chaosgate.engine.network.adapters import Adapter
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.runtime.config import EngineConfig
from chaosgate.engine.runtime.grammar import LEAST_TOKENS
from chaosgate.engine.runtime.sequence import Generation, Sequence
from chaosgate.errors import UsageError
from chaosgate.registry import unknown


class RefusedError(UsageError):
    """A request that this engine can never answer, however long it waits."""


def admitted(
    generation: Generation, model: ModelConfig, config: EngineConfig, adapters: Mapping[str, Adapter]
) -> Sequence:
    """The request with its hooks in place; RefusedError, or UnknownSiteError, says why it cannot be answered."""
    _check_tokens(generation, model)
    _check_blocks(generation, config)
    if generation.adapter is not None and generation.adapter not in adapters:
        raise RefusedError(unknown("adapter", generation.adapter, adapters))
    if generation.grammar == "json" and generation.max_tokens < LEAST_TOKENS:
        raise RefusedError(
            f"grammar json needs max_tokens of {LEAST_TOKENS} or more to close the object, got {generation.max_tokens}"
        )
    hooks = generation.hooks
    return Sequence(generation, {} if hooks is None else hooks.installed(model.layers, model.experts))


def _check_tokens(generation: Generation, model: ModelConfig) -> None:
    prompt, most = generation.prompt, generation.max_tokens
    if not prompt or most < 1:
        raise RefusedError(f"a request needs a prompt token and max_tokens of 1 or more, got {len(prompt)} and {most}")
    if len(prompt) + most > model.max_model_len:
        raise RefusedError(
            f"the prompt of {len(prompt)} tokens and max_tokens {most} make {len(prompt) + most}; the model's context"
            f" has {model.max_model_len}; shorten one of them"
        )
    if min(prompt) < 0 or max(prompt) >= model.vocab_size:
        wrong = next(token for token in prompt if not 0 <= token < model.vocab_size)
        raise RefusedError(f"the prompt has token id {wrong}; ids are 0 to {model.vocab_size - 1}")


def _check_blocks(generation: Generation, config: EngineConfig) -> None:
    # The last token is handed out and never read, so it takes no place.
    tokens = len(generation.prompt) + generation.max_tokens - 1
    needed = -(-tokens // config.block_size)
    if needed > config.num_blocks:
        raise RefusedError(
            f"the prompt of {len(generation.prompt)} tokens and max_tokens {generation.max_tokens} need {needed} cache"
            f" blocks of {config.block_size} tokens; the engine has {config.num_blocks} in all; ask for fewer tokens or"
            " start the engine with more blocks"
        )
