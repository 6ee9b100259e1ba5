"""Whatever is sent to the admin port: without the token nothing is told or changed, and never does it break."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest
from gateway_rig import TOKEN, error, gateway, latency
from hypothesis import given, settings
from hypothesis import strategies as st
from yarl import URL

from chaosgate.gateway.server import Gateway

NOWHERE = "http://127.0.0.1:9"
FAULTS = [latency(), error()]

METHODS = st.sampled_from(["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
PARTS = st.sampled_from(
    ["v1", "faults", "slow", "bad", "halt", "timeline", "ledger", "status", "healthz", "metrics", ""]
)
PATHS = st.lists(PARTS | st.text("%./;\\ aé\U0001f4a5", max_size=4), max_size=4).map(
    lambda parts: "/" + "/".join(parts)
)
QUERIES = st.sampled_from(["", "?phase=block1", "?phase=", "?x=1", "?phase=a&phase=b", "?%00", "?token=" + TOKEN])
KNOWN = st.sampled_from(
    [
        {"dose": 0.1, "window": 1, "ttl": 60},
        {"dose": 1e300, "window": 1, "ttl": 60},
        {"reason": "enough"},
        {"event": "started", "phase": "block1"},
    ]
).map(lambda body: json.dumps(body).encode())
TOKENS = st.sampled_from(
    ["", "Bearer", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN} ", f"bearer {TOKEN}", TOKEN, "Basic eDp5"]
)
CALLS = st.lists(st.tuples(METHODS, PATHS, QUERIES, KNOWN | st.binary(max_size=100)), min_size=1, max_size=8)
OPEN_PATHS = ("/healthz", "/metrics")


def state(served: Gateway) -> Any:
    """All that a call could change."""
    run = served.run
    return run.windows.halted, run.windows.active(), run.timeline.events(), run.ledger.lines()


async def send(
    session: aiohttp.ClientSession, served: Gateway, method: str, target: str, body: bytes, token: str
) -> int:
    path, _, query = target.partition("?")
    url = URL(served.admin_url).with_path(path, encoded=False).with_query(query or None)
    headers = {"Authorization": token} if token else {}
    async with session.request(method, url, data=body, headers=headers, allow_redirects=False) as response:
        await response.read()
        return response.status


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(CALLS, TOKENS)
async def test_without_the_token_nothing_is_told_or_changed(
    calls: list[tuple[str, str, str, bytes]], token: str
) -> None:
    async with gateway(NOWHERE, FAULTS) as served, aiohttp.ClientSession() as session:
        served.run.windows.open("slow", 7, 0.2, 600)
        before = state(served)
        for method, path, query, body in calls:
            status = await send(session, served, method, path + query, body, token.strip())
            told = token.strip() == f"Bearer {TOKEN}" or path in OPEN_PATHS
            assert told or status in (400, 401)
            assert status < 500
        assert token.strip() == f"Bearer {TOKEN}" or state(served) == before


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(CALLS)
async def test_with_the_token_no_call_breaks_the_port(calls: list[tuple[str, str, str, bytes]]) -> None:
    async with gateway(NOWHERE, FAULTS) as served, aiohttp.ClientSession() as session:
        for method, path, query, body in calls:
            assert await send(session, served, method, path + query, body, f"Bearer {TOKEN}") < 500
        assert await send(session, served, "GET", "/v1/status", b"", f"Bearer {TOKEN}") == 200
