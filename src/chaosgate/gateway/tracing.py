"""Spans of requests that opted in, so that a trace shows which faults they met. Needs the extra `tracing`.

A span goes wherever the process's OpenTelemetry sends it; without the extra, or a provider, nothing happens. It holds
no prompt and no header but the opt-in's own. The headers that go upstream are not changed: there the client's span
stays the parent.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from aiohttp import web

from chaosgate.gateway.ledger import Touch, plain
from chaosgate.gateway.wishes import Wishes, injected_by, noted
from chaosgate.model.opt_in import NOISE_KEY, VARIANT_KEY

try:
    from opentelemetry import trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError:
    INSTALLED = False
else:
    INSTALLED = True

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

NAME = "chaosgate gateway"
FAULTS, EFFECTS, IGNORED, MODE = "llm.chaos.faults", "llm.chaos.effects", "llm.chaos.ignored", "llm.chaos.mode"

MAX_NAMES = 64
"""Names of `X-Chaos-Mode` that a span holds."""

Tags = dict[str, str | int | list[str]]


def tracer() -> Tracer | None:
    """The process's tracer; None where OpenTelemetry is not installed."""
    return trace.get_tracer("chaosgate.gateway") if INSTALLED else None


def trace_request(request: web.BaseRequest, status: int, seconds: float) -> None:
    """Record the span of a request that opted in: it took `seconds`, ends now, and continues its `traceparent`."""
    wishes, touches = noted(request)
    used = tracer() if wishes.opted else None
    if used is None:
        return
    end = time.time_ns()
    span = used.start_span(
        NAME,
        context=TraceContextTextMapPropagator().extract({key.lower(): text for key, text in request.headers.items()}),
        kind=trace.SpanKind.SERVER,
        attributes=_tags(request, status, wishes, touches),
        start_time=end - round(seconds * 1e9),
    )
    span.end(end)


def _tags(request: web.BaseRequest, status: int, wishes: Wishes, touches: tuple[Touch, ...]) -> Tags:
    """The attributes of a span: those of HTTP by their names in OpenTelemetry's semantic conventions."""
    met = list(injected_by(touches, passed=False))
    tags: Tags = {"http.request.method": request.method, "url.path": request.path, "http.response.status_code": status}
    tags |= {FAULTS: [touch.fault for touch, _ in met], EFFECTS: [plain(effect) for _, effect in met]}
    tags |= {IGNORED: list(wishes.ignored), MODE: [plain(name) for name in wishes.mode[:MAX_NAMES]]}
    named = {NOISE_KEY: wishes.noise, VARIANT_KEY: wishes.variant}
    return tags | {key: text for key, text in named.items() if text is not None}
