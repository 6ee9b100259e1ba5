"""The same load under GuideLLM's names, against what GuideLLM itself makes of it."""

from __future__ import annotations

from typing import Any

import pytest
from export_traces import RUN

from chaosgate.loadgen.exports.guidellm import export

# Computed by guidellm 0.8.1, `GenerativeMetrics.compile`, from request statistics with the times of RUN: by metric and
# status its mean, median, standard deviation, count and 95th percentile.
VECTOR: dict[str, dict[str, list[float]]] = {
    "requests_per_second": {
        "successful": [3.202562, 2.777778, 3.115079, 8, 10.526316],
        "incomplete": [0.40032, 0.0, 0.40032, 1, 0.800641],
        "errored": [0.800641, 0.953289, 1.03682, 2, 3.333333],
        "total": [4.403523, 3.389831, 3.421026, 11, 10.526316],
    },
    "request_concurrency": {
        "successful": [1.267814, 1.0, 0.672529, 8, 2.0],
        "incomplete": [0.10008, 0.0, 0.300107, 1, 1.0],
        "errored": [0.20016, 0.0, 0.40012, 2, 1.0],
        "total": [1.568054, 2.0, 0.624086, 11, 3.0],
    },
    "request_latency": {
        "successful": [0.395875, 0.36, 0.195329, 8, 0.75],
        "incomplete": [0.25, 0.25, 0.0, 1, 0.25],
        "errored": [0.25, 0.1, 0.15, 2, 0.4],
        "total": [0.356091, 0.36, 0.189894, 11, 0.75],
    },
    "prompt_token_count": {
        "successful": [7.0, 6.0, 2.12132, 8, 11.0],
        "incomplete": [0.0, 0.0, 0.0, 1, 0.0],
        "errored": [0.0, 0.0, 0.0, 2, 0.0],
        "total": [5.090909, 6.0, 3.604405, 11, 11.0],
    },
    "output_token_count": {
        "successful": [3.25, 3.0, 2.817357, 8, 10.0],
        "incomplete": [2.0, 2.0, 0.0, 1, 2.0],
        "errored": [1.0, 0.0, 1.0, 2, 2.0],
        "total": [2.727273, 2.0, 2.596883, 11, 10.0],
    },
    "time_to_first_token_ms": {
        "successful": [148.142857, 118.0, 109.74051, 7, 370.0],
        "incomplete": [100.0, 100.0, 0.0, 1, 100.0],
        "errored": [200.0, 200.0, 0.0, 1, 200.0],
        "total": [148.555556, 118.0, 99.613822, 9, 370.0],
    },
    "time_to_first_output_token_ms": {
        "successful": [176.714286, 118.0, 140.879598, 7, 399.0],
        "incomplete": [100.0, 100.0, 0.0, 1, 100.0],
        "errored": [200.0, 200.0, 0.0, 1, 200.0],
        "total": [170.777778, 118.0, 126.946864, 9, 399.0],
    },
    "time_per_output_token_ms": {
        "successful": [90.269231, 55.0, 63.823585, 26, 135.0],
        "incomplete": [100.0, 100.0, 0.0, 2, 100.0],
        "errored": [150.0, 150.0, 0.0, 2, 150.0],
        "total": [94.9, 69.333333, 61.262083, 30, 150.0],
    },
    "inter_token_latency_ms": {
        "successful": [68.947368, 55.555556, 25.809755, 19, 125.0],
        "incomplete": [100.0, 100.0, 0.0, 1, 100.0],
        "errored": [100.0, 100.0, 0.0, 1, 100.0],
        "total": [71.904762, 55.555556, 26.18759, 21, 125.0],
    },
    "prompt_tokens_per_second": {
        "successful": [22.417934, 20.0, 10.454425, 56, 41.509434],
        "incomplete": [0.0, 0.0, 0.0, 0, 0.0],
        "errored": [0.0, 0.0, 0.0, 0, 0.0],
        "total": [22.417934, 24.0, 15.588731, 56, 41.509434],
    },
    "output_tokens_per_second": {
        "successful": [10.408327, 6.451613, 11.329753, 26, 30.0],
        "incomplete": [0.800641, 0.870322, 1.541488, 2, 6.666667],
        "errored": [0.800641, 0.0, 1.343827, 2, 5.0],
        "total": [12.009608, 8.0, 11.550356, 30, 30.0],
    },
    "tokens_per_second": {
        "successful": [32.826261, 26.315789, 31.556097, 82, 120.0],
        "incomplete": [0.800641, 0.870322, 1.541488, 2, 6.666667],
        "errored": [0.800641, 0.0, 1.343827, 2, 5.0],
        "total": [34.427542, 20.0, 36.222802, 86, 120.0],
    },
}


def summarised(found: dict[str, Any]) -> list[float]:
    return [found["mean"], found["median"], found["std_dev"], found["count"], found["percentiles"]["p95"]]


@pytest.fixture(scope="module")
def exported() -> dict[str, Any]:
    return export([each.observation() for each in RUN])


@pytest.mark.parametrize("metric", VECTOR)
def test_every_metric_is_what_guidellm_reports(metric: str, exported: dict[str, Any]) -> None:
    for status, numbers in VECTOR[metric].items():
        assert summarised(exported[metric][status]) == pytest.approx(numbers, rel=1e-4, abs=1e-6), status


def test_requests_are_counted_by_how_they_ended(exported: dict[str, Any]) -> None:
    assert exported["request_totals"] == {"successful": 8, "incomplete": 1, "errored": 2, "total": 11}


def test_all_metrics_are_checked(exported: dict[str, Any]) -> None:
    assert exported.keys() == VECTOR.keys() | {"request_totals"}


def test_an_empty_load_has_zeros() -> None:
    found = export([])
    assert found["request_totals"]["total"] == 0
    assert summarised(found["time_to_first_token_ms"]["total"]) == [0, 0, 0, 0, 0]
