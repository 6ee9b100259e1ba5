"""What is read beside the requests: the names of all gauges, and where a spec has them read from.

A gauge is named after its source: `vllm:...` the engine's own metrics page, `prom:...` a query of the spec, `host:...`
and `gpu:...` the machine on which the target runs, `k8s:...` a fault's target on the cluster.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, model_validator

from chaosgate.model.base import ENVIRONMENT_NAME, Frozen, Name
from chaosgate.registry import unknown
from chaosgate.units import Duration

HEADER_PATTERN = r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"
"""The name of an HTTP header: a token of RFC 9110, section 5.6.2."""
SERVER_PATTERN = r"^https?://[^\s/?#]+[^\s?#]*$"
"""The base URL of a server, to which paths are added."""
QUERY_PATTERN = r"\S"


@dataclass(frozen=True)
class EngineMetric:
    """A metric of vLLM's page under its present name, with those it had in earlier versions, the latest first."""

    name: str
    older: tuple[str, ...] = ()
    share: bool = False
    """Whether it is a fraction of something: two engines at 40 % are not at 80 %, so it is never summed."""


def _histogram(name: str, *older: str) -> list[EngineMetric]:
    return [EngineMetric(f"{name}_{end}", tuple(f"{old}_{end}" for old in older)) for end in ("sum", "count")]


ENGINE_METRICS: tuple[EngineMetric, ...] = (
    EngineMetric("vllm:num_requests_running"),
    EngineMetric("vllm:num_requests_waiting"),
    EngineMetric("vllm:num_requests_swapped"),
    EngineMetric("vllm:kv_cache_usage_perc", ("vllm:gpu_cache_usage_perc",), share=True),
    EngineMetric("vllm:prefix_cache_queries_total", ("vllm:gpu_prefix_cache_queries_total",)),
    EngineMetric("vllm:prefix_cache_hits_total", ("vllm:gpu_prefix_cache_hits_total",)),
    EngineMetric("vllm:gpu_prefix_cache_hit_rate", share=True),
    EngineMetric("vllm:external_prefix_cache_queries_total"),
    EngineMetric("vllm:external_prefix_cache_hits_total"),
    EngineMetric("vllm:num_preemptions_total"),
    EngineMetric("vllm:prompt_tokens_total"),
    EngineMetric("vllm:generation_tokens_total"),
    EngineMetric("vllm:request_success_total"),
    EngineMetric("vllm:corrupted_requests_total"),
    EngineMetric("vllm:spec_decode_num_drafts_total"),
    EngineMetric("vllm:spec_decode_num_draft_tokens_total"),
    EngineMetric("vllm:spec_decode_num_accepted_tokens_total"),
    EngineMetric("vllm:spec_decode_draft_acceptance_rate", share=True),
    *_histogram("vllm:time_to_first_token_seconds"),
    *_histogram("vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"),
    *_histogram("vllm:e2e_request_latency_seconds"),
    *_histogram("vllm:request_queue_time_seconds"),
    *_histogram("vllm:request_prefill_time_seconds"),
    *_histogram("vllm:request_decode_time_seconds"),
)
"""What is read of the engine's page (vLLM documentation, Production Metrics; for the older names its design/metrics of
v0.10.2 and its pull request 18354). The swapped requests, the hit rate and the acceptance rate are of engine V0 alone;
a histogram is its sum and its count."""

CORE_METRICS = ("vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:kv_cache_usage_perc")
"""What every version of vLLM has: a page without one of them is said to lack it."""

LARGEST_ORDER = "host:buddyinfo:largest-order"
"""The order of the largest free block of memory on the fullest node: 2^order pages in a row."""
HOST_GAUGES: tuple[str, ...] = (
    LARGEST_ORDER,
    "host:cgroup:memory-bytes",
    "host:cgroup:memory-limit-bytes",
    "host:cgroup:cpu-seconds",
    "host:cgroup:throttled-seconds",
    "host:cgroup:throttled-periods",
    "host:process:rss-bytes",
    "host:process:cpu-seconds",
    "host:process:threads",
)
"""Readings of the machine and of the engine's process on it."""
GPU_READINGS: tuple[str, ...] = ("utilisation", "memory-used-bytes", "memory-total-bytes", "power-watts", "celsius")
"""What is read of each GPU, as `gpu:<index>:<reading>`; the utilisation is a fraction."""

_GPU = re.compile(r"gpu:[0-9]+:(?P<reading>[a-z-]+)")
_OF_MODEL = re.compile(r'(?P<name>[^{]+)\{model_name="(?:[^"\\]|\\.)*"\}')


def of_model(name: str, model: str) -> str:
    """The gauge `name` of one of several models that share a server, written as Prometheus writes a label."""
    escaped = model.replace("\\", "\\\\").replace('"', '\\"')
    return f'{name}{{model_name="{escaped}"}}'


def prometheus_gauge(query: str) -> str:
    """The gauge that holds the values of the spec's query of this name."""
    return f"prom:{query}"


def why_unknown_gauge(name: str, queries: Iterable[str] | None) -> str | None:
    """Why no run reads a gauge called `name`, with the nearest that one reads; None where one does.

    `queries` are the names of the spec's queries, None where they are not known. Gauges of the cluster are left to the
    run, which alone knows what its faults' targets have.
    """
    if name.startswith("k8s:") or (queries is None and name.startswith("prom:")):
        return None
    queries = tuple(queries or ())
    known = known_gauges(queries)
    shared, gpu = _OF_MODEL.fullmatch(name), _GPU.fullmatch(name)
    if shared and shared["name"].startswith("vllm:"):
        name = shared["name"]
    if name in known or (gpu and gpu["reading"] in GPU_READINGS):
        return None
    if name.startswith("prom:") and not queries:
        return f"read {name!r}, and the spec has no query; write one under spec.metrics.prometheus.queries"
    source = name.partition(":")[0] + ":"
    return unknown("gauge", name, [one for one in known if one.startswith(source)] or known)


def known_gauges(queries: Iterable[str]) -> Sequence[str]:
    """Every gauge that a condition may name, with the first GPU's for all GPUs."""
    return [
        *(metric.name for metric in ENGINE_METRICS),
        *map(prometheus_gauge, queries),
        *HOST_GAUGES,
        *(f"gpu:0:{reading}" for reading in GPU_READINGS),
    ]


def fragmentation(largest_order: float) -> str:
    """How fragmented memory is by the order of its largest free block: at least 9 light, 5 to 8 medium, below heavy.

    Order 9 is the 2 MiB of a huge page on x86-64, which is what falls away first.
    """
    if largest_order >= 9:
        return "light"
    return "medium" if largest_order >= 5 else "heavy"


class Credential(Frozen):
    """Where a secret is found; it never stands in a spec, and a run never writes it down."""

    env: Annotated[str, Field(pattern=ENVIRONMENT_NAME)] | None = None
    """The environment variable that holds it."""
    file: str | None = None
    """The file that holds it, such as /var/run/secrets/kubernetes.io/serviceaccount/token."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Credential:
        if (self.env is None) == (self.file is None):
            raise ValueError("name one of `env` and `file`")
        return self


class PromQuery(Frozen):
    """A query whose value is kept as a gauge."""

    name: Name
    """The gauge is called `prom:<name>`."""
    query: Annotated[str, Field(pattern=QUERY_PATTERN, max_length=4000)]
    """PromQL that gives one series, or a scalar."""


class PrometheusSource(Frozen):
    """A server with Prometheus' HTTP API: Prometheus itself, Thanos, Mimir, VictoriaMetrics."""

    url: Annotated[str, Field(pattern=SERVER_PATTERN)]
    """Its base URL, without /api/v1."""
    every: Annotated[Duration, Field(ge=1, le=3600)] = 5.0
    """How often each query is asked while load runs."""
    stale: Annotated[Duration, Field(ge=1, le=3600)] = 60.0
    """How old a sample may be; older ones leave a gap. More than twice the scrape interval is sensible."""
    bearer: Credential | None = None
    """The token that is sent as `Authorization: Bearer ...`."""
    headers: dict[Annotated[str, Field(pattern=HEADER_PATTERN)], Credential] = {}
    """More headers by name, such as X-Scope-OrgID; their values are found as a token is."""
    queries: Annotated[tuple[PromQuery, ...], Field(min_length=1, max_length=64)]
    """What is asked."""

    @model_validator(mode="after")
    def _each_once(self) -> PrometheusSource:
        names = [query.name for query in self.queries]
        double = next((name for name in names if names.count(name) > 1), None)
        if double is not None:
            raise ValueError(f"queries: {double!r} is the name of two queries; rename one")
        if self.bearer is not None and any(header.lower() == "authorization" for header in self.headers):
            raise ValueError("`bearer` is the header Authorization, which `headers` holds, too; write one of them")
        return self


class Metrics(Frozen):
    """Where a run's gauges come from besides the target's own metrics page, its machine and its cluster."""

    prometheus: PrometheusSource | None = None
    """Queries of a Prometheus server."""

    @property
    def queries(self) -> tuple[str, ...]:
        """The names of the queries."""
        return tuple(query.name for query in self.prometheus.queries) if self.prometheus else ()
