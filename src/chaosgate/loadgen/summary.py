"""What a load says of its server: latencies, rates, the client's own delay, and whether that can be trusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import get_args

import numpy as np

from chaosgate.errors import UsageError
from chaosgate.model.base import Frozen
from chaosgate.model.observation import MAX_SCHEDULE_DELAY, Observation, Outcome, RequestBound, Sample
from chaosgate.model.sli import SLIS, Sli
from chaosgate.statistics.ranks import quantile_rank
from chaosgate.units import Dimension, format_value

LATENCIES = ("ttft", "first-text", "itl", "tpot", "e2e", "normalised-latency")
"""The SLI kinds that a summary has distributions of."""
RATES = ("request-rate", "tokens-per-second", "goodput")
"""The SLI kinds that are sums over its time."""
QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}


class Distribution(Frozen):
    """The values of one metric in its base unit; without any, `n` is 0 and the rest None."""

    dimension: Dimension
    n: int
    mean: float | None = None
    p50: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None


class Summary(Frozen):
    """A load as its client saw it, warm-up left out. Times are seconds, rates a second."""

    seconds: float
    """From the end of the warm-up until the load was over: planned, or when the last of its requests ended."""
    requests: int
    """All that were due, whatever became of them."""
    outcomes: Mapping[Outcome, int]
    """How many requests ended in each way; every outcome has its number."""
    latencies: Mapping[str, Distribution]
    """Of whole answers, by SLI kind: ttft, first-text, itl, tpot, e2e, normalised-latency; from the schedule."""
    service_times: Distribution
    """From sending to the end, of whole answers: what a client that hides its own delay would report."""
    schedule_delay: Distribution
    """Sending minus schedule, of all requests: how far the client lagged."""
    error_rate: float | None
    """The share of requests without a whole answer; cancelled ones do not count."""
    rates: Mapping[str, float]
    """By SLI kind, over `seconds`: request-rate, tokens-per-second, and goodput where bounds are given; besides them
    input-tokens-per-second where the server counts prompt tokens."""
    requested_rate: float
    """Requests due a second, over the time in which requests were due."""
    achieved_rate: float
    """Requests that were sent and got a connection, a second, over the planned time or until the last was sent."""
    concurrency: float
    """Requests in flight, the mean over `seconds`."""
    output_tokens: int
    """Of whole answers: as the server counts them, else their content events."""
    prompt_tokens: int | None
    """Of whole answers; None unless the server counts those of each."""
    invalid: str | None = None
    """Why the measurement says nothing of the server, None where it does."""


def summarise(
    observations: Iterable[Observation], seconds: float, warmup: float = 0.0, slo: Sequence[RequestBound] = ()
) -> Summary:
    """The summary of a load in which requests were due for `seconds`, the first `warmup` of which do not count.

    `slo` are the bounds that a request must keep to count in the goodput. A UsageError where the warm-up is not
    shorter than the load.
    """
    if not 0 <= warmup < seconds:
        raise UsageError(f"read a warm-up of {warmup:g} s in a load of {seconds:g} s; write a shorter one")
    seen = [each for each in observations if not each.warmup]
    samples = [Sample(each, None, tuple(slo)) for each in seen]
    delay = _distribution((each.sent - each.scheduled for each in seen), "duration")
    whole = [each for each in seen if each.outcome == "ok"]
    span = max([seconds, *(each.end for each in seen)]) - warmup
    return Summary(
        seconds=span,
        requests=len(seen),
        outcomes=_outcomes(seen),
        latencies={name: _latencies(name, samples) for name in LATENCIES},
        service_times=_distribution((each.end - each.sent for each in whole), "duration"),
        schedule_delay=delay,
        error_rate=_mean(SLIS.get("error-rate"), samples),
        rates=_rates(samples, whole, span),
        requested_rate=len(seen) / (seconds - warmup),
        achieved_rate=_achieved(seen, seconds, warmup),
        concurrency=sum(each.end - each.sent for each in seen) / span,
        output_tokens=sum(each.output_tokens for each in whole),
        prompt_tokens=_prompt_tokens(whole),
        invalid=_invalid(delay.p99),
    )


def _outcomes(seen: Sequence[Observation]) -> dict[Outcome, int]:
    found = Counter(each.outcome for each in seen)
    return {outcome: found[outcome] for outcome in get_args(Outcome)}


def _latencies(name: str, samples: Sequence[Sample]) -> Distribution:
    kind = SLIS.get(name)
    return _distribution(chain.from_iterable(map(kind.values, samples)), kind.dimension)


def _distribution(values: Iterable[float], dimension: Dimension) -> Distribution:
    ordered = np.sort(np.fromiter(values, dtype=float))
    n = len(ordered)
    if not n:
        return Distribution(dimension=dimension, n=0)
    at = {name: float(ordered[quantile_rank(quantile, n) - 1]) for name, quantile in QUANTILES.items()}
    return Distribution(dimension=dimension, n=n, mean=float(ordered.mean()), max=float(ordered[-1]), **at)


def _mean(kind: type[Sli], samples: Sequence[Sample]) -> float | None:
    values = list(chain.from_iterable(map(kind.values, samples)))
    return sum(values) / len(values) if values else None


def _rates(samples: Sequence[Sample], whole: Sequence[Observation], span: float) -> dict[str, float]:
    rates = {}
    for name in RATES:
        amounts = list(chain.from_iterable(map(SLIS.get(name).values, samples)))
        if amounts or name != "goodput":
            rates[name] = sum(amounts) / span
    prompts = _prompt_tokens(whole)
    return rates if prompts is None else {**rates, "input-tokens-per-second": prompts / span}


def _achieved(seen: Sequence[Observation], seconds: float, warmup: float) -> float:
    sent = [each.sent for each in seen if each.outcome != "refused"]
    return len(sent) / (max([seconds, *sent]) - warmup)


def _prompt_tokens(whole: Sequence[Observation]) -> int | None:
    counts = [each.prompt_tokens for each in whole]
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _invalid(delay: float | None) -> str | None:
    if delay is None or delay <= MAX_SCHEDULE_DELAY:
        return None
    return (
        f"the client lagged behind its schedule: P99 of the delay is {format_value(delay, 'duration')}, at most "
        f"{format_value(MAX_SCHEDULE_DELAY, 'duration')} is allowed; send less, or use more workers"
    )
