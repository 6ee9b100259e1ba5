"""What the engine says of itself: gauges and counters in Prometheus text, under vLLM's names."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import aiohttp

from chaosgate.errors import one_line
from chaosgate.model.gauges import CORE_METRICS, ENGINE_METRICS, EngineMetric, of_model

TIMEOUT = 2.0
"""Seconds to wait for the page; it is read every second."""

# A sample line of the Prometheus text exposition format 0.0.4: name, labels, value, and a time that is not needed.
# The page is read on the loop that sends the load: 1,000 lines take 1 ms so, and 49 ms in prometheus_client's parser.
_SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?\s*")
_MODEL = re.compile(r'(?:^|,)\s*model_name="((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")
_WANTED = frozenset(name for metric in ENGINE_METRICS for name in (metric.name, *metric.older))

_ByModel = dict[str, list[float]]


@dataclass(frozen=True)
class GaugeReading:
    """The values by gauge; a metric the engine does not have is absent. `reason` says why all or some are missing."""

    values: Mapping[str, float]
    reason: str | None = None


async def read_gauges(session: aiohttp.ClientSession, metrics_url: str) -> GaugeReading:
    """The metrics at `metrics_url`, as `parse_metrics` gives them. An engine out of reach is a reason, no exception."""
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
    return GaugeReading(values, _lacking(metrics_url, values))


def _lacking(metrics_url: str, values: Mapping[str, float]) -> str | None:
    if not values:
        return f"{metrics_url} has none of vLLM's metrics, such as {CORE_METRICS[0]}"
    lacking = [name for name in CORE_METRICS if name not in values]
    return f"{metrics_url} has no {', '.join(lacking)}" if lacking else None


def parse_metrics(text: str) -> dict[str, float]:
    """The gauges in the Prometheus text of an engine, under the present names of vLLM's metrics.

    A metric is summed over its labels, but a share is the largest of them: the engine whose cache is full is the one
    that preempts. Where several models share the server, each has its own gauges besides. Of the names that a metric
    has had, the latest on the page counts: a version that has both says the same twice. What is no finite number is
    left out.
    """
    found = _samples(text)
    values: dict[str, float] = {}
    for metric in ENGINE_METRICS:
        by_model = next((found[name] for name in (metric.name, *metric.older) if name in found), {})
        if by_model:
            values[metric.name] = _together(metric, [value for series in by_model.values() for value in series])
        if len(by_model) > 1:
            values |= {of_model(metric.name, model): _together(metric, series) for model, series in by_model.items()}
    return values


def _samples(text: str) -> dict[str, _ByModel]:
    """The finite values of the wanted metrics, by name and the model they are of."""
    found: defaultdict[str, _ByModel] = defaultdict(dict)
    for line in text.splitlines():
        match = _SAMPLE.fullmatch(line)
        if match is None or match[1] not in _WANTED:
            continue
        value = _finite(match[3])
        if value is not None:
            found[match[1]].setdefault(_model(match[2] or ""), []).append(value)
    return found


def _model(labels: str) -> str:
    named = _MODEL.search(labels)
    return _ESCAPED.sub(r"\1", named[1]) if named else ""


def _together(metric: EngineMetric, series: Sequence[float]) -> float:
    return max(series) if metric.share else sum(series)


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
