"""The engine's metrics: summed over labels, absent when missing, a reason when out of reach."""

from __future__ import annotations

import asyncio
import socket

import aiohttp
import pytest
from aiohttp import web
from scripted_chat import Serve

from chaosgate.engine.api.metrics import Load, Metrics
from chaosgate.loadgen import gauges
from chaosgate.loadgen.gauges import GaugeReading, parse_metrics, read_gauges

PAGE = """\
# HELP vllm:num_requests_running Requests that hold a slot.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a"} 3.0
vllm:num_requests_running{engine="1",model_name="a {\\"b\\"}"} 2
vllm:num_requests_waiting 4 1700000000000
vllm:generation_tokens_total{model_name="a"} 1.5e3
vllm:kv_cache_usage_perc{model_name="a"} NaN
vllm:prompt_tokens_total{model_name="a"} +Inf
vllm:prompt_tokens_total_created{model_name="a"} 1
process_open_fds 12
"""
READ = {"vllm:num_requests_running": 5.0, "vllm:num_requests_waiting": 4.0, "vllm:generation_tokens_total": 1500.0}


def test_values_are_summed_over_labels_and_what_is_no_number_is_absent() -> None:
    assert parse_metrics(PAGE) == READ


@pytest.mark.parametrize("text", ["", "\n\n", "vllm:num_requests_running", "vllm:num_requests_running {", "<html>"])
def test_text_without_samples_has_no_values(text: str) -> None:
    assert parse_metrics(text) == {}


def test_a_value_that_is_no_number_is_absent() -> None:
    assert parse_metrics('vllm:num_requests_running{model_name="a"} many') == {}


def test_the_embedded_engine_has_them_all() -> None:
    text = Metrics('odd "name"').render(Load(running=2, waiting=1, cache_usage=0.5, preemptions=0))
    assert parse_metrics(text) == {
        "vllm:num_requests_running": 2.0,
        "vllm:num_requests_waiting": 1.0,
        "vllm:kv_cache_usage_perc": 0.5,
        "vllm:generation_tokens_total": 0.0,
        "vllm:prompt_tokens_total": 0.0,
    }


async def read(url: str) -> GaugeReading:
    async with aiohttp.ClientSession() as session:
        return await read_gauges(session, url)


async def test_a_page_is_read(serve: Serve) -> None:
    async def handle(request: web.Request) -> web.Response:
        return web.Response(text=PAGE)

    assert await read(await serve(handle) + "/metrics") == GaugeReading(READ)


async def test_a_page_of_another_engine_is_a_reason(serve: Serve) -> None:
    async def handle(request: web.Request) -> web.Response:
        return web.Response(text="process_open_fds 12\n")

    url = await serve(handle) + "/metrics"
    assert await read(url) == GaugeReading({}, f"{url} has none of {', '.join(gauges.METRICS)}")


async def test_another_status_is_a_reason(serve: Serve) -> None:
    async def handle(request: web.Request) -> web.Response:
        return web.Response(status=404)

    url = await serve(handle) + "/metrics"
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
