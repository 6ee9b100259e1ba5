"""One step of the engine: from requests and counts of tokens to the tokens that they get."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

import numpy as np

from chaosgate.engine.network.adapters import Adapter
from chaosgate.engine.network.batch import Batch
from chaosgate.engine.network.sites import Part, Tap
from chaosgate.engine.network.transformer import Transformer
from chaosgate.engine.runtime.cache import PagedCache
from chaosgate.engine.runtime.sequence import Delta, Sequence

Work = dict[Sequence, int]
"""How many of its due tokens each request gets computed."""


def compute(
    model: Transformer, cache: PagedCache, work: Work, adapters: Mapping[str, Adapter]
) -> list[tuple[Sequence, Delta]]:
    """Computes the tokens of `work`, for which there are blocks, and draws the next token of whoever is complete."""
    order = [sequence for sequence, count in work.items() if count == 1]
    singles = len(order)
    order += [sequence for sequence, count in work.items() if count > 1]
    batch = _batch(cache, order, singles, work, adapters)
    wanted = [
        index for index, sequence in enumerate(order) if sequence.computed + work[sequence] == len(sequence.tokens)
    ]
    logits = model.forward(cache.pool, batch, wanted)
    failed = {} if batch.tap is None else batch.tap.failed
    for index, sequence in enumerate(order):
        sequence.computed += work[sequence]
        if index not in failed:
            cache.keep(sequence.held, sequence.tokens, sequence.computed)
    drawn = [
        (order[index], order[index].advance(row))
        for index, row in zip(wanted, logits, strict=True)
        if index not in failed
    ]
    return drawn + [(order[index], order[index].fail(message)) for index, message in failed.items()]


def _batch(
    cache: PagedCache, order: list[Sequence], singles: int, work: Work, adapters: Mapping[str, Adapter]
) -> Batch:
    counts = [work[sequence] for sequence in order]
    starts = [0, *accumulate(counts)]
    tokens = [sequence.tokens[sequence.computed] for sequence in order[:singles]]
    positions = [sequence.computed for sequence in order[:singles]]
    for sequence, count in zip(order[singles:], counts[singles:], strict=True):
        span = slice(sequence.computed, sequence.computed + count)
        tokens += sequence.tokens[span]
        positions += range(span.start, span.stop)
    return Batch(
        np.array(tokens),
        np.array(positions),
        cache.tables[[sequence.held.slot for sequence in order]],
        starts,
        singles,
        _adapters(order, adapters),
        _tap(order, starts),
    )


def _adapters(order: list[Sequence], adapters: Mapping[str, Adapter]) -> list[Adapter | None]:
    names = [sequence.generation.adapter for sequence in order]
    return [None if name is None else adapters[name] for name in names] if any(names) else []


def _tap(order: list[Sequence], starts: list[int]) -> Tap | None:
    parts = {
        index: Part(
            slice(starts[index], starts[index + 1]),
            sequence.computed,
            sequence.phase,
            sequence.generation.request,
            sequence.generation.tenant,
            sequence.transforms,
        )
        for index, sequence in enumerate(order)
        if sequence.transforms
    }
    return Tap(parts) if parts else None
