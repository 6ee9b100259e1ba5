"""Counters of the gateway, as Prometheus text."""

from __future__ import annotations

from collections import Counter

from chaosgate.prometheus import Histogram, family, label, sample

MAX_MODELS = 64
"""Model names kept apart; clients choose them, and a label's values must stay few. The rest counts as `other`."""

INJECTED = "llm_chaos_injected_total"
REQUESTS = "chaosgate_gateway_requests_total"
FILTERED = "chaosgate_gateway_filtered_total"
ADDED = "chaosgate_gateway_added_seconds"
ADDED_BUCKETS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 1.0)
"""Upper bounds in seconds; a gateway that keeps up adds less than a millisecond."""


class Metrics:
    """What the gateway did since it started."""

    def __init__(self) -> None:
        self._injected: Counter[tuple[str, str]] = Counter()
        self._models: set[str] = set()
        self._requests: Counter[int] = Counter()
        self._filtered: Counter[tuple[str, str]] = Counter()
        self._added = Histogram(ADDED_BUCKETS)
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

    def filtered(self, kind: str, action: str) -> None:
        """A filter of `kind` did `action` to a request or its answer."""
        self._filtered[kind, action] += 1

    def added(self, seconds: float) -> None:
        """The gateway itself took so long, delays not counted, before a request went upstream."""
        self._added.observe(seconds)

    def render(self) -> str:
        """The whole page."""
        injected = [
            sample(INJECTED, f"{label('type', kind)},{label('model', model)}", count)
            for (kind, model), count in sorted(self._injected.items())
        ]
        requests = [sample(REQUESTS, label("code", str(code)), count) for code, count in sorted(self._requests.items())]
        filtered = [
            sample(FILTERED, f"{label('filter', kind)},{label('action', action)}", count)
            for (kind, action), count in sorted(self._filtered.items())
        ]
        added = "Seconds the gateway took before a request went upstream, injected delays left out."
        families = (
            family(INJECTED, "counter", "Requests touched, by fault kind and model.", injected),
            family(REQUESTS, "counter", "Requests by status; 499: left.", requests),
            family(FILTERED, "counter", "What filters did, by kind and action.", filtered),
            family(ADDED, "histogram", added, self._added.lines(ADDED)),
        )
        return "".join(families)
