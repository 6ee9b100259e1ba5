"""Whether the answers became steady before the baseline's windows: scores of short samples, in windows that slide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chaosgate.estimate.data import PhaseData
from chaosgate.estimate.requests import Request, join
from chaosgate.estimate.windows import place_arms
from chaosgate.model.observation import Sample
from chaosgate.model.result import SemanticState
from chaosgate.model.sli import SLIS
from chaosgate.model.spec import ChaosSpec
from chaosgate.model.steady import SemanticSteadyState


def semantic_state(spec: ChaosSpec, baseline: PhaseData | None) -> SemanticState | None:
    """The scores of the samples between warm-up and windows, and when they were steady; None if the spec has none.

    An answer is compared with its prompt's first one in the windows that follow: a service that begins wrong and
    becomes right is steady once it answers as it will be judged. Requests that pass no filter do not count.
    """
    wanted = spec.spec.steady_state.semantic
    if wanted is None:
        return None
    starts = [event.at for event in baseline.timeline if event.event == "started"] if baseline else []
    if baseline is None or not starts:
        reason = "the baseline's timeline does not tell when its load began"
        return SemanticState(scorer=wanted.scorer, scores=(), reason=reason)
    begin = starts[0] + spec.spec.workload.warmup
    scores = tuple(_scores(spec, wanted, join(baseline, (), spec.spec.workload.seed).requests, begin))
    means = list(window_means(scores, wanted.window))
    steady = first_row(means, wanted)
    return SemanticState(
        scorer=wanted.scorer,
        scores=scores,
        steady=None if steady is None else (steady + wanted.window) * wanted.every,
        best=max((mean for mean in means if mean is not None), default=None),
    )


def _scores(
    spec: ChaosSpec, wanted: SemanticSteadyState, requests: Sequence[Request], begin: float
) -> Iterator[float | None]:
    """The mean score of the requests that reach the gateway in each sample."""
    arms, score = place_arms(spec, requests), SLIS.get(wanted.scorer).value
    samples: list[list[Sample]] = [[] for _ in range(wanted.samples)]
    for request in requests:
        number = int((request.seen - begin) // wanted.every)
        unguarded, sample = arms.sample(request)
        if 0 <= number < len(samples) and not unguarded:
            samples[number].append(sample)
    for one in samples:
        values = [value for value in map(score, one) if value is not None]
        yield sum(values) / len(values) if values else None


def window_means(scores: Sequence[float | None], window: int) -> Iterator[float | None]:
    """The mean of each `window` scores in a row, from the first on; None where one of them is missing."""
    for first in range(len(scores) - window + 1):
        known = [score for score in scores[first : first + window] if score is not None]
        yield sum(known) / window if len(known) == window else None


def first_row(means: Sequence[float | None], wanted: SemanticSteadyState) -> int | None:
    """The index of the window with which enough windows in a row have kept the bound; None where they never have."""
    row = 0
    for index, mean in enumerate(means):
        row = row + 1 if mean is not None and wanted.bound.holds(mean) else 0
        if row >= wanted.in_a_row:
            return index
    return None
