"""embedding.temporal-drift: noise on the embeddings that swells and fades over the sequence of requests."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from chaosgate.draws import Draw
from chaosgate.model.counter_noise import key_of, normals
from chaosgate.model.fault import FAULTS, AnswerWitness, EngineFault, Sweep
from chaosgate.model.request_id import request_number
from chaosgate.model.sites import Array, SiteContext

DIFFERING = 0.02
"""The share of the touched answers that must differ: nobody can tell beforehand how much noise a model bears, but
answers that all stay the same show no effect."""


@FAULTS.register("embedding.temporal-drift")
class TemporalDrift(EngineFault):
    """An embedding that drifts with time: e becomes e + sin(2 pi t) * sigma * N(0, 1), coordinate by coordinate.

    Request number n of its phase stands at t = (n mod `period`) / `period`, so that a swing begins anew every `period`
    requests. Over whole swings the root mean square of the noise is sigma / sqrt(2); the report gives that of the
    requests which were really touched. Sigma is in the units of the embedding, not relative to it.
    """

    kind: Literal["embedding.temporal-drift"]
    period: Annotated[int, Field(ge=3, le=1_000_000)] = 31
    """Requests in one swing. Fewer than a window has, so that all windows of a dose are alike; and a prime number, so
    that a set of prompts, asked in turn, meets every part of the swing with every prompt."""
    dose: Sweep[Literal["sigma"], float]

    max_dose: ClassVar[float] = 100.0

    def sites(self, layers: int) -> tuple[str, ...]:
        """The embedding."""
        return ("embedding",)

    def transform(self, array: Array, dose: float, draw: Draw, context: SiteContext) -> Array:
        """Rows (tokens, d_model) with their noise; the same however the prompt is cut."""
        noise = normals(array, key_of(draw, "noise"), context.first * array.shape[1])
        return array + noise * (dose * self._swing(draw))

    def received(self, dose: float, draw: Draw) -> float:
        """The root mean square of the noise on one request: sigma * |sin(2 pi t)|."""
        return dose * abs(self._swing(draw))

    def witness(self, dose: float) -> AnswerWitness:
        """The client gets other answers than in the baseline: two in a hundred of those touched, at least."""
        return AnswerWitness(DIFFERING * self.exposure(), "a model bears noise that is small beside its embeddings")

    def _swing(self, draw: Draw) -> float:
        return math.sin(2 * math.pi * (request_number(draw.request) % self.period) / self.period)
