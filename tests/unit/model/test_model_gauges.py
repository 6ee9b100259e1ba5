"""Names of gauges, and where a spec has them read from."""

from __future__ import annotations

from typing import Any

import pytest

from chaosgate.model.gauges import (
    CORE_METRICS,
    ENGINE_METRICS,
    Metrics,
    PrometheusSource,
    known_gauges,
    of_model,
    why_unknown_gauge,
)
from chaosgate.model.validation import validate

QUERY = {"name": "queue", "query": "sum(vllm:num_requests_waiting)"}
SOURCE = {"url": "http://prometheus:9090", "queries": [QUERY]}


@pytest.mark.parametrize(
    "name",
    [
        *known_gauges(["queue"]),
        "gpu:7:celsius",
        "k8s:lost-pod:ready",
        of_model("vllm:num_requests_waiting", 'a"b\\c'),
        'vllm:kv_cache_usage_perc{model_name="llama"}',
    ],
)
def test_a_gauge_that_a_run_may_read_is_known(name: str) -> None:
    assert why_unknown_gauge(name, ["queue"]) is None


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("vllm:num_request_waiting", "vllm:num_requests_waiting"),
        ("vllm:gpu_cache_usage_perc", "vllm:kv_cache_usage_perc"),
        ("prom:queu", "prom:queue"),
        ("host:buddyinfo:largestorder", "host:buddyinfo:largest-order"),
        ("gpu:0:celcius", "gpu:0:celsius"),
    ],
)
def test_another_name_is_refused_with_the_nearest(name: str, near: str) -> None:
    message = why_unknown_gauge(name, ["queue"])
    assert message is not None
    assert f"did you mean {near!r}" in message


def test_queries_that_are_not_known_are_left_to_the_spec() -> None:
    assert why_unknown_gauge("prom:anything", None) is None
    assert why_unknown_gauge("prom:anything", []) is not None


def test_no_metric_is_listed_twice_under_any_name() -> None:
    names = [name for metric in ENGINE_METRICS for name in (metric.name, *metric.older)]
    assert len(names) == len(set(names))
    assert set(CORE_METRICS) <= set(names)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"url": "prometheus:9090"}, "read 'prometheus:9090'; write an http:// or https:// URL without a query"),
        ({"queries": []}, "has 0 entries; at least 1 is needed"),
        ({"queries": [QUERY, QUERY]}, "queries: 'queue' is the name of two queries; rename one"),
        ({"queries": [{"name": "q", "query": " "}]}, "read ' '; write a query in PromQL"),
        ({"every": "100ms"}, "read '100ms'; at least 1s is needed"),
        ({"bearer": {}}, "name one of `env` and `file`"),
        ({"bearer": {"env": "A", "file": "b"}}, "name one of `env` and `file`"),
        ({"bearer": "s3cret"}, "read 's3cret'; write {env: ..., file: ...}"),
        ({"headers": {"X Y": {"env": "A"}}}, "read 'X Y'; write the name of an HTTP header, such as X-Scope-OrgID"),
        (
            {"bearer": {"env": "A"}, "headers": {"authorization": {"env": "A"}}},
            "`bearer` is the header Authorization, which `headers` holds, too; write one of them",
        ),
    ],
)
def test_a_source_that_cannot_be_asked_is_refused(changed: dict[str, Any], message: str) -> None:
    found, problems = validate(PrometheusSource, {**SOURCE, **changed})
    assert found is None
    assert [problem.message for problem in problems] == [message]


def test_the_names_of_the_queries() -> None:
    assert Metrics().queries == ()
    assert Metrics.model_validate({"prometheus": SOURCE}).queries == ("queue",)
