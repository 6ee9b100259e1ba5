"""What a server says it serves, read back over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web
from gateway_rig import upstream

from chaosgate.deploy.subject import read_subject
from chaosgate.errors import DeployError
from chaosgate.model.result import Subject


def server(listing: Any, version: Any = None, status: int = 200) -> Any:
    async def script(request: web.Request) -> web.StreamResponse:
        if request.path == "/v1/models":
            return web.json_response(listing, status=status)
        return web.json_response(version) if version is not None else web.Response(status=404)

    return upstream(script)


async def test_the_embedded_engine_names_weights_and_arguments() -> None:
    own = {"engine": "embedded", "engine_version": "1", "weights_digest": "sha256:w", "arguments": {"seed": 1}}
    async with server({"data": [{"id": "m", "chaosgate": own}]}) as url:
        subject = await read_subject(url, "m")
    assert subject == Subject(
        model="m", engine="embedded", engine_version="1", weights_digest="sha256:w", arguments={"seed": 1}
    )


async def test_vllm_gives_owner_version_and_length() -> None:
    entry = {"id": "m", "owned_by": "vllm", "max_model_len": 4096, "root": "/models/m"}
    async with server({"data": [entry]}, {"version": "0.9"}) as url:
        subject = await read_subject(url, "m")
    assert (subject.engine, subject.engine_version) == ("vllm", "0.9")
    assert subject.arguments == {"max_model_len": 4096, "root": "/models/m"}


async def test_a_model_that_is_not_served_ends_in_the_nearest_one() -> None:
    async with server({"data": [{"id": "llama-8b"}]}) as url:
        with pytest.raises(DeployError) as refused:
            await read_subject(url, "llama-9b")
    assert str(refused.value) == (
        f"{url} does not serve the spec's model: unknown model 'llama-9b'; did you mean 'llama-8b'?"
    )


@pytest.mark.parametrize(
    ("listing", "status", "said"),
    [
        ({}, 500, "answered status 500; an OpenAI-compatible server is needed"),
        ([], 200, "answered no JSON object; an OpenAI-compatible server is needed"),
        ({"data": None}, 200, "does not serve the spec's model: unknown model 'm'; known: none"),
    ],
)
async def test_another_kind_of_server_is_refused(listing: Any, status: int, said: str) -> None:
    async with server(listing, status=status) as url:
        with pytest.raises(DeployError) as refused:
            await read_subject(url, "m")
    assert said in str(refused.value)


async def test_a_redirect_is_not_followed() -> None:
    async def script(request: web.Request) -> web.StreamResponse:
        if request.path == "/elsewhere":
            return web.json_response({"data": [{"id": "m"}]})
        return web.Response(status=307, headers={"Location": "/elsewhere"})

    async with upstream(script) as url:
        with pytest.raises(DeployError) as refused:
            await read_subject(url, "m")
    assert str(refused.value) == (f"{url}/v1/models: answered with a redirect to /elsewhere; name the server itself")


async def test_what_a_server_says_is_one_printable_line() -> None:
    async with server({"data": [{"id": "x\n::add-mask::pass\x1b[2J"}]}) as url:
        with pytest.raises(DeployError) as refused:
            await read_subject(url, "m")
    assert str(refused.value).isprintable()
    entry = {"id": "m", "owned_by": "a\nb", "chaosgate": {"engine_version": 3, "weights_digest": "c\x1bd"}}
    async with server({"data": ["no object", entry]}) as url:
        subject = await read_subject(url, "m")
    assert (subject.engine, subject.engine_version, subject.weights_digest) == ("a b", "3", "c\ufffdd")


@pytest.mark.parametrize("listing", [{"data": 5}, {"data": ["m"]}])
async def test_a_listing_of_another_form_serves_nothing(listing: Any) -> None:
    async with server(listing) as url:
        with pytest.raises(DeployError, match="unknown model 'm'"):
            await read_subject(url, "m")


async def test_a_server_that_is_gone_is_named() -> None:
    async with server({}) as url:
        pass
    with pytest.raises(DeployError) as refused:
        await read_subject(url, "m")
    assert str(refused.value) == f"{url}/v1/models: cannot be read: Connection refused; is the server up?"
