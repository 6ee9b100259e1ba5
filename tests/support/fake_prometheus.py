"""A server on loopback with Prometheus' HTTP API for instant queries: real answers, from series that a test sets."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

LOOKBACK = 300.0
"""Seconds for which Prometheus gives the last sample of a series (its default lookback delta)."""
_TIMESTAMP = re.compile(r"timestamp\((?P<inner>.*)\)")
_SELECTOR = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*(\{[^}]*\})?")


@dataclass
class Series:
    """One series: its labels and its last sample; `scraped` on the server's clock."""

    labels: Mapping[str, str]
    value: float
    scraped: float


@dataclass
class FakePrometheus:
    """Answers queries by their text from `series`; any other text is computed, as `computed` says.

    `clock` is the server's wall clock, which need not be ours. `token` is what it wants as `Authorization`.
    """

    clock: Callable[[], float]
    series: dict[str, list[Series]] = field(default_factory=dict)
    computed: dict[str, float] = field(default_factory=dict)
    token: str | None = None
    lookback: bool = True
    """Whether it knows the parameter lookback_delta, which older versions do not."""
    asked: list[dict[str, str]] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """The answer to one request."""
        self.asked.append(dict(request.query))
        if self.token is not None and request.headers.get("Authorization") != self.token:
            return web.Response(status=401, text="Unauthorized\n")
        if request.path != "/api/v1/query":
            return web.Response(status=404, text="404 page not found\n")
        query, now = request.query["query"], float(request.query.get("time", self.clock()))
        if query == "rate(":
            return self._error(
                400, "bad_data", 'invalid parameter "query": 1:6: parse error: unclosed left parenthesis'
            )
        if query == "range[5m]":
            return self._success("matrix", [{"metric": {}, "values": [[now, "1"]]}])
        if query == "scalar":
            return self._success("scalar", [now, "42"])
        delta = float(request.query.get("lookback_delta", "300s").removesuffix("s")) if self.lookback else LOOKBACK
        return self._success("vector", self._vector(query, now, delta))

    def _vector(self, query: str, now: float, lookback: float) -> list[dict[str, Any]]:
        stamped = _TIMESTAMP.fullmatch(query)
        if stamped:
            inner = stamped["inner"]
            if not _SELECTOR.fullmatch(inner):
                return [{"metric": {}, "value": [now, _text(now)]} for _ in self._vector(inner, now, lookback)]
            return [
                {"metric": dict(one.labels), "value": [now, _text(one.scraped)]}
                for one in self._fresh(inner, now, lookback)
            ]
        if query in self.computed:
            return [{"metric": {}, "value": [now, _text(self.computed[query])]}]
        return [
            {"metric": {"__name__": query, **one.labels}, "value": [now, _text(one.value)]}
            for one in self._fresh(query, now, lookback)
        ]

    def _fresh(self, query: str, now: float, lookback: float) -> list[Series]:
        return [one for one in self.series.get(query, []) if 0 <= now - one.scraped <= lookback]

    def _success(self, kind: str, result: Any) -> web.Response:
        return web.json_response({"status": "success", "data": {"resultType": kind, "result": result}})

    def _error(self, status: int, kind: str, text: str) -> web.Response:
        return web.json_response({"status": "error", "errorType": kind, "error": text}, status=status)


def _text(value: float) -> str:
    """A number as Go writes it."""
    if math.isnan(value):
        return "NaN"
    return ("+Inf" if value > 0 else "-Inf") if math.isinf(value) else f"{value:.3f}".rstrip("0").rstrip(".")
