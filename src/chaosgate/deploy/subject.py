"""Read back what a server really serves, so that a verdict names it and a change during the run is seen."""

from __future__ import annotations

import os
from typing import Any

import aiohttp

from chaosgate.errors import DeployError, one_line
from chaosgate.model.result import Subject
from chaosgate.registry import unknown

TIMEOUT = aiohttp.ClientTimeout(total=10)


async def read_subject(base_url: str, model: str) -> Subject:
    """The subject at an OpenAI-compatible server, from its /v1/models and, where it has one, /version.

    A DeployError when the server cannot be asked or does not serve `model`.
    """
    async with aiohttp.ClientSession(timeout=TIMEOUT) as session:
        listing = await _get(session, f"{base_url}/v1/models")
        entry = _entry(listing, model, base_url)
        version = await _optional(session, f"{base_url}/version")
    own = _mapping(entry.get("chaosgate"))
    return Subject(
        model=model,
        engine=str(own.get("engine") or entry.get("owned_by") or "unknown"),
        engine_version=_text(own.get("engine_version") or version.get("version")),
        weights_digest=_text(own.get("weights_digest")),
        arguments=_mapping(own.get("arguments")) or _arguments(entry),
    )


def _entry(listing: dict[str, Any], model: str, base_url: str) -> dict[str, Any]:
    data = listing.get("data")
    listed = map(_mapping, data if isinstance(data, list) else ())
    entries = {one_line(str(entry.get("id"))): entry for entry in listed}
    if model not in entries:
        raise DeployError(f"{base_url} does not serve the spec's model: {unknown('model', model, entries)}")
    return entries[model]


def _mapping(value: Any) -> dict[str, Any]:
    """`value` where it is a JSON object; a server may send anything."""
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _arguments(entry: dict[str, Any]) -> dict[str, Any]:
    """What an OpenAI-style entry tells of how the model is served; vLLM gives these two."""
    return {key: entry[key] for key in ("max_model_len", "root") if key in entry}


_NEEDED = "an OpenAI-compatible server is needed"
_HINTS = {
    401: "the server wants an API key, which this version does not send",
    403: "the server wants an API key, which this version does not send",
    404: "there is no model list there; the endpoint is the base URL without /v1",
}


async def _get(session: aiohttp.ClientSession, url: str) -> dict[str, Any]:
    try:
        async with session.get(url, allow_redirects=False) as response:
            if 300 <= response.status < 400 and "Location" in response.headers:
                target = one_line(response.headers["Location"])
                raise DeployError(f"{url}: answered with a redirect to {target}; name the server itself")
            if response.status != 200:
                raise DeployError(f"{url}: answered status {response.status}; {_HINTS.get(response.status, _NEEDED)}")
            data = await response.json(content_type=None)
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        raise DeployError(f"{url}: cannot be read: {one_line(_cause(error))}; is the server up?") from error
    if not isinstance(data, dict):
        raise DeployError(f"{url}: answered no JSON object; an OpenAI-compatible server is needed")
    return data


def _cause(error: Exception) -> str:
    """`Connection refused` where the system says why, else the error's own words."""
    if isinstance(error, aiohttp.ClientConnectorError):
        return os.strerror(error.os_error.errno) if error.os_error.errno else str(error.os_error)
    return str(error) or type(error).__name__


async def _optional(session: aiohttp.ClientSession, url: str) -> dict[str, Any]:
    try:
        return await _get(session, url)
    except DeployError:
        return {}
