"""kv.token-overwrite: the keys of random positions are overwritten in the cache."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from array_api_compat import array_namespace

from chaosgate.draws import Draw
from chaosgate.faults.kv.layers import KVFault
from chaosgate.model.counter_noise import key_of, normals, uniforms
from chaosgate.model.fault import FAULTS, AnswerWitness, Sweep
from chaosgate.model.sites import Array, SiteContext
from chaosgate.units import Share


@FAULTS.register("kv.token-overwrite")
class TokenOverwrite(KVFault):
    """A KV cache that lost entries: the keys of a share of a request's positions are overwritten with noise.

    A position is hit in all its layers at once, from the moment its key is written. The noise is normal and as large
    as the key it takes the place of, head by head.
    """

    kind: Literal["kv.token-overwrite"]
    dose: Sweep[Literal["share"], Share]

    max_dose: ClassVar[float] = 1.0

    def sites(self, layers: int) -> tuple[str, ...]:
        """The keys as the cache takes them."""
        return self.at("attention.k", layers)

    def transform(self, array: Array, dose: float, draw: Draw, context: SiteContext) -> Array:
        """Keys (tokens, heads, head_dim); positions hit at a low dose are hit at a higher one, by the same noise."""
        xp = array_namespace(array)
        hit = uniforms(array, array.shape[0], key_of(draw, "position"), context.first) < dose
        first = context.first * math.prod(array.shape[1:])
        noise = normals(array, key_of(draw, f"noise.{context.site}"), first)
        size = xp.sqrt(xp.mean(array * array, axis=-1, keepdims=True))
        return xp.where(hit[:, None, None], noise * size, array)

    def witness(self, dose: float) -> AnswerWitness:
        """The client gets other answers than in the baseline: half as large a share as positions are overwritten."""
        return AnswerWitness(
            self.least_rise(dose), "an answer stays the same where the model did not need the positions that were hit"
        )
