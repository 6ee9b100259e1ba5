"""The server that is to be loaded: its address, its model, and whether it answers; a sentence where it does not."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import aiohttp

from chaosgate.errors import DeployError, UsageError, one_line
from chaosgate.loadgen.client import CHAT_PATH, server_words
from chaosgate.model.uri import why_malformed, without_password

Models = Mapping[str, str | None]
"""The names of models, each with that of the model it is an adapter of, None of one that is none."""
MOST_LISTED = 8
MOST_READ = 1 << 20
"""Bytes of an answer that are read before a load: a server that never ends one must not fill the memory."""
LOOK_UP = 10.0
"""Seconds that the list of models may take."""


@dataclass(frozen=True)
class Server:
    """Where requests go: `url` is without /v1, `headers` has the key."""

    url: str
    model: str
    headers: Mapping[str, str]


class NoServer(DeployError):
    """The server is not there, or does not do what a load needs."""


def base_url(given: str) -> str:
    """The address without /v1 and what may follow it; a UsageError where it is none, without its password."""
    shown = one_line(_shown(given))
    if not given or "://" not in given:
        example = shown or "127.0.0.1:8000"
        raise UsageError(f"{shown or 'URL'}: is no URL; write http://{example} or https://{example}")
    if reason := why_malformed(given):
        raise UsageError(f"{shown}: cannot be read: {reason}")
    parts = urlsplit(given)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{shown}: is no URL of a server; write one such as http://127.0.0.1:8000")
    if parts.query or parts.fragment:
        raise UsageError(
            f"{_shown(given.partition('#')[0].partition('?')[0])}: stands before a query or a fragment, to which no "
            "path can be added; leave it out, and name a key's variable with --api-key-env"
        )
    url = parts._replace(query="", fragment="").geturl().rstrip("/")
    for end in (CHAT_PATH, "/v1/completions", "/v1"):
        url = url.removesuffix(end)
    return url.rstrip("/")


def _shown(given: str) -> str:
    """`given` without a password, which may stand there without a scheme, too."""
    if "://" in given:
        return without_password(given)
    return without_password(f"http://{given}").removeprefix("http://")


def key_headers(name: str | None) -> dict[str, str]:
    """The header with the key of the environment variable `name`; a UsageError where there is no such variable."""
    if name is None:
        return {}
    key = os.environ.get(name, "").strip()
    if not key:
        raise UsageError(f"--api-key-env {name}: the variable is not set; export {name}=... first")
    if not key.isprintable() or not key.isascii():
        raise UsageError(f"--api-key-env {name}: its value cannot stand in a header: it is not printable ASCII")
    return {"Authorization": f"Bearer {key}"}


async def find_server(
    url: str, model: str | None, headers: Mapping[str, str], *, check: bool, patience: float
) -> Server:
    """The server at `url`, its only model where none is named, asked for one token unless `check` is False.

    `patience` is how many seconds that token may take.
    A NoServer says in a sentence what is wrong and what to do.
    """
    async with aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(total=LOOK_UP)) as session:
        known = await _models(session, url) if model is None or check else None
        server = Server(url, model or _only(known, url), headers)
        if check:
            await _check(session, server, known, patience)
    return server


def _only(known: Models | None, url: str) -> str:
    """The only model that is no adapter of another."""
    where = without_password(url)
    if known is None:
        raise NoServer(f"{where}/v1/models: does not list its models; name one with --model")
    own = [name for name, parent in known.items() if parent is None]
    if len(own) != 1:
        raise NoServer(f"{where}: serves {len(own)} models ({listed(own)}); name one with --model")
    return own[0]


def listed(names: Iterable[str]) -> str:
    """The first of `names`, safe to print."""
    return ", ".join(one_line(name) for name in list(names)[:MOST_LISTED]) or "none"


async def _models(session: aiohttp.ClientSession, url: str) -> Models | None:
    """The models that the server lists; None where it has no such list."""
    try:
        async with session.get(f"{url}/v1/models", allow_redirects=False) as response:
            if response.status in (401, 403):
                raise NoServer(_refusal(url, response.status))
            if 300 <= response.status < 400:
                raise NoServer(f"{without_password(url)}/v1/models: {_redirected(response.status)}")
            data = json.loads(await _first(response)) if response.status == 200 else None
            return None if data is None else {str(one["id"]): one.get("parent") for one in data["data"]}
    # First: what a certificate fails with is a ValueError, too.
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise NoServer(connection_words(url, error)) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


async def _first(response: aiohttp.ClientResponse) -> bytes:
    """The first MOST_READ bytes of an answer, or all of it."""
    said = bytearray()
    while len(said) < MOST_READ and (chunk := await response.content.readany()):
        said += chunk
    return bytes(said[:MOST_READ])


async def _check(session: aiohttp.ClientSession, server: Server, known: Models | None, patience: float) -> None:
    """Ask for one token, as the load does."""
    body = {
        "model": server.model,
        "messages": [{"role": "user", "content": "Hi"}],
        "max_tokens": 1,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    limit = aiohttp.ClientTimeout(total=patience)
    try:
        async with session.post(server.url + CHAT_PATH, json=body, timeout=limit, allow_redirects=False) as response:
            said = await _first(response)
            problem = answer_problem(server, response.status, response.content_type, said, known)
    except TimeoutError as error:
        raise NoServer(
            f"{without_password(server.url)}: did not answer one request for one token within {patience:g} s; is it "
            "still loading its model? Wait, write a longer --timeout, or --no-check"
        ) from error
    except (aiohttp.ClientError, OSError) as error:
        raise NoServer(connection_words(server.url, error)) from error
    if problem is not None:
        raise NoServer(problem)


def answer_problem(server: Server, status: int, kind: str, said: bytes, known: Models | None) -> str | None:
    """What is wrong with the answer to a first request, and what to do; None where a load can begin.

    A server that is overloaded or has crashed (429, 5xx) is one that can be measured.
    """
    where = without_password(server.url) + CHAT_PATH
    words = server_words(said)
    if status in (401, 403):
        return _refusal(server.url, status)
    if 300 <= status < 400:
        return f"{where}: {_redirected(status)}"
    if known is not None and server.model not in known and status in (400, 404, 422):
        return (
            f"{where}: does not serve the model {server.model!r} (HTTP {status}: {words}); it serves: {listed(known)}"
        )
    if status in (404, 405):
        return (
            f"{where}: there is nothing (HTTP {status}: {words}); write the server's URL without a path, or up to /v1"
        )
    if 400 <= status < 500 and status != 429:
        return f"{where}: refused a request (HTTP {status}: {words}); mend what it says, or look at its log"
    if status == 200 and b"data:" not in said:
        return (
            f"{where}: answered {kind or 'something'} and no stream, though `stream` was asked for; without a stream "
            "there is no first token to time: switch streaming on at the server or what stands before it"
        )
    return None


def _refusal(url: str, status: int) -> str:
    return (
        f"{without_password(url)}: wants a key (HTTP {status}); put it in an environment variable and name that with "
        "--api-key-env NAME"
    )


def connection_words(url: str, error: BaseException) -> str:
    """Why a server could not be reached, and what to do."""
    where = without_password(url)
    match error:
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
            return (
                f"{where}: TLS failed: {one_line(str(error))}; is it http:// that is meant? A CA of your own is read "
                "from the file that SSL_CERT_FILE names"
            )
        case aiohttp.ClientConnectorDNSError():
            return f"{where}: there is no host of this name; look at the URL"
        case aiohttp.ClientConnectorError():
            reason = error.os_error.strerror or str(error.os_error)
            return f"{where}: cannot be reached: {one_line(reason)}; is the server up, and is this its host and port?"
        case TimeoutError():
            return f"{where}: did not answer within {LOOK_UP:g} s; is this its host and port?"
        case ssl.SSLError() | aiohttp.ClientSSLError():
            return f"{where}: TLS failed: {one_line(str(error))}"
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientPayloadError() | ConnectionError():
            return f"{where}: broke the connection off without an answer; is it {_other(url)} that is meant?"
        case _:
            return f"{where}: gave no HTTP answer: {one_line(str(error))}; is this a server of OpenAI's API?"


def _other(url: str) -> str:
    return "https://" if url.startswith("http://") else "http://"


def _redirected(status: int) -> str:
    return f"answered with a redirect (HTTP {status}); name the server itself"
