"""Values from Prometheus: whatever its clock says, and a reason for everything that is no one number."""

from __future__ import annotations

import math
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from fake_prometheus import FakePrometheus, Series
from scripted_chat import Handler, Serve

from chaosgate.errors import GaugeError
from chaosgate.loadgen.prometheus_query import Answer, PrometheusClient
from chaosgate.model.gauges import PrometheusSource

NOW = 1_700_000_000.0
Ask = Callable[..., Any]


@pytest.fixture
def fake() -> FakePrometheus:
    return FakePrometheus(
        clock=lambda: NOW,
        series={
            "queue": [Series({"pod": "a"}, 12.5, NOW - 7)],
            "both": [Series({"pod": "a"}, 1, NOW), Series({"pod": "b"}, 2, NOW)],
            "old": [Series({}, 3, NOW - 100)],
            "gone": [Series({}, 3, NOW - 400)],
            "nan": [Series({}, math.nan, NOW - 1)],
        },
        computed={"sum(queue)": 7.0, "0/0": math.nan, "1/0": math.inf},
    )


@pytest.fixture
async def ask(serve: Serve) -> AsyncIterator[Ask]:
    """Asks a handler's server one query, as `more` of the source says."""
    async with aiohttp.ClientSession() as session:

        async def one(handler: Handler, query: str, **more: Any) -> Answer:
            source = {"url": await serve(handler) + "/", "queries": [{"name": "q", "query": query}], **more}
            return await PrometheusClient(session, PrometheusSource.model_validate(source)).ask(query)

        yield one


@pytest.mark.parametrize("offset", [0.0, 3600.0, -86_400.0])
async def test_the_age_of_a_sample_is_the_same_whatever_the_servers_clock_says(
    ask: Ask, fake: FakePrometheus, offset: float
) -> None:
    fake.clock = lambda: NOW + offset
    fake.series["queue"] = [Series({}, 12.5, NOW + offset - 7)]
    assert await ask(fake.handle, "queue") == Answer(12.5, age=7.0, sampled=NOW + offset - 7)


async def test_no_time_of_ours_is_sent(ask: Ask, fake: FakePrometheus) -> None:
    await ask(fake.handle, "queue")
    assert [asked.get("time") for asked in fake.asked] == [None, f"{NOW:.3f}"]


async def test_what_is_computed_is_of_now(ask: Ask, fake: FakePrometheus) -> None:
    assert await ask(fake.handle, "sum(queue)") == Answer(7.0)


async def test_a_scalar_is_a_number(ask: Ask, fake: FakePrometheus) -> None:
    assert await ask(fake.handle, "scalar") == Answer(42.0)
    assert len(fake.asked) == 1


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("both", "it gives several series; take their sum or max, or choose one by its labels"),
        ("nothing", "it gives no series: nothing by these names and labels was scraped of late"),
        ("gone", "it gives no series: nothing by these names and labels was scraped of late"),
        ("nan", "it gives NaN, which is no number"),
        ("0/0", "it gives NaN, which is no number"),
        ("1/0", "it gives +Inf, which is no number"),
        ("range[5m]", "it gives a matrix; a query that gives one number now is needed"),
        (
            "rate(",
            'the server refuses it: bad_data: invalid parameter "query": 1:6: parse error: unclosed left parenthesis',
        ),
    ],
)
async def test_what_is_no_one_number_is_a_reason(ask: Ask, fake: FakePrometheus, query: str, reason: str) -> None:
    assert await ask(fake.handle, query) == Answer(None, reason=reason)


async def test_a_sample_that_is_too_old_is_not_given(ask: Ask, fake: FakePrometheus) -> None:
    answer = await ask(fake.handle, "old", stale="60s")
    assert answer == Answer(None, reason="it gives no series: nothing by these names and labels was scraped of late")
    assert (await ask(fake.handle, "old", stale="120s")).value == 3


async def test_a_server_that_looks_back_five_minutes_gives_no_old_sample_either(ask: Ask, fake: FakePrometheus) -> None:
    fake.lookback = False
    answer = await ask(fake.handle, "old", stale="60s")
    assert answer == Answer(None, reason="its last sample is older than 60 s: is its target scraped?")


async def test_a_native_histogram_has_no_number(ask: Ask) -> None:
    async def handle(request: web.Request) -> web.Response:
        result = [{"metric": {}, "histogram": [NOW, {"count": "3", "sum": "1"}]}]
        return web.json_response({"status": "success", "data": {"resultType": "vector", "result": result}})

    answer = await ask(handle, "h")
    assert answer.reason == "it gives no number; of a native histogram take histogram_quantile or _sum"


async def test_secrets_are_found_by_reference(
    ask: Ask, fake: FakePrometheus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.token = "Bearer s3cret"
    (tmp_path / "token").write_text("s3cret\n")
    monkeypatch.setenv("PROM_HEADER", "Bearer s3cret")
    assert (await ask(fake.handle, "queue", bearer={"file": str(tmp_path / "token")})).value == 12.5
    assert (await ask(fake.handle, "queue", headers={"Authorization": {"env": "PROM_HEADER"}})).value == 12.5


async def test_a_refused_secret_is_not_repeated(
    ask: Ask, fake: FakePrometheus, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.token = "Bearer right"
    monkeypatch.setenv("PROM_TOKEN", "wr0ng")
    with pytest.raises(
        GaugeError, match=r"refuses the credentials \(HTTP status 401\); look at spec.metrics"
    ) as raised:
        await ask(fake.handle, "queue", bearer={"env": "PROM_TOKEN"})
    assert "wr0ng" not in str(raised.value)


@pytest.mark.parametrize(
    ("bearer", "words"),
    [
        ({"env": "NO_SUCH"}, "from environment variable NO_SUCH: it is not there"),
        ({"file": "/no/such"}, "from file /no/such: it is not there"),
        ({"env": "EMPTY"}, "from environment variable EMPTY: one line of text is needed"),
        ({"env": "LINES"}, "from environment variable LINES: one line of text is needed"),
    ],
)
async def test_a_secret_that_is_not_there_is_named_by_its_place(
    ask: Ask, fake: FakePrometheus, monkeypatch: pytest.MonkeyPatch, bearer: dict[str, str], words: str
) -> None:
    monkeypatch.setenv("EMPTY", " ")
    monkeypatch.setenv("LINES", "a\nb")
    with pytest.raises(GaugeError, match=words):
        await ask(fake.handle, "queue", bearer=bearer)
    assert fake.asked == []


@pytest.mark.parametrize(
    ("status", "text", "words"),
    [
        (200, "<html>Log in</html>", "does not answer as Prometheus does \\(HTTP status 200\\)"),
        (502, "Bad Gateway", "does not answer as Prometheus does \\(HTTP status 502\\)"),
        (404, "404 page not found", "does not answer as Prometheus does \\(HTTP status 404\\)"),
        (200, "[1]", "does not answer as Prometheus does"),
        (302, "", "answered with a redirect; name the server itself"),
        (403, "Forbidden", "refuses the credentials \\(HTTP status 403\\)"),
    ],
)
async def test_what_is_no_prometheus_is_an_error(ask: Ask, status: int, text: str, words: str) -> None:
    async def handle(request: web.Request) -> web.Response:
        return web.Response(status=status, text=text, headers={"Location": "/login"} if status == 302 else {})

    with pytest.raises(GaugeError, match=words):
        await ask(handle, "queue")


async def test_a_server_out_of_reach_is_an_error() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        source = PrometheusSource.model_validate({"url": url, "queries": [{"name": "q", "query": "up"}]})
        async with aiohttp.ClientSession() as session:
            with pytest.raises(GaugeError, match=f"{url} cannot be read: Cannot connect to host"):
                await PrometheusClient(session, source).ask("up")
