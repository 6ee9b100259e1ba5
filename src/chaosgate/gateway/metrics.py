"""Counters of the gateway as Prometheus text (exposition format 0.0.4)."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from itertools import accumulate

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MAX_MODELS = 64
"""Model names kept apart; clients choose them, and a label's values must stay few. The rest counts as `other`."""

ADDED_BUCKETS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 1.0)


class Metrics:
    """What the gateway did since it started."""

    def __init__(self) -> None:
        self._injected: Counter[tuple[str, str]] = Counter()
        self._models: set[str] = set()
        self._requests: Counter[int] = Counter()
        self._added = [0] * (len(ADDED_BUCKETS) + 1)
        self._added_sum = 0.0
        self.arrived = 0
        """Requests that reached the data port."""

    def injected(self, kind: str, model: str) -> None:
        """A fault of `kind` touched a request for `model` at a dose above 0."""
        model = model[:100]
        if len(self._models) < MAX_MODELS:
            self._models.add(model)
        self._injected[kind, model if model in self._models else "other"] += 1

    def answered(self, code: int) -> None:
        """A request ended with `code`; 499 stands for a client that left before it had a response."""
        self._requests[code] += 1

    def added(self, seconds: float) -> None:
        """The gateway itself took so long, delays not counted, before a request went upstream."""
        self._added[bisect_left(ADDED_BUCKETS, seconds)] += 1
        self._added_sum += seconds

    def render(self) -> str:
        """The whole page."""
        injected = [
            f'llm_chaos_injected_total{{type="{_escape(kind)}",model="{_escape(model)}"}} {count}'
            for (kind, model), count in sorted(self._injected.items())
        ]
        requests = [
            f'chaosgate_gateway_requests_total{{code="{code}"}} {count}'
            for code, count in sorted(self._requests.items())
        ]
        return "".join(
            (
                _family("llm_chaos_injected_total", "counter", "Requests touched, by fault kind and model.", injected),
                _family("chaosgate_gateway_requests_total", "counter", "Requests by status; 499: left.", requests),
                _family(
                    "chaosgate_gateway_added_seconds",
                    "histogram",
                    "Seconds the gateway took before a request went upstream, injected delays left out.",
                    self._added_lines("chaosgate_gateway_added_seconds"),
                ),
            )
        )

    def _added_lines(self, name: str) -> list[str]:
        counts = list(accumulate(self._added))
        bounds = [*map(str, ADDED_BUCKETS), "+Inf"]
        buckets = [f'{name}_bucket{{le="{bound}"}} {count}' for bound, count in zip(bounds, counts, strict=True)]
        return [*buckets, f"{name}_sum {self._added_sum}", f"{name}_count {counts[-1]}"]


def _family(name: str, kind: str, text: str, samples: list[str]) -> str:
    return "\n".join((f"# HELP {name} {text}", f"# TYPE {name} {kind}", *samples, ""))


def _escape(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    # JSON lets lone surrogates through, UTF-8 does not.
    return escaped.encode("utf-8", errors="replace").decode()
