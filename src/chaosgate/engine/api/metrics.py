"""Counters of the engine in Prometheus text under vLLM's names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chaosgate.prometheus import Histogram, family, label, sample

# vLLM's own bucket bounds in seconds, so that dashboards and queries made for it fit.
TTFT_BUCKETS = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75),
    *(1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0, 160.0, 640.0, 2560.0),
)
INTER_TOKEN_BUCKETS = (
    *(0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75),
    *(1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0),
)
REQUEST_BUCKETS = (
    *(0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0),
    *(120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0),
)

FINISHED_REASONS = ("stop", "length", "abort", "error")
"""`abort`: the client left; `error`: refused by a full queue, or lost with the compute thread."""


@dataclass(frozen=True)
class Load:
    """What the scheduler holds now, and what it has counted since the start.

    `preemptions` is how often it has taken a running request's blocks away, `queried` how many tokens it has looked up
    in the prefix cache, `found` how many of them were there.
    """

    running: int
    waiting: int
    cache_usage: float
    preemptions: int
    queried: int = 0
    found: int = 0


class Metrics:
    """What happened since the start. Written and read from one thread."""

    def __init__(self, model: str) -> None:
        self._labels = label("model_name", model)
        self._prompt_tokens = 0
        self._generation_tokens = 0
        self._finished = dict.fromkeys(FINISHED_REASONS, 0)
        self._ttft = Histogram(TTFT_BUCKETS)
        self._inter_token = Histogram(INTER_TOKEN_BUCKETS)
        self._e2e = Histogram(REQUEST_BUCKETS)
        self._queue = Histogram(REQUEST_BUCKETS)

    def first_token(self, prompt_tokens: int, queued: float, seconds: float) -> None:
        """A prompt was read, and its first token came `seconds` after the request, which had waited for `queued`."""
        self._prompt_tokens += prompt_tokens
        self._generation_tokens += 1
        self._queue.observe(queued)
        self._ttft.observe(seconds)

    def next_token(self, seconds: float) -> None:
        """One more token was generated, `seconds` after the one before it."""
        self._generation_tokens += 1
        self._inter_token.observe(seconds)

    def finished(self, reason: str, seconds: float) -> None:
        """A request ended `seconds` after it came; `reason` is one of FINISHED_REASONS."""
        self._finished[reason] += 1
        if reason in ("stop", "length"):
            self._e2e.observe(seconds)

    def render(self, load: Load) -> str:
        """The whole page, with the gauges as they are now."""
        by_reason = [
            sample("vllm:request_success_total", f"{label('finished_reason', reason)},{self._labels}", count)
            for reason, count in self._finished.items()
        ]
        return "".join(
            (
                self._gauge("num_requests_running", "Requests that are computed.", load.running),
                self._gauge("num_requests_waiting", "Requests that wait for their turn.", load.waiting),
                self._gauge("kv_cache_usage_perc", "KV cache in use, 1 = full.", load.cache_usage),
                self._counter("prefix_cache_queries", "Tokens looked up in the cache.", load.queried),
                self._counter("prefix_cache_hits", "Tokens found in the cache.", load.found),
                self._counter("num_preemptions", "Requests that lost their cache blocks.", load.preemptions),
                self._counter("prompt_tokens", "Prompt tokens read.", self._prompt_tokens),
                self._counter("generation_tokens", "Tokens generated.", self._generation_tokens),
                family("vllm:request_success_total", "counter", "Requests that ended, by reason.", by_reason),
                self._histogram("time_to_first_token_seconds", "Time to first token in seconds.", self._ttft),
                self._histogram("inter_token_latency_seconds", "Time between tokens in seconds.", self._inter_token),
                self._histogram("e2e_request_latency_seconds", "Time to the last token in seconds.", self._e2e),
                self._histogram("request_queue_time_seconds", "Time spent waiting in seconds.", self._queue),
            )
        )

    def _gauge(self, name: str, text: str, value: float) -> str:
        return self._family(name, "gauge", text, [sample(f"vllm:{name}", self._labels, value)])

    def _counter(self, name: str, text: str, value: int) -> str:
        return self._family(f"{name}_total", "counter", text, [sample(f"vllm:{name}_total", self._labels, value)])

    def _histogram(self, name: str, text: str, histogram: Histogram) -> str:
        return self._family(name, "histogram", text, histogram.lines(f"vllm:{name}", self._labels))

    def _family(self, name: str, kind: str, text: str, samples: Sequence[str]) -> str:
        return family(f"vllm:{name}", kind, text, samples)
