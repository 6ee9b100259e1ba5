from __future__ import annotations

import re

from chaosgate.engine.api.metrics import Load, Metrics

SAMPLE = re.compile(r'(?P<name>[a-z0-9_:]+)\{(?P<labels>(?:[a-z_]+="(?:[^"\\]|\\.)*",?)+)\} (?P<value>[0-9.e+-]+)')


def parse(page: str) -> dict[str, float]:
    """Samples by name and labels other than the model; asserts that every line is in Prometheus' text format."""
    samples = {}
    kinds: dict[str, str] = {}
    for line in page.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            kinds[name] = kind
        elif not line.startswith("# HELP "):
            match = SAMPLE.fullmatch(line)
            assert match, line
            assert 'model_name="' in match["labels"]
            family = re.sub("_(bucket|sum|count)$", "", match["name"])
            assert match["name"] in kinds or kinds[family] == "histogram"
            labels = [label for label in match["labels"].split(",") if not label.startswith("model_name=")]
            samples[f"{match['name']}{{{','.join(labels)}}}"] = float(match["value"])
    return samples


IDLE = Load(0, 0, 0.0, 0)


def test_everything_is_counted_once() -> None:
    metrics = Metrics("m")
    metrics.first_token(prompt_tokens=12, queued=0.01, seconds=0.02)
    metrics.next_token(seconds=0.03)
    metrics.finished("length", seconds=0.4)
    metrics.finished("abort", seconds=9.0)
    samples = parse(metrics.render(Load(1, 2, cache_usage=0.25, preemptions=3, queried=20, found=8)))
    assert {name: value for name, value in samples.items() if "_bucket" not in name} == {
        "vllm:num_requests_running{}": 1,
        "vllm:num_requests_waiting{}": 2,
        "vllm:kv_cache_usage_perc{}": 0.25,
        "vllm:prefix_cache_queries_total{}": 20,
        "vllm:prefix_cache_hits_total{}": 8,
        "vllm:num_preemptions_total{}": 3,
        "vllm:prompt_tokens_total{}": 12,
        "vllm:generation_tokens_total{}": 2,
        'vllm:request_success_total{finished_reason="stop"}': 0,
        'vllm:request_success_total{finished_reason="length"}': 1,
        'vllm:request_success_total{finished_reason="abort"}': 1,
        'vllm:request_success_total{finished_reason="error"}': 0,
        "vllm:time_to_first_token_seconds_sum{}": 0.02,
        "vllm:time_to_first_token_seconds_count{}": 1,
        "vllm:inter_token_latency_seconds_sum{}": 0.03,
        "vllm:inter_token_latency_seconds_count{}": 1,
        "vllm:e2e_request_latency_seconds_sum{}": 0.4,
        "vllm:e2e_request_latency_seconds_count{}": 1,
        "vllm:request_queue_time_seconds_sum{}": 0.01,
        "vllm:request_queue_time_seconds_count{}": 1,
    }


def test_buckets_are_cumulative_and_hold_their_bound() -> None:
    metrics = Metrics("m")
    for seconds in (0.02, 0.021, 5000.0):
        metrics.first_token(1, 0.0, seconds)
    samples = parse(metrics.render(IDLE))
    bucket = "vllm:time_to_first_token_seconds_bucket"
    assert samples[f'{bucket}{{le="0.01"}}'] == 0
    assert samples[f'{bucket}{{le="0.02"}}'] == 1
    assert samples[f'{bucket}{{le="0.04"}}'] == 2
    assert samples[f'{bucket}{{le="2560.0"}}'] == 2
    assert samples[f'{bucket}{{le="+Inf"}}'] == 3


def test_a_model_name_is_escaped() -> None:
    page = Metrics('a"b\\c\n').render(IDLE)
    assert 'model_name="a\\"b\\\\c\\n"' in page
    parse(page)
