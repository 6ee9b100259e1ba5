"""Values of a Prometheus server by its HTTP API, each with its age: its wall clock is never held against ours."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from chaosgate.errors import GaugeError, one_line
from chaosgate.model.gauges import Credential, PrometheusSource

TIMEOUT = 5.0
"""Seconds to wait for an answer."""
_STALE_CLOCK = 1e-3
"""Prometheus keeps times in whole milliseconds."""


@dataclass(frozen=True)
class Answer:
    """What a query gives: its value, or the reason why there is none.

    `age`: seconds from the scrape of the sample to the evaluation of the query, both by the server's clock; 0 for what
    is computed, such as a rate, of which Prometheus does not tell. `sampled` is the time of the scrape on that clock,
    by which two answers from one sample are told; None for what is computed.
    """

    value: float | None
    age: float = 0.0
    sampled: float | None = None
    reason: str | None = None


class PrometheusClient:
    """Asks one server. What is wrong with a query is the reason of its answer, with the server a GaugeError."""

    def __init__(self, session: aiohttp.ClientSession, source: PrometheusSource) -> None:
        self._session, self._source = session, source
        self._url = f"{source.url.rstrip('/')}/api/v1/query"

    async def ask(self, query: str) -> Answer:
        """The value of `query` now, by the server's clock: no time of ours is sent, which another clock would misread.

        A GaugeError where the server cannot be reached, wants other credentials or is none.
        """
        found = await self._evaluate({"query": query})
        answer, evaluated = _one_value(found)
        if evaluated is None or found.get("resultType") != "vector":
            return answer
        return self._aged(answer, evaluated, await self._sampled(query, evaluated))

    async def _sampled(self, query: str, evaluated: float) -> float | None:
        """When the sample behind `query` was scraped, None for what is computed: `timestamp` then gives `evaluated`."""
        stamp, _ = _one_value(await self._evaluate({"query": f"timestamp({query})", "time": f"{evaluated:.3f}"}))
        computed = stamp.value is None or abs(stamp.value - evaluated) <= _STALE_CLOCK
        return None if computed else stamp.value

    def _aged(self, answer: Answer, evaluated: float, sampled: float | None) -> Answer:
        if sampled is None:
            return answer
        age = max(0.0, evaluated - sampled)
        if age > self._source.stale:
            return Answer(
                None, reason=f"its last sample is older than {self._source.stale:g} s: is its target scraped?"
            )
        return Answer(answer.value, age, sampled)

    async def _evaluate(self, parameters: Mapping[str, str]) -> dict[str, Any]:
        """The `data` of an answer; of a query that the server refuses `refused`, in its words."""
        # Servers that do not know lookback_delta ignore it; what they then give may be five minutes old.
        sent = {**parameters, "lookback_delta": f"{self._source.stale:g}s", "timeout": f"{TIMEOUT:g}s"}
        try:
            async with self._session.get(
                self._url,
                params=sent,
                headers=headers(self._source),
                timeout=aiohttp.ClientTimeout(total=TIMEOUT),
                allow_redirects=False,
            ) as response:
                return self._data(response.status, await response.read())
        except TimeoutError as error:
            raise GaugeError(f"{self._source.url} did not answer within {TIMEOUT:g} s") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise GaugeError(f"{self._source.url} cannot be read: {one_line(str(error))}") from error

    def _data(self, status: int, body: bytes) -> dict[str, Any]:
        if status in (401, 403):
            raise GaugeError(
                f"{self._source.url} refuses the credentials (HTTP status {status}); look at "
                "spec.metrics.prometheus.bearer and headers, and at who may read the server"
            )
        if 300 <= status < 400:
            raise GaugeError(f"{self._source.url} answered with a redirect; name the server itself")
        answer = _parsed(body)
        # A query that is wrong is answered with 400 or 422, one that takes too long with 503, and a reason in JSON.
        if answer.get("status") == "error":
            said = f"{answer.get('errorType')}: {answer.get('error')}"
            return {"refused": one_line(said)}
        data = answer.get("data")
        if status != 200 or not isinstance(data, dict):
            raise GaugeError(f"{self._source.url} does not answer as Prometheus does (HTTP status {status})")
        return data


def headers(source: PrometheusSource) -> dict[str, str]:
    """The headers of a request; a GaugeError names the variable or the file that holds no secret."""
    found = {name: secret(credential) for name, credential in source.headers.items()}
    if source.bearer is not None:
        found["Authorization"] = f"Bearer {secret(source.bearer)}"
    return found


def secret(credential: Credential) -> str:
    """What stands in the variable or the file, which may change while a run goes on: tokens are renewed."""
    where = f"environment variable {credential.env}" if credential.env else f"file {credential.file}"
    try:
        text = os.environ[credential.env] if credential.env else Path(str(credential.file)).read_text(encoding="utf-8")
    except (KeyError, OSError, UnicodeDecodeError) as error:
        raise GaugeError(f"the credentials for Prometheus cannot be read from {where}: it is not there") from error
    found = text.strip()
    if not found or not found.isprintable():
        raise GaugeError(f"the credentials for Prometheus cannot be read from {where}: one line of text is needed")
    return found


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _one_value(data: Mapping[str, Any]) -> tuple[Answer, float | None]:
    """The value of an instant query, with the time at which it was evaluated."""
    if "refused" in data:
        return Answer(None, reason=f"the server refuses it: {data['refused']}"), None
    kind, result = data.get("resultType"), data.get("result")
    if kind not in ("vector", "scalar") or not isinstance(result, list):
        return Answer(None, reason=f"it gives a {kind}; a query that gives one number now is needed"), None
    if kind == "vector" and len(result) != 1:
        return Answer(None, reason=_how_many(len(result))), None
    return _number(result[0].get("value") if kind == "vector" and isinstance(result[0], dict) else result)


def _how_many(series: int) -> str:
    if not series:
        return "it gives no series: nothing by these names and labels was scraped of late"
    return "it gives several series; take their sum or max, or choose one by its labels"


def _number(sample: Any) -> tuple[Answer, float | None]:
    """Prometheus writes a sample as [unix seconds, text]; a native histogram has none."""
    try:
        evaluated, value = float(sample[0]), float(sample[1])
    except (TypeError, ValueError, IndexError, KeyError):
        return Answer(None, reason="it gives no number; of a native histogram take histogram_quantile or _sum"), None
    if not math.isfinite(value):
        return Answer(None, reason=f"it gives {sample[1]}, which is no number"), None
    return Answer(value), evaluated
