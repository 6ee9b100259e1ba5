"""What a load says of its server: latencies, rates, the client's own delay, and whether that can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chaosgate.model.base import Frozen
from chaosgate.model.observation import Observation, Outcome, RequestBound
from chaosgate.units import Dimension


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
    """Sending minus schedule, of all requests that were sent."""
    error_rate: float | None
    """The share of requests without a whole answer; cancelled ones do not count."""
    rates: Mapping[str, float]
    """By SLI kind, over `seconds`: request-rate, tokens-per-second, and goodput where bounds are given; besides them
    input-tokens-per-second where the server counts prompt tokens."""
    requested_rate: float
    """Requests due a second, over the time in which requests were due."""
    achieved_rate: float
    """Requests sent a second, over the time from the end of the warm-up to the last sending."""
    concurrency: float
    """Requests in flight, the mean over `seconds`."""
    output_tokens: int
    """Of whole answers: as the server counts them, else their content events."""
    prompt_tokens: int | None
    """Of whole answers; None unless the server counts those of each."""
    invalid: str | None = None
    """Why the measurement says nothing of the server, None where it does."""


def summarise(
    observations: Sequence[Observation], seconds: float, warmup: float = 0.0, slo: Sequence[RequestBound] = ()
) -> Summary:
    """The summary of a load in which requests were due for `seconds`, the first `warmup` of which do not count.

    `slo` are the bounds that a request must keep to count in the goodput.
    """
    raise NotImplementedError("follows")
