"""The admin port: faults on and off, halt, timeline, ledger and status, for whoever holds the token."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from aiohttp import web

from chaosgate.gateway.identity import ANONYMOUS
from chaosgate.gateway.payload import (
    MAX_BODY,
    BadPayload,
    EventPayload,
    HaltPayload,
    Payload,
    WindowPayload,
    read_payload,
)
from chaosgate.gateway.state import RunState
from chaosgate.gateway.windows import Conflict
from chaosgate.model.fault import Fault
from chaosgate.prometheus import CONTENT_TYPE
from chaosgate.registry import unknown

OPEN_PATHS = frozenset(("/healthz", "/metrics"))
"""Paths that want no token."""
UNFINISHED_HEADER = "X-Chaosgate-Unfinished"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Model = TypeVar("Model", bound=Payload)


class Refusal(Exception):
    """A call that is refused, with its HTTP status; the text goes to the caller."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Admin:
    """Answers admin calls for one run."""

    def __init__(self, run: RunState, token: str) -> None:
        self._run = run
        self._faults: dict[str, Fault] = {fault.name: fault for fault in run.config.faults}
        self._expected = f"Bearer {token}".encode()

    def application(self) -> web.Application:
        """The aiohttp application for the admin port."""
        application = web.Application(client_max_size=MAX_BODY, middlewares=[_errors_as_json, self._with_token])
        application.add_routes(
            [
                web.get("/healthz", self.health),
                web.get("/metrics", self.metrics),
                web.get("/v1/status", self.status),
                web.get("/v1/faults", self.active),
                web.put("/v1/faults/{name}", self.on),
                web.delete("/v1/faults/{name}", self.off),
                web.post("/v1/halt", self.halt),
                web.get("/v1/timeline", self.timeline),
                web.post("/v1/timeline", self.post),
                web.get("/v1/ledger", self.ledger),
            ]
        )
        return application

    async def health(self, request: web.Request) -> web.Response:
        """Says that the gateway serves."""
        return web.json_response({"status": "ok"})

    async def metrics(self, request: web.Request) -> web.Response:
        """Prometheus text."""
        page = self._run.metrics.render() + self._run.upstreams.render()
        return web.Response(body=page.encode(), headers={"Content-Type": CONTENT_TYPE})

    async def status(self, request: web.Request) -> web.Response:
        """The run, the clock, what was halted, and how many requests came and are under way."""
        run = self._run
        return web.json_response(
            {
                "at": run.clock.now(),
                "run": run.config.run,
                "spec": run.config.spec,
                "halted": run.windows.halted,
                "requests": run.metrics.arrived,
                "unfinished": run.ledger.unfinished(),
                "active": self._active(),
            }
        )

    async def active(self, request: web.Request) -> web.Response:
        """The windows that are on."""
        return web.json_response({"active": self._active()})

    async def on(self, request: web.Request) -> web.Response:
        """Open a window, or renew the one that is on."""
        fault = self._fault(request)
        wanted = await _payload(request, WindowPayload)
        if wanted.dose > fault.max_dose:
            raise Refusal(
                400, f"dose: read {wanted.dose:g}; {fault.kind} allows at most {fault.max_dose:g} (in base units)"
            )
        self._room_in_timeline()
        try:
            at = self._run.windows.open(fault.name, wanted.window, wanted.dose, wanted.ttl)
        except Conflict as conflict:
            raise Refusal(409, str(conflict)) from conflict
        return web.json_response({"at": at})

    async def off(self, request: web.Request) -> web.Response:
        """Close a fault's window; once more gives the same answer, for a fault that never was on `applied` is 0."""
        closed = self._run.windows.close(self._fault(request).name)
        if closed is None:
            return web.json_response({"at": self._run.clock.now(), "applied": 0})
        return web.json_response({"at": closed.off, "applied": closed.applied})

    async def halt(self, request: web.Request) -> web.Response:
        """End every fault and refuse new ones."""
        wanted = await _payload(request, HaltPayload)
        return web.json_response({"at": self._run.windows.halt(wanted.reason)})

    async def post(self, request: web.Request) -> web.Response:
        """Stamp an event and keep it."""
        wanted = await _payload(request, EventPayload)
        if wanted.phase is not None and wanted.phase not in self._run.config.phases:
            raise Refusal(400, f"phase: {unknown('phase', wanted.phase, self._run.config.phases)}")
        if wanted.fault is not None and wanted.fault not in self._faults:
            raise Refusal(400, f"fault: {unknown('fault', wanted.fault, self._faults)}")
        self._room_in_timeline()
        return web.json_response({"at": self._run.timeline.add(**dict(wanted)).at})

    async def timeline(self, request: web.Request) -> web.Response:
        """The events of a phase, or all."""
        events = self._run.timeline.events(self._phase(request))
        return web.json_response({"events": [event.to_json() for event in events]})

    async def ledger(self, request: web.Request) -> web.StreamResponse:
        """The rows of finished requests as NDJSON; a header says how many requests are unfinished."""
        phase = self._phase(request)
        blocks, unfinished = self._run.ledger.blocks(phase), self._run.ledger.unfinished(phase)
        headers = {UNFINISHED_HEADER: str(unfinished), "Content-Type": "application/x-ndjson"}
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        for block in blocks:
            await response.write(block)
        await response.write_eof()
        return response

    def _active(self) -> list[dict[str, Any]]:
        now = self._run.clock.now()
        return [
            {
                "name": window.fault,
                "dose": window.dose,
                "window": window.window,
                "expires_in": max(0.0, window.expires - now),
                "applied": window.applied,
            }
            for window in self._run.windows.active()
        ]

    def _fault(self, request: web.Request) -> Fault:
        name = request.match_info["name"]
        if name not in self._faults:
            raise Refusal(404, unknown("fault", name, self._faults))
        return self._faults[name]

    def _phase(self, request: web.Request) -> str | None:
        if stray := next((key for key in request.query if key != "phase"), None):
            raise Refusal(400, unknown("query key", stray, ["phase"]))
        phase = request.query.get("phase")
        known = [*self._run.config.phases, ANONYMOUS]
        if phase is not None and phase not in known:
            raise Refusal(400, unknown("phase", phase, known))
        return phase

    def _room_in_timeline(self) -> None:
        if self._run.timeline.full:
            self._run.windows.halt("timeline full")
            raise Refusal(507, "timeline full: the run is halted; start another")

    @web.middleware
    async def _with_token(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path not in OPEN_PATHS:
            given = request.headers.get("Authorization", "").encode(errors="surrogateescape")
            if not hmac.compare_digest(given, self._expected):
                raise Refusal(401, "the admin token is missing or wrong; send `Authorization: Bearer <token>`")
        return await handler(request)


@web.middleware
async def _errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except Refusal as refusal:
        return web.json_response({"error": str(refusal)}, status=refusal.status)
    except BadPayload as error:
        return web.json_response({"error": str(error)}, status=400)
    except web.HTTPRequestEntityTooLarge:
        return web.json_response({"error": f"the body is larger than {MAX_BODY} bytes"}, status=413)
    except web.HTTPException as error:
        text = f"{request.method} {request.path}: {error.reason.lower()}"
        allow = {"Allow": error.headers["Allow"]} if "Allow" in error.headers else {}
        return web.json_response({"error": text}, status=error.status, headers=allow)


async def _payload(request: web.Request, model: type[Model]) -> Model:
    return read_payload(await request.read(), model)
