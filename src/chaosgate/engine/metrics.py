"""Counters of the engine in Prometheus text under vLLM's names."""

from __future__ import annotations

from chaosgate.prometheus import Histogram, family, label, sample

# vLLM's own bucket bounds in seconds, so that dashboards and queries made for it fit.
TTFT_BUCKETS = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75),
    *(1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0, 160.0, 640.0, 2560.0),
)
E2E_BUCKETS = (
    *(0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0),
    *(120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0),
)

FINISHED_REASONS = ("stop", "length", "abort", "error")
"""`abort`: the client left; `error`: refused by a full queue, or lost with the compute thread."""


class Metrics:
    """What happened since the start. Written and read from one thread."""

    def __init__(self, model: str) -> None:
        self._labels = label("model_name", model)
        self._prompt_tokens = 0
        self._generation_tokens = 0
        self._finished = dict.fromkeys(FINISHED_REASONS, 0)
        self._ttft = Histogram(TTFT_BUCKETS)
        self._e2e = Histogram(E2E_BUCKETS)

    def first_token(self, prompt_tokens: int, seconds: float) -> None:
        """A prompt was read and its first token came `seconds` after the request."""
        self._prompt_tokens += prompt_tokens
        self._ttft.observe(seconds)

    def token(self) -> None:
        """One token was generated."""
        self._generation_tokens += 1

    def finished(self, reason: str, seconds: float) -> None:
        """A request ended `seconds` after it came; `reason` is one of FINISHED_REASONS."""
        self._finished[reason] += 1
        if reason in ("stop", "length"):
            self._e2e.observe(seconds)

    def render(self, running: int, waiting: int, cache_usage: float) -> str:
        """The whole page, with the three gauges as they are now."""
        labels = self._labels
        by_reason = [
            sample("vllm:request_success_total", f"{label('finished_reason', reason)},{labels}", count)
            for reason, count in self._finished.items()
        ]
        ttft, e2e = "vllm:time_to_first_token_seconds", "vllm:e2e_request_latency_seconds"
        families = [
            _single("vllm:num_requests_running", "gauge", "Requests that hold a slot.", running, labels),
            _single("vllm:num_requests_waiting", "gauge", "Requests that wait for a slot.", waiting, labels),
            _single("vllm:kv_cache_usage_perc", "gauge", "KV cache in use, 1 = full.", cache_usage, labels),
            _single("vllm:prompt_tokens_total", "counter", "Prompt tokens read.", self._prompt_tokens, labels),
            _single("vllm:generation_tokens_total", "counter", "Tokens generated.", self._generation_tokens, labels),
            family("vllm:request_success_total", "counter", "Requests that ended, by reason.", by_reason),
            family(ttft, "histogram", "Time to first token in seconds.", self._ttft.lines(ttft, labels)),
            family(e2e, "histogram", "Time to the last token in seconds.", self._e2e.lines(e2e, labels)),
        ]
        return "".join(families)


def _single(name: str, kind: str, text: str, value: float, labels: str) -> str:
    return family(name, kind, text, [sample(name, labels, value)])
