"""The metrics page, word for word where a scraper reads it."""

from __future__ import annotations

from chaosgate.gateway.metrics import MAX_MODELS, Metrics


def test_injections_are_counted_by_kind_and_model() -> None:
    metrics = Metrics()
    for model in ("a", "a", 'b"\\\n', "\ud800"):
        metrics.injected("wire.latency", model)

    page = metrics.render()
    assert 'llm_chaos_injected_total{type="wire.latency",model="a"} 2\n' in page
    assert 'llm_chaos_injected_total{type="wire.latency",model="b\\"\\\\\\n"} 1\n' in page
    assert page.encode()


def test_models_beyond_the_limit_count_as_other() -> None:
    metrics = Metrics()
    for number in range(MAX_MODELS + 3):
        metrics.injected("wire.error", f"m{number}")
    metrics.injected("wire.error", "m0")

    assert 'llm_chaos_injected_total{type="wire.error",model="other"} 3\n' in metrics.render()
    assert 'llm_chaos_injected_total{type="wire.error",model="m0"} 2\n' in metrics.render()


def test_the_histogram_is_cumulative() -> None:
    metrics = Metrics()
    for seconds in (0.0001, 0.002, 5.0):
        metrics.added(seconds)

    page = metrics.render()
    assert 'added_seconds_bucket{le="0.0001"} 1\n' in page
    assert 'added_seconds_bucket{le="0.0025"} 2\n' in page
    assert 'added_seconds_bucket{le="1.0"} 2\n' in page
    assert 'added_seconds_bucket{le="+Inf"} 3\n' in page
    assert "added_seconds_sum 5.0021\n" in page
    assert "added_seconds_count 3\n" in page


def test_codes_are_counted() -> None:
    metrics = Metrics()
    for code in (200, 499, 200):
        metrics.answered(code)

    assert 'requests_total{code="200"} 2\n' in metrics.render()
    assert 'requests_total{code="499"} 1\n' in metrics.render()
