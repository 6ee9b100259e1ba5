"""The admin port: who may call, what each call answers, and the exact words of every refusal."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest
from gateway_rig import TOKEN, ask, cut, error, gateway, latency, named, settled, until, upstream
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chaosgate.gateway.server import Gateway

FAULTS = [latency("slow-wire"), error("bad-wire"), cut("short-stream")]
NOWHERE = "http://127.0.0.1:9"


async def call(
    served: Gateway, method: str, path: str, body: Any = None, token: str | None = TOKEN
) -> tuple[int, dict[str, Any]]:
    """One admin call; status and JSON answer. A body of bytes goes as it is."""
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, served.admin_url + path, data=data, headers=headers) as response,
    ):
        return response.status, await response.json()


async def put(served: Gateway, fault: str, **body: Any) -> tuple[int, dict[str, Any]]:
    """Open a window."""
    return await call(served, "PUT", f"/v1/faults/{fault}", {"dose": 0.1, "window": 1, "ttl": 60, **body})


@pytest.mark.parametrize("token", [None, "wrong", "", TOKEN + "x", "Grüße"])
@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/status"), ("PUT", "/v1/faults/slow-wire"), ("GET", "/no")])
async def test_nothing_is_told_or_done_without_the_token(token: str | None, method: str, path: str) -> None:
    async with gateway(NOWHERE, FAULTS) as served:
        assert await call(served, method, path, token=token) == (
            401,
            {"error": "the admin token is missing or wrong; send `Authorization: Bearer <token>`"},
        )


async def test_health_and_metrics_want_no_token() -> None:
    async with gateway(NOWHERE, FAULTS) as served, aiohttp.ClientSession() as session:
        assert await call(served, "GET", "/healthz", token=None) == (200, {"status": "ok"})
        async with session.get(served.admin_url + "/metrics") as response:
            assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
            assert "# TYPE llm_chaos_injected_total counter" in await response.text()


async def test_a_window_opens_counts_and_closes() -> None:
    async with upstream() as url, gateway(url, FAULTS) as served:
        status, on = await put(served, "slow-wire", dose=0.01, window=4)
        assert status == 200
        for number in range(3):
            await ask(served.url, headers=named(number))
        _, active = await call(served, "GET", "/v1/faults")
        (entry,) = active["active"]
        assert 0 < entry.pop("expires_in") <= 60
        assert entry == {"name": "slow-wire", "dose": 0.01, "window": 4, "applied": 3}

        _, off = await call(served, "DELETE", "/v1/faults/slow-wire")
        assert off["applied"] == 3
        assert off["at"] > on["at"]
        assert await call(served, "DELETE", "/v1/faults/slow-wire") == (200, off)
        assert (await call(served, "GET", "/v1/faults"))[1] == {"active": []}
        _, timeline = await call(served, "GET", "/v1/timeline?phase=block1")
        window = {"phase": "block1", "fault": "slow-wire", "window": 4, "dose": 0.01}
        assert timeline["events"] == [
            {"at": on["at"], "event": "on", "detail": {}, **window},
            {"at": off["at"], "event": "off", "detail": {"why": "removed"}, **window},
        ]


async def test_a_fault_that_never_was_on_can_be_taken_off() -> None:
    async with gateway(NOWHERE, FAULTS) as served:
        status, off = await call(served, "DELETE", "/v1/faults/slow-wire")

        assert (status, off["applied"]) == (200, 0)


async def test_the_same_window_is_renewed_and_another_one_refused() -> None:
    async with gateway(NOWHERE, FAULTS) as served:
        _, first = await put(served, "slow-wire", ttl=1)
        assert await put(served, "slow-wire", ttl=60) == (200, first)
        assert served.run.windows.active()[0].expires > first["at"] + 50
        assert await put(served, "slow-wire", window=2) == (
            409,
            {"error": "fault 'slow-wire' is on as window 1 at dose 0.1; DELETE it before the next"},
        )
        assert len(served.run.timeline.events()) == 1


async def test_a_window_expires_by_itself() -> None:
    async with gateway(NOWHERE, FAULTS) as served:
        await put(served, "slow-wire", ttl=0.02)
        await until(lambda: len(served.run.timeline.events()) == 2)

        on, off = served.run.timeline.events()
        assert (off.event, off.detail) == ("off", {"why": "expired"})
        # libuv counts milliseconds.
        assert off.at - on.at >= 0.019
        assert (await call(served, "GET", "/v1/faults"))[1] == {"active": []}
        assert (await call(served, "DELETE", "/v1/faults/slow-wire"))[1] == {"at": off.at, "applied": 0}


async def test_a_halt_ends_all_and_refuses_what_follows() -> None:
    async with gateway(NOWHERE, FAULTS) as served:
        await call(served, "POST", "/v1/timeline", {"event": "started", "phase": "block1", "detail": {"warmup": 5}})
        for fault in ("slow-wire", "bad-wire"):
            await put(served, fault)
        status, halt = await call(served, "POST", "/v1/halt", {"reason": "error rate 80 %"})
        assert status == 200
        assert await call(served, "POST", "/v1/halt", {"reason": "again"}) == (200, halt)

        assert (await call(served, "GET", "/v1/status"))[1]["halted"] == "error rate 80 %"
        assert (await call(served, "GET", "/v1/faults"))[1] == {"active": []}
        assert await put(served, "slow-wire") == (
            409,
            {"error": "the run is halted (error rate 80 %); no fault goes on until this gateway ends"},
        )
        events = (await call(served, "GET", "/v1/timeline?phase=block1"))[1]["events"]
        assert [(event["event"], event["fault"], event["detail"]) for event in events] == [
            ("started", None, {"warmup": 5}),
            ("on", "slow-wire", {}),
            ("on", "bad-wire", {}),
            ("halt", None, {"reason": "error rate 80 %"}),
            ("off", "slow-wire", {"why": "halted"}),
            ("off", "bad-wire", {"why": "halted"}),
        ]


async def test_status_tells_the_run_and_what_is_under_way() -> None:
    arrived = asyncio.Event()

    async def script(request: Any) -> Any:
        arrived.set()
        await asyncio.Event().wait()

    async with upstream(script) as url, gateway(url, FAULTS) as served:
        waiting = asyncio.ensure_future(ask(served.url, headers=named(1)))
        await arrived.wait()
        _, status = await call(served, "GET", "/v1/status")
        assert status.pop("at") > 0
        assert status == {
            "run": "run-1",
            "spec": "sha256:abc",
            "halted": None,
            "requests": 1,
            "unfinished": 1,
            "active": [],
        }
        waiting.cancel()
        await settled(served)


async def test_the_ledger_has_finished_requests_and_says_how_many_are_not() -> None:
    arrived, go = asyncio.Event(), asyncio.Event()

    async def script(request: Any) -> Any:
        if request.query_string:
            arrived.set()
            await go.wait()
        return aiohttp.web.Response()

    async with (
        upstream(script) as url,
        gateway(url, [latency()]) as served,
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {TOKEN}"}) as session,
    ):
        await ask(served.url, headers=named(1))
        await ask(served.url, headers=named(2, "baseline"))
        waiting = asyncio.ensure_future(session.post(served.url + "/?hold", headers=named(3)))
        await arrived.wait()

        async with session.get(served.admin_url + "/v1/ledger?phase=block1") as response:
            assert response.headers["X-Chaosgate-Unfinished"] == "1"
            assert [json.loads(line)["request"] for line in (await response.text()).splitlines()] == ["7.block1.1"]
        go.set()
        await waiting
        await settled(served)
        async with session.get(served.admin_url + "/v1/ledger") as response:
            assert response.headers["X-Chaosgate-Unfinished"] == "0"
            assert len((await response.text()).splitlines()) == 3


async def test_events_are_stamped_and_filtered_by_phase() -> None:
    async with gateway(NOWHERE, FAULTS) as served:
        stamps = []
        for event in (
            {"event": "started", "phase": "baseline"},
            {
                "event": "proof",
                "phase": "block1",
                "fault": "bad-wire",
                "window": 2,
                "dose": 0.5,
                "detail": {"applied": 3},
            },
            {"event": "subject", "detail": {"model": "tiny"}},
        ):
            stamps.append((await call(served, "POST", "/v1/timeline", event))[1]["at"])

        assert stamps == sorted(stamps)
        assert len((await call(served, "GET", "/v1/timeline"))[1]["events"]) == 3
        assert (await call(served, "GET", "/v1/timeline?phase=block1"))[1]["events"] == [
            {
                "at": stamps[1],
                "event": "proof",
                "phase": "block1",
                "fault": "bad-wire",
                "window": 2,
                "dose": 0.5,
                "detail": {"applied": 3},
            }
        ]


async def test_a_full_timeline_halts_the_run() -> None:
    async with gateway(NOWHERE, FAULTS, limits={"max_events": 2}) as served:
        await put(served, "slow-wire")
        await put(served, "bad-wire")
        full = (507, {"error": "timeline full: the run is halted; start another"})
        assert await put(served, "short-stream") == full
        assert await call(served, "POST", "/v1/timeline", {"event": "done", "phase": "block1"}) == full
        assert served.run.windows.halted == "timeline full"
        assert [event.event for event in served.run.timeline.events()] == ["on", "on", "halt", "off", "off"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "words"),
    [
        ("PUT", "/v1/faults/slow-wir", {}, 404, "unknown fault 'slow-wir'; did you mean 'slow-wire'?"),
        ("DELETE", "/v1/faults/x", None, 404, "unknown fault 'x'; known: bad-wire, short-stream, slow-wire"),
        ("PUT", "/v1/faults/slow-wire", {}, 400, "dose: is missing; window: is missing; ttl: is missing"),
        (
            "PUT",
            "/v1/faults/slow-wire",
            {"dose": -1, "window": 0, "ttl": 1},
            400,
            "dose: read -1; input should be greater than or equal to 0",
        ),
        (
            "PUT",
            "/v1/faults/slow-wire",
            {"dose": 61, "window": 0, "ttl": 1},
            400,
            "dose: read 61; wire.latency allows at most 60 (in base units)",
        ),
        (
            "PUT",
            "/v1/faults/slow-wire",
            {"dose": 1, "window": 0, "ttl": 0},
            400,
            "ttl: read 0; input should be greater than 0",
        ),
        (
            "PUT",
            "/v1/faults/slow-wire",
            {"dose": 1, "window": 0, "ttl": 3601},
            400,
            "ttl: read 3601; input should be less than or equal to 3600",
        ),
        (
            "PUT",
            "/v1/faults/slow-wire",
            {"dose": "1", "window": True, "ttl": 1},
            400,
            "dose: read '1'; input should be a valid number; window: read True; input should be a valid integer",
        ),
        (
            "PUT",
            "/v1/faults/slow-wire",
            {"dos": 1, "dose": 1, "window": 0, "ttl": 1},
            400,
            "unknown key 'dos'; did you mean 'dose'?",
        ),
        ("PUT", "/v1/faults/slow-wire", b'{"dose": NaN}', 400, "the body is no JSON object: NaN is no number"),
        (
            *("PUT", "/v1/faults/slow-wire", b'{"dose": 1e999}', 400),
            "the body is no JSON object: 1e999 is too large for a number",
        ),
        ("POST", "/v1/halt", [1], 400, "the body is a JSON list; an object is needed"),
        ("POST", "/v1/halt", {"reason": ""}, 400, "reason: read ''; string should have at least 1 character"),
        (
            "POST",
            "/v1/timeline",
            {"event": "on"},
            400,
            "event: read 'on'; input should be 'started', 'done', 'subject', 'proof' or 'injected'",
        ),
        (
            "POST",
            "/v1/timeline",
            {"event": "done", "phase": "blok1"},
            400,
            "phase: unknown phase 'blok1'; did you mean 'block1'?",
        ),
        (
            "POST",
            "/v1/timeline",
            {"event": "done", "fault": "slow"},
            400,
            "fault: unknown fault 'slow'; did you mean 'slow-wire'?",
        ),
        (
            "POST",
            "/v1/timeline",
            b'{"event": "done", "detail": {"a": ' + b"[" * 20 + b"]" * 20 + b"}}",
            400,
            "the body is nested more than 16 levels deep",
        ),
        (
            "POST",
            "/v1/timeline",
            b'{"event": "done", "detail": {"a": "\\ud800"}}',
            400,
            "the body has half of a surrogate pair in a text; write whole characters",
        ),
        ("POST", "/v1/halt", b"x" * 70_000, 413, "the body is larger than 65536 bytes"),
        ("GET", "/v1/timeline?phase=blok1", None, 400, "unknown phase 'blok1'; did you mean 'block1'?"),
        ("GET", "/v1/ledger?phse=block1", None, 400, "unknown query key 'phse'; did you mean 'phase'?"),
        ("GET", "/v1/nothing", None, 404, "GET /v1/nothing: not found"),
        ("POST", "/v1/status", None, 405, "POST /v1/status: method not allowed"),
    ],
)
async def test_bad_calls_are_refused_in_words(method: str, path: str, body: Any, status: int, words: str) -> None:
    async with gateway(NOWHERE, FAULTS) as served:
        assert await call(served, method, path, body) == (status, {"error": words})
        assert served.run.timeline.events() == []


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
_BODIES = st.fixed_dictionaries(
    {},
    optional={
        "dose": _JSON,
        "window": _JSON,
        "ttl": _JSON,
        "reason": _JSON,
        "event": st.sampled_from(["started", "on", 1]),
        "phase": st.sampled_from(["block1", "x", None]),
        "detail": _JSON,
        "x": _JSON,
    },
).map(lambda data: json.dumps(data).encode())


@pytest.mark.thorough
@settings(max_examples=60)
@given(st.lists(_BODIES | st.binary(max_size=200), min_size=1, max_size=5))
@example([b"[" * 60_000])
@example([b'{"event": "done", "detail": {"n": ' + b"9" * 60_000 + b"}}"])
@example([b'{"event": "done", "detail": {"n": ' + b"9" * 4000 + b"}}"])
@example([b'{"event": "done", "detail": {"\\udc00": "\\u0000"}}'])
async def test_no_body_breaks_the_admin_port(bodies: list[bytes]) -> None:
    async with gateway(NOWHERE, FAULTS) as served:
        for body in bodies:
            for method, path in (
                ("PUT", "/v1/faults/slow-wire"),
                ("POST", "/v1/timeline"),
                ("POST", "/v1/halt"),
            ):
                status, answer = await call(served, method, path, body)
                assert status in (200, 400, 409)
                assert ("error" in answer) == (status != 200)
        assert (await call(served, "GET", "/v1/timeline"))[0] == 200
