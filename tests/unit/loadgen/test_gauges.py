"""The engine's metrics: one value each whatever the labels and the version, and a reason when out of reach."""

from __future__ import annotations

import asyncio
import socket

import aiohttp
import pytest
from aiohttp import web
from scripted_chat import Handler, Serve

from chaosgate.engine.api.metrics import Load, Metrics
from chaosgate.loadgen import gauges
from chaosgate.loadgen.gauges import GaugeReading, parse_metrics, read_gauges
from chaosgate.model.gauges import CORE_METRICS, ENGINE_METRICS, of_model

PAGE = """\
# HELP vllm:num_requests_running Requests that hold a slot.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a"} 3.0
vllm:num_requests_running{engine="1",model_name="a"} 2
vllm:num_requests_waiting 4 1700000000000
vllm:generation_tokens_total{model_name="a"} 1.5e3
vllm:kv_cache_usage_perc{model_name="a"} NaN
vllm:kv_cache_usage_perc{model_name="a",engine="1"} 0.25
vllm:prompt_tokens_total{model_name="a"} +Inf
vllm:prompt_tokens_total_created{model_name="a"} 1
process_open_fds 12
"""
READ = {
    "vllm:num_requests_running": 5.0,
    "vllm:num_requests_waiting": 4.0,
    "vllm:generation_tokens_total": 1500.0,
    "vllm:kv_cache_usage_perc": 0.25,
}


def test_values_are_summed_over_labels_and_what_is_no_number_is_absent() -> None:
    assert parse_metrics(PAGE) == READ


@pytest.mark.parametrize("text", ["", "\n\n", "vllm:num_requests_running", "vllm:num_requests_running {", "<html>"])
def test_text_without_samples_has_no_values(text: str) -> None:
    assert parse_metrics(text) == {}


def test_a_value_that_is_no_number_is_absent() -> None:
    assert parse_metrics('vllm:num_requests_running{model_name="a"} many') == {}


def test_two_engines_with_half_a_cache_each_are_not_full() -> None:
    page = 'vllm:kv_cache_usage_perc{engine="0"} 0.4\nvllm:kv_cache_usage_perc{engine="1"} 0.45\n'
    assert parse_metrics(page) == {"vllm:kv_cache_usage_perc": 0.45}


def test_models_that_share_a_server_have_a_gauge_each_and_one_together() -> None:
    odd = 'a{"b"}, c\\d'
    page = (
        'vllm:num_requests_waiting{engine="0",model_name="llama"} 3\n'
        'vllm:num_requests_waiting{engine="1",model_name="llama"} 4\n'
        'vllm:num_requests_waiting{model_name="a{\\"b\\"}, c\\\\d",engine="0"} 5\n'
    )
    assert parse_metrics(page) == {
        "vllm:num_requests_waiting": 12.0,
        'vllm:num_requests_waiting{model_name="llama"}': 7.0,
        of_model("vllm:num_requests_waiting", odd): 5.0,
    }


def test_a_label_whose_name_only_ends_like_the_models_is_another() -> None:
    page = 'vllm:num_requests_waiting{base_model_name="x"} 1\nvllm:num_requests_waiting{base_model_name="y"} 2\n'
    assert parse_metrics(page) == {"vllm:num_requests_waiting": 3.0}


RENAMED = [(metric.name, older) for metric in ENGINE_METRICS for older in metric.older]


@pytest.mark.parametrize(("name", "older"), RENAMED)
def test_an_older_version_is_read_under_the_present_name(name: str, older: str) -> None:
    assert parse_metrics(f'{older}{{model_name="a"}} 0.5\n') == {name: 0.5}


@pytest.mark.parametrize(("name", "older"), RENAMED)
def test_a_version_with_both_names_counts_once(name: str, older: str) -> None:
    assert parse_metrics(f"{older} 0.5\n{name} 0.5\n") == {name: 0.5}


def test_a_histogram_is_its_sum_and_its_count() -> None:
    page = (
        'vllm:time_to_first_token_seconds_bucket{le="0.1"} 3\nvllm:time_to_first_token_seconds_bucket{le="+Inf"} 4\n'
        "vllm:time_to_first_token_seconds_sum 0.9\nvllm:time_to_first_token_seconds_count 4\n"
        "vllm:time_to_first_token_seconds_created 1.7e9\n"
    )
    assert parse_metrics(page) == {
        "vllm:time_to_first_token_seconds_sum": 0.9,
        "vllm:time_to_first_token_seconds_count": 4.0,
    }


def test_the_embedded_engine_has_what_a_person_would_look_for() -> None:
    page = Metrics('odd "name"').render(
        Load(running=2, waiting=1, cache_usage=0.5, preemptions=3, queried=40, found=10)
    )
    read = parse_metrics(page)
    assert {name: read[name] for name in (*CORE_METRICS, "vllm:num_preemptions_total")} == {
        "vllm:num_requests_running": 2.0,
        "vllm:num_requests_waiting": 1.0,
        "vllm:kv_cache_usage_perc": 0.5,
        "vllm:num_preemptions_total": 3.0,
    }
    assert (read["vllm:prefix_cache_queries_total"], read["vllm:prefix_cache_hits_total"]) == (40.0, 10.0)
    assert {"vllm:time_to_first_token_seconds_count", "vllm:inter_token_latency_seconds_sum"} <= read.keys()


async def read(url: str) -> GaugeReading:
    async with aiohttp.ClientSession() as session:
        return await read_gauges(session, url)


def page_of(text: str, status: int = 200) -> Handler:
    async def handle(request: web.Request) -> web.Response:
        return web.Response(text=text, status=status)

    return handle


async def test_a_page_is_read(serve: Serve) -> None:
    assert await read(await serve(page_of(PAGE)) + "/metrics") == GaugeReading(READ)


async def test_a_page_of_another_engine_is_a_reason(serve: Serve) -> None:
    url = await serve(page_of("process_open_fds 12\n")) + "/metrics"
    assert await read(url) == GaugeReading({}, f"{url} has none of vLLM's metrics, such as vllm:num_requests_running")


async def test_a_page_that_lacks_some_says_which(serve: Serve) -> None:
    url = await serve(page_of("vllm:num_requests_running 1\n")) + "/metrics"
    reason = f"{url} has no vllm:num_requests_waiting, vllm:kv_cache_usage_perc"
    assert await read(url) == GaugeReading({"vllm:num_requests_running": 1.0}, reason)


async def test_another_status_is_a_reason(serve: Serve) -> None:
    url = await serve(page_of("", status=404)) + "/metrics"
    assert await read(url) == GaugeReading({}, f"{url} answered with HTTP status 404")


async def test_a_redirect_is_not_followed(serve: Serve) -> None:
    async def handle(request: web.Request) -> web.Response:
        if request.path == "/elsewhere":
            return web.Response(text=PAGE)
        return web.Response(status=302, headers={"Location": "/elsewhere"})

    url = await serve(handle) + "/metrics"
    assert await read(url) == GaugeReading({}, f"{url} answered with a redirect to /elsewhere; name the server itself")


async def test_an_engine_out_of_reach_is_a_reason() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/metrics"
        reading = await read(url)
    assert reading.values == {}
    assert reading.reason is not None
    assert reading.reason.startswith(f"{url} cannot be read: Cannot connect to host")


async def test_an_engine_that_does_not_answer_is_a_reason(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    async def handle(request: web.Request) -> web.Response:
        await request.read()
        await never.wait()
        return web.Response()

    never = asyncio.Event()
    monkeypatch.setattr(gauges, "TIMEOUT", 0.1)
    url = await serve(handle) + "/metrics"
    reading = await read(url)
    never.set()
    assert reading == GaugeReading({}, f"{url} did not answer within 0.1 s")
