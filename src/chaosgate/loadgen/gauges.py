"""What the engine says of itself: gauges and counters in Prometheus text, under vLLM's names."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import aiohttp

from chaosgate.errors import one_line

METRICS = (
    "vllm:num_requests_running",
    "vllm:num_requests_waiting",
    "vllm:kv_cache_usage_perc",
    "vllm:generation_tokens_total",
    "vllm:prompt_tokens_total",
)
"""The metrics that are read (vLLM documentation, Production Metrics)."""

TIMEOUT = 2.0
"""Seconds to wait for the page; it is read every second."""

# A sample line of the Prometheus text exposition format 0.0.4: name, labels, value, and a time that is not needed.
_SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(?:\{.*\})?\s+(\S+)(?:\s+-?\d+)?\s*")


@dataclass(frozen=True)
class GaugeReading:
    """The values by metric name; a metric the engine does not have is absent. `reason` says why there are none."""

    values: dict[str, float]
    reason: str | None = None


async def read_gauges(session: aiohttp.ClientSession, metrics_url: str) -> GaugeReading:
    """The metrics at `metrics_url`, each summed over its labels. An engine out of reach is a reason, no exception."""
    try:
        async with session.get(
            metrics_url, timeout=aiohttp.ClientTimeout(total=TIMEOUT), allow_redirects=False
        ) as response:
            if 300 <= response.status < 400 and "Location" in response.headers:
                target = one_line(response.headers["Location"])
                return GaugeReading({}, f"{metrics_url} answered with a redirect to {target}; name the server itself")
            if response.status != 200:
                return GaugeReading({}, f"{metrics_url} answered with HTTP status {response.status}")
            text = (await response.read()).decode("utf-8", "replace")
    except TimeoutError:
        return GaugeReading({}, f"{metrics_url} did not answer within {TIMEOUT:g} s")
    except (aiohttp.ClientError, OSError) as error:
        return GaugeReading({}, f"{metrics_url} cannot be read: {one_line(str(error))}")
    values = parse_metrics(text)
    return GaugeReading(values, None if values else f"{metrics_url} has none of {', '.join(METRICS)}")


def parse_metrics(text: str) -> dict[str, float]:
    """The sums over labels of `METRICS` in Prometheus text. Values that are no finite number are left out."""
    sums: dict[str, float] = {}
    for line in text.splitlines():
        match = _SAMPLE.fullmatch(line)
        if match is None or match[1] not in METRICS:
            continue
        value = _finite(match[2])
        if value is not None:
            sums[match[1]] = sums.get(match[1], 0.0) + value
    return sums


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
