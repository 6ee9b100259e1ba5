"""The admin client against a real gateway, and its words for every way in which a call can fail."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp import web
from gateway_rig import TOKEN, ask, gateway, latency, named, raw_upstream, upstream

from chaosgate.errors import GatewayError
from chaosgate.inject.http import GatewayAdmin, read_token
from chaosgate.model.result import SecretRef
from chaosgate.servers import listen


async def test_a_sweep_as_the_client_sees_it() -> None:
    async with upstream() as url, gateway(url, [latency()]) as served, GatewayAdmin(served.admin_url, TOKEN) as admin:
        started = await admin.post("started", phase="block1", detail={"warmup": 1.0})
        on = await admin.on("slow", 0.01, 3, 60.0)
        await ask(served.url, headers=named(1))
        (active,) = await admin.active()
        assert (active.name, active.dose, active.window, active.applied) == ("slow", 0.01, 3, 1)
        assert 0 < active.expires_in <= 60

        off, applied = await admin.off("slow")
        assert started < on < off
        assert (applied, await admin.active()) == (1, [])
        (row,) = await admin.ledger("block1")
        assert (row.request, row.fault, row.window, row.applied) == ("7.block1.1", "slow", 3, True)
        assert await admin.ledger("baseline") == []
        assert [event.event for event in await admin.timeline("block1")] == ["started", "on", "off"]
        assert await admin.timeline("baseline") == []
        assert len(await admin.timeline()) == 3

        assert await admin.halted() is None
        halted = await admin.halt("enough")
        assert halted > off
        status = await admin.status()
        assert (status.run, status.spec, status.halted) == ("run-1", "sha256:abc", "enough")
        assert (status.requests, status.unfinished, status.active) == (1, 0, ())


async def test_a_refusal_carries_the_call_and_the_gateways_words() -> None:
    async with gateway("http://127.0.0.1:9", [latency()]) as served, GatewayAdmin(served.admin_url, TOKEN) as admin:
        with pytest.raises(GatewayError) as refused:
            await admin.on("slo", 0.1, 1, 1)
        assert str(refused.value) == (
            f"PUT {served.admin_url}/v1/faults/slo: refused with 404: unknown fault 'slo'; did you mean 'slow'?"
        )
        with pytest.raises(GatewayError, match=r"refused with 400: phase: unknown phase 'x'; known: baseline, block1$"):
            await admin.post("done", phase="x")


async def test_a_wrong_token_is_refused_and_not_repeated() -> None:
    async with gateway("http://127.0.0.1:9") as served, GatewayAdmin(served.admin_url, "guess") as admin:
        with pytest.raises(GatewayError) as refused:
            await admin.status()
        assert str(refused.value) == (
            f"GET {served.admin_url}/v1/status: refused with 401: "
            "the admin token is missing or wrong; send `Authorization: Bearer <token>`"
        )
        assert "guess" not in str(refused.value)


async def test_a_gateway_that_is_gone_is_named() -> None:
    with listen("127.0.0.1", 0) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    async with GatewayAdmin(url, TOKEN) as admin:
        with pytest.raises(GatewayError) as failed:
            await admin.active()
    assert str(failed.value).startswith(f"GET {url}/v1/faults: no answer: Cannot connect to host 127.0.0.1:")
    assert str(failed.value).endswith("; check the gateway")


async def test_an_answer_that_never_comes_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(request: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        return web.Response()

    monkeypatch.setattr("chaosgate.inject.http.LEDGER_SECONDS", 0.05)
    async with upstream(script) as url, GatewayAdmin(url, TOKEN) as admin:
        with pytest.raises(GatewayError) as failed:
            await admin.ledger("block1")
    assert str(failed.value) == (f"GET {url}/v1/ledger?phase=block1: no answer in time; check that the gateway runs")


async def test_an_answer_that_breaks_off_is_a_failure() -> None:
    async with (
        raw_upstream(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{") as url,
        GatewayAdmin(url, TOKEN) as admin,
    ):
        with pytest.raises(GatewayError, match=r"/v1/ledger: no answer: "):
            await admin.ledger()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<html>", "Invalid JSON: expected value at line 1 column 1"),
        ('{"active": []}', "Field required"),
        ('{"at": NaN}', "Input should be a finite number"),
    ],
)
async def test_an_answer_of_something_else_is_refused(body: str, words: str) -> None:
    async def script(request: web.Request) -> web.StreamResponse:
        return web.Response(text=body)

    async with upstream(script) as url, GatewayAdmin(url, TOKEN) as admin:
        with pytest.raises(GatewayError) as failed:
            await admin.halt("x")
    assert str(failed.value).startswith(f"POST {url}/v1/halt: not an answer of this gateway's version: ")
    assert words in str(failed.value)


async def test_an_error_that_is_no_json_is_quoted() -> None:
    async def script(request: web.Request) -> web.StreamResponse:
        return web.Response(status=503, text="try later")

    async with upstream(script) as url, GatewayAdmin(url + "/", TOKEN) as admin:
        with pytest.raises(GatewayError, match=r"/v1/status: refused with 503: try later$"):
            await admin.status()


def test_a_token_is_read_from_a_file_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text(" secret\n")
    monkeypatch.setenv("GATEWAY_TOKEN", "secret2")

    assert read_token(SecretRef(file=str(tmp_path / "token"))) == "secret"
    assert read_token(SecretRef(env="GATEWAY_TOKEN")) == "secret2"


@pytest.mark.parametrize(
    ("secret", "words"),
    [
        (SecretRef(), "a token is read from one of `file` and `env`; name exactly one"),
        (SecretRef(file="a", env="b"), "a token is read from one of `file` and `env`; name exactly one"),
        (
            SecretRef(env="NO_SUCH_VARIABLE"),
            "environment variable NO_SUCH_VARIABLE: holds no token; put the gateway's admin token there",
        ),
        (SecretRef(file="/none"), "file /none: the token cannot be read: No such file or directory"),
        (SecretRef(file="/dev/null"), "file /dev/null: holds no token; put the gateway's admin token there"),
    ],
)
def test_a_token_that_is_not_there_is_named(secret: SecretRef, words: str) -> None:
    with pytest.raises(GatewayError) as failed:
        read_token(secret)
    assert str(failed.value) == words


async def test_an_answer_is_quoted_in_one_line_and_a_redirect_is_not_followed() -> None:
    async def script(request: web.Request) -> web.StreamResponse:
        if request.path == "/elsewhere":
            return web.json_response({"at": 1.0})
        if request.path == "/v1/halt":
            return web.Response(status=503, text="gone\n::error::\x1b[1m")
        return web.Response(status=307, headers={"Location": "/elsewhere"})

    async with upstream(script) as url, GatewayAdmin(url, TOKEN) as admin:
        with pytest.raises(GatewayError, match=r"refused with 503: gone ::error::\ufffd\[1m$"):
            await admin.halt("x")
        with pytest.raises(GatewayError, match=r"refused with 307: "):
            await admin.post("done", phase="block1")
