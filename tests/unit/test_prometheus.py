"""Prometheus text, piece by piece."""

from __future__ import annotations

import pytest

from chaosgate.prometheus import Histogram, family, label, sample


def test_a_family_has_help_kind_and_samples() -> None:
    assert family("hits_total", "counter", "Hits.", [sample("hits_total", "", 3)]) == (
        "# HELP hits_total Hits.\n# TYPE hits_total counter\nhits_total 3\n"
    )


def test_buckets_are_cumulative_and_a_bound_counts_as_below_itself() -> None:
    histogram = Histogram((0.1, 1.0))
    for value in (0.1, 0.5, 7.0):
        histogram.observe(value)
    assert histogram.lines("wait", label("model", "m")) == [
        'wait_bucket{model="m",le="0.1"} 1',
        'wait_bucket{model="m",le="1.0"} 2',
        'wait_bucket{model="m",le="+Inf"} 3',
        'wait_sum{model="m"} 7.6',
        'wait_count{model="m"} 3',
    ]


@pytest.mark.parametrize(
    ("value", "written"), [('a"b', r"a\"b"), ("a\\b", r"a\\b"), ("a\nb", r"a\nb"), ("\ud800", "?"), ("ü", "ü")]
)
def test_a_label_is_escaped(value: str, written: str) -> None:
    assert label("model", value) == f'model="{written}"'
