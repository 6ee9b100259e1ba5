"""The models that are served: the base model and its LoRA adapters, each under a name of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chaosgate.engine.api import fields
from chaosgate.engine.api.errors import ApiError
from chaosgate.engine.api.fields import Body
from chaosgate.engine.api.limits import KIB

MODEL_CREATED = 1735689600
"""`created` of every model, 2025-01-01: a constant, for the weights are the same whenever they are loaded."""


@dataclass(frozen=True)
class ServedModel:
    """What a request is checked against.

    `max_model_len` counts prompt and answer in tokens; `max_prompts` is how many prompts one request may hold, and
    `max_text` how many bytes of UTF-8 those of them that are text may have together: tokenising takes time of its own.
    """

    name: str
    max_model_len: int
    adapters: tuple[str, ...] = ()
    max_prompts: int = 256
    max_text: int = 32 * KIB

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that a request may ask for, the base model's first."""
        return (self.name, *(f"{self.name}:{adapter}" for adapter in self.adapters))

    def adapter(self, body: Body) -> str | None:
        """The adapter that the body's `model` asks for, None for the base model; ApiError for an unknown model."""
        model = body.get("model")
        if not isinstance(model, str):
            fields.wrong_type("model", f'a string such as "{self.name}"', model)
        if model not in self.names:
            served = ", ".join(f'"{name}"' for name in self.names)
            raise ApiError(
                f'the model "{model[:80]}" does not exist; this engine serves {served}',
                status=404,
                param="model",
                code="model_not_found",
            )
        return model.removeprefix(f"{self.name}:") if model != self.name else None

    def listing(self, own: Mapping[str, Any], digests: Mapping[str, str]) -> Body:
        """The answer of /v1/models. `own` tells this engine from another under the same name.

        An adapter names the base model as its `parent`, as vLLM has it, and has its digest, one of `digests`, in the
        place of the base model's.
        """
        base = self._entry(self.name, own)
        tuned = [
            self._entry(name, {**own, "weights_digest": digests[adapter]}) | {"parent": self.name, "root": adapter}
            for name, adapter in zip(self.names[1:], self.adapters, strict=True)
        ]
        return {"object": "list", "data": [base, *tuned]}

    def _entry(self, name: str, own: Mapping[str, Any]) -> Body:
        return {
            "id": name,
            "object": "model",
            "created": MODEL_CREATED,
            "owned_by": "chaosgate",
            "root": self.name,
            "parent": None,
            "max_model_len": self.max_model_len,
            "chaosgate": dict(own),
        }
