"""perplexity-change: how much less sure of its answers the model is than it was of the clean ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import ClassVar

from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.units import Dimension

MOST_NATS = 50.0
"""Nats a token above which a perplexity, then past 10^21, is given as that of this: a server writes a probability of 0
as some very low number, such as -9999 of vLLM."""


@SLIS.register("perplexity-change")
class PerplexityChange(Sli):
    """The perplexity of a window's answers minus that of the clean answers to the same prompts.

    A perplexity is e to the mean negative log-probability of all tokens together (Jelinek et al. 1977), by the server's
    own log-probabilities of what it said: so it needs a server that gives them. A model may be sure of what is wrong.
    """

    dimension: ClassVar[Dimension] = "number"
    statistic: ClassVar[Statistic] = "set"
    usual: ClassVar[str | None] = "<= 5"
    compares: ClassVar[bool] = True
    reads_logprobs: ClassVar[bool] = True

    @staticmethod
    def value(sample: Sample) -> float | None:
        """None: the perplexity of one short answer hangs on its least likely token."""
        return None

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> float | None:
        """The difference; None where no whole answer has log-probabilities in both arms."""
        pairs = [
            (sample.observation.logprobs, sample.clean_logprobs)
            for sample in samples
            if sample.observation.outcome == "ok"
        ]
        both = [(now, clean) for now, clean in pairs if now and clean and now[1] and clean[1]]
        if not both:
            return None
        return perplexity(now for now, _ in both) - perplexity(clean for _, clean in both)


def perplexity(answers: Iterable[tuple[float, int]]) -> float:
    """The perplexity of answers, each with the sum of its tokens' log-probabilities and how many these are, one or
    more."""
    sums, tokens = zip(*answers, strict=True)
    return math.exp(min(-math.fsum(sums) / sum(tokens), MOST_NATS))
