"""/v1/embeddings: what the model makes of a text, as one vector."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chaosgate.engine.api import fields
from chaosgate.engine.api.errors import ApiError
from chaosgate.engine.api.fields import Body
from chaosgate.engine.api.prompts import Tokens, prompts, too_long
from chaosgate.engine.api.served import ServedModel
from chaosgate.engine.api.unsupported import EMBEDDINGS_ONLY
from chaosgate.engine.network.stored import Array
from chaosgate.engine.runtime.sampler import Sampling
from chaosgate.engine.runtime.sequence import Generation
from chaosgate.model.sites import Hooks, SiteContext

FORMATS = ("float", "base64")


@dataclass(frozen=True)
class EmbeddingRequest:
    """What is embedded, and how the vectors are written."""

    generations: tuple[Generation, ...]
    model: str
    encoding: str


def parse_embeddings(raw: bytes, served: ServedModel) -> EmbeddingRequest:
    """The body of POST /v1/embeddings; ApiError says what is wrong with it."""
    body = fields.read_body(raw)
    adapter = served.adapter(body)
    fields.refuse_other_than(body, EMBEDDINGS_ONLY)
    encoding = fields.one_of(body, "encoding_format", FORMATS)
    if body.get("dimensions") is not None:
        raise ApiError(
            "dimensions: this model's vectors have one length and cannot be cut shorter; leave the field out",
            param="dimensions",
            code="unsupported_value",
        )
    found = prompts(body, "input", served)
    # One token is generated, which nobody sees: the state that it would be drawn from is the vector.
    generations = tuple(_generation(prompt, adapter, served) for prompt in found)
    return EmbeddingRequest(generations, body["model"], encoding)


def _generation(prompt: Tokens, adapter: str | None, served: ServedModel) -> Generation:
    if len(prompt) >= served.max_model_len:
        counts = f"the prompt has {len(prompt)} and needs the place behind them, too; shorten it"
        raise too_long(counts, "input", served)
    return Generation(prompt, 1, Sampling(0.0), adapter=adapter)


class Reading:
    """Hooks that look at the state behind the last token of a prompt and change nothing."""

    def __init__(self) -> None:
        self._state: Array | None = None
        self.hooks = Hooks({"head": self._look})

    def _look(self, state: Array, context: SiteContext) -> Array:
        # The engine may write into its arrays again.
        self._state = np.array(state[-1], np.float32)
        return state

    @property
    def vector(self) -> Array:
        """The normalised state (d_model,) at length 1, so that a dot product is a cosine.

        The last token's state is what vLLM, too, takes as the vector of a model that was made to generate.
        """
        assert self._state is not None, "read before the first token came"
        return np.asarray(self._state / np.linalg.norm(self._state), np.float32)


def embeddings_body(asked: EmbeddingRequest, vectors: Sequence[Array]) -> Body:
    """The answer: one vector for each prompt, in their order; base64 is that of little-endian float32."""
    tokens = sum(len(generation.prompt) for generation in asked.generations)
    data = [
        {"object": "embedding", "index": index, "embedding": _written(vector, asked.encoding)}
        for index, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": asked.model, "usage": usage}


def _written(vector: Array, encoding: str) -> str | list[float]:
    if encoding == "base64":
        return base64.b64encode(vector.astype("<f4").tobytes()).decode()
    return [float(value) for value in vector]
