"""A load as GuideLLM reports one: the names of a benchmark's `metrics`, and what it means by them.

What differs from chaosgate's own definitions: latencies count from the sending; the first event with text, reasoning
included, is the first token; the inter-token latency is one mean a request, (last - first) / (n - 1), weighted by
n - 1; the time per output token counts from the sending, (last - sent) / n, weighted by n; every rate is a distribution
over time, of which the mean is the rate. Source: guidellm 0.8.1, schemas/base/request_stats.py,
schemas/base/statistics.py and benchmark/schemas/metrics.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import numpy as np

from chaosgate.loadgen.exports.weighted import Pairs, busy, distribution, paced
from chaosgate.model.observation import Observation

Status = Literal["successful", "incomplete", "errored"]
Measure = Callable[[Observation], Sequence[tuple[float, float]]]
"""The values of one request with their weights."""


def export(observations: Iterable[Observation]) -> dict[str, Any]:
    """The `metrics` of one benchmark. Each but the totals is a distribution for each status and in total.

    `successful` are whole answers, `incomplete` those that their client cancelled, `errored` all others. Warm-up
    requests are left out; the measured time is from the first sending to the last end. Times that GuideLLM does not
    keep by token, it spreads evenly over the events; so they are here.
    """
    seen = [each for each in observations if not each.warmup]
    by_status = {status: [each for each in seen if _status(each) == status] for status in STATUSES}
    begin, end = min((each.sent for each in seen), default=0.0), max((each.end for each in seen), default=0.0)

    def of(measure: Measure, made: Callable[[Pairs], dict[str, Any]] = distribution) -> dict[str, Any]:
        pairs = {status: [pair for each in group for pair in measure(each)] for status, group in by_status.items()}
        total = [pair for group in pairs.values() for pair in group]
        return {status: made(group) for status, group in pairs.items()} | {"total": made(total)}

    def rate(measure: Measure) -> dict[str, Any]:
        return of(measure, lambda pairs: paced(pairs, begin, end))

    return {
        "request_totals": {status: len(group) for status, group in by_status.items()} | {"total": len(seen)},
        "requests_per_second": rate(lambda each: [(each.end, 1.0)]),
        "request_concurrency": of(lambda each: [(each.sent, each.end)], lambda pairs: busy(pairs, begin, end)),
        "request_latency": of(lambda each: [(each.end - each.sent, 1.0)]),
        "prompt_token_count": of(lambda each: [(float(each.prompt_tokens or 0), 1.0)]),
        "output_token_count": of(lambda each: [(float(each.output_tokens), 1.0)]),
        "time_to_first_token_ms": of(_first_token),
        "time_to_first_output_token_ms": of(_first_output_token),
        "time_per_output_token_ms": of(_time_per_token),
        "inter_token_latency_ms": of(_inter_token),
        "prompt_tokens_per_second": rate(_prompt_times),
        "output_tokens_per_second": rate(_output_times),
        "tokens_per_second": rate(lambda each: [*_prompt_times(each), *_output_times(each)]),
    }


STATUSES: tuple[Status, ...] = ("successful", "incomplete", "errored")


def _status(seen: Observation) -> Status:
    if seen.outcome == "ok":
        return "successful"
    return "incomplete" if seen.outcome == "cancelled" else "errored"


def _first_token(seen: Observation) -> Pairs:
    return [(1000 * (seen.texts[0] - seen.sent), 1.0)] if seen.texts else []


def _first_output_token(seen: Observation) -> Pairs:
    return [] if seen.first is None else [(1000 * (seen.first - seen.sent), 1.0)]


def _time_per_token(seen: Observation) -> Pairs:
    tokens = seen.output_tokens
    last = seen.texts[-1] if seen.texts else seen.end
    return [(1000 * (last - seen.sent) / tokens if tokens else 0.0, float(tokens))]


def _inter_token(seen: Observation) -> Pairs:
    texts, tokens = seen.texts, seen.output_tokens
    if not texts or tokens < 2:
        return [(0.0, 0.0)]
    return [(1000 * (texts[-1] - texts[0]) / (tokens - 1), tokens - 1.0)]


def _prompt_times(seen: Observation) -> Pairs:
    return [(seen.texts[0] if seen.texts else seen.end, float(seen.prompt_tokens or 0))]


def _output_times(seen: Observation) -> Pairs:
    """One token with the first event, the others evenly over the rest."""
    texts, tokens = seen.texts, float(seen.output_tokens)
    if len(texts) < 2:
        return [(texts[-1] if texts else seen.end, tokens)]
    if tokens < 2:
        return [(texts[0], tokens)]
    times = np.linspace(texts[0], texts[-1], num=len(texts))[1:]
    return [(texts[0], 1.0), *((float(at), (tokens - 1) / len(times)) for at in times)]
