"""Spans of requests that opted in: whose child they are, what they tell, and that there are no others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from gateway_rig import CHAT, ask, error, gateway, latency, named, settled, upstream
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from chaosgate.gateway import tracing

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = {"traceparent": f"00-{TRACE}-{PARENT}-01"}


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Where the spans of a gateway in this process end up."""
    provider, memory = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    monkeypatch.setattr(tracing, "tracer", lambda: provider.get_tracer("tests"))
    yield memory
    provider.shutdown()


async def span_of(exporter: InMemorySpanExporter, headers: dict[str, str]) -> ReadableSpan:
    """The one span of a request to a gateway with a delay and an error, both on, and with a variant."""
    async with upstream() as url, gateway(url, [latency(), error()], variants={"canary": url}) as served:
        served.run.windows.open("slow", 0, 0.02, 60)
        served.run.windows.open("bad", 0, 1.0, 60)
        await ask(served.url, headers={**named(1), **headers})
        await settled(served)
    (span,) = exporter.get_finished_spans()
    return span


async def test_a_span_tells_the_faults_and_continues_the_trace(exporter: InMemorySpanExporter) -> None:
    span = await span_of(exporter, {**TRACEPARENT, "X-Chaos-Mode": "on,none"})
    assert span.context is not None
    assert span.parent is not None
    assert (f"{span.context.trace_id:032x}", f"{span.parent.span_id:016x}") == (TRACE, PARENT)
    assert (span.kind, span.name) == (SpanKind.SERVER, "chaosgate gateway")
    tags = dict(span.attributes or {})
    assert tags.pop("llm.chaos.ignored")[0].startswith("X-Chaos-Mode: unknown fault 'none'")  # type: ignore[index, union-attr]
    assert tags == {
        "http.request.method": "POST",
        "url.path": CHAT,
        "http.response.status_code": 503,
        "llm.chaos.mode": ("on", "none"),
        "llm.chaos.faults": ("slow", "bad"),
        "llm.chaos.effects": ("delay 0.020 s", "reply 503"),
    }


async def test_a_span_lasts_as_long_as_its_request(exporter: InMemorySpanExporter) -> None:
    span = await span_of(exporter, {"X-Chaos-Mode": "slow"})
    assert span.parent is None
    assert span.start_time is not None
    assert span.end_time is not None
    assert span.end_time - span.start_time >= 0.02e9


async def test_a_span_tells_the_noise_and_the_variant(exporter: InMemorySpanExporter) -> None:
    span = await span_of(exporter, {"baggage": "llm.mesh.gray=canary,llm.mesh.noise=latency:5ms"})
    tags = dict(span.attributes or {})
    assert (tags["llm.mesh.gray"], tags["llm.mesh.noise"]) == ("canary", "latency:5ms")


async def test_a_request_that_asks_for_nothing_has_no_span(exporter: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="not enough values"):
        await span_of(exporter, {**TRACEPARENT, "baggage": "user=1"})


async def test_without_opentelemetry_the_request_is_served_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "INSTALLED", False)
    assert tracing.tracer() is None
    async with upstream() as url, gateway(url) as served:
        assert await ask(served.url, headers={"X-Chaos-Mode": "on"}) == (200, b"{}")


def test_the_tracer_is_that_of_the_process() -> None:
    assert tracing.tracer() is not None
