"""The client of a gateway's admin interface."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, TypeVar
from urllib.parse import quote

import aiohttp
from pydantic import Field, ValidationError

from chaosgate.errors import GatewayError, one_line
from chaosgate.model.base import Frozen, first_refusal
from chaosgate.model.observation import LedgerRow, TimelineEvent
from chaosgate.model.result import SecretRef
from chaosgate.tokens import run_token

CONNECT_SECONDS = 5.0
CALL_SECONDS = 15.0
LEDGER_SECONDS = 300.0
"""A ledger may have millions of rows."""

Model = TypeVar("Model", bound=Frozen)


class ActiveFault(Frozen):
    """A fault that is on: its window, dose, how many seconds it lives unless renewed, and the requests it touched."""

    name: str
    dose: float
    window: int
    expires_in: Annotated[float, Field(ge=0)]
    applied: int


class GatewayStatus(Frozen):
    """What a gateway says of itself; `at` is the time on its clock."""

    at: float
    run: str
    spec: str
    halted: str | None
    """Why the run was halted, None while it was not."""
    requests: int
    unfinished: int
    active: tuple[ActiveFault, ...]


class _At(Frozen):
    at: float


class _Off(_At):
    applied: int


class _Active(Frozen):
    active: tuple[ActiveFault, ...]


class _Events(Frozen):
    events: tuple[TimelineEvent, ...]


class GatewayAdmin:
    """Calls a gateway's admin interface while it is entered.

    Every failure is a GatewayError that names the call, the URL and the server's words. Nothing is tried twice.
    """

    def __init__(self, url: str, token: str) -> None:
        self._url = url.rstrip("/")
        self._token = token

    async def __aenter__(self) -> GatewayAdmin:
        self._session = aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {self._token}"},
            timeout=aiohttp.ClientTimeout(total=CALL_SECONDS, connect=CONNECT_SECONDS),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.close()

    async def on(self, fault: str, dose: float, window: int, ttl: float) -> float:
        """Put `fault` on, at most for `ttl` seconds; returns when, on the gateway's clock."""
        body = {"dose": dose, "window": window, "ttl": ttl}
        return (await self._ask("PUT", _fault_path(fault), _At, body)).at

    async def off(self, fault: str) -> tuple[float, int]:
        """Take `fault` off; returns when it went off and how many requests its last window touched. Repeatable."""
        off = await self._ask("DELETE", _fault_path(fault), _Off)
        return off.at, off.applied

    async def active(self) -> list[ActiveFault]:
        """The faults that are on."""
        return list((await self._ask("GET", "/v1/faults", _Active)).active)

    async def halt(self, reason: str) -> float:
        """End every fault for good; returns when the run was halted first."""
        return (await self._ask("POST", "/v1/halt", _At, {"reason": reason})).at

    async def halted(self) -> str | None:
        """Why the run was halted, None while it was not."""
        return (await self.status()).halted

    async def post(self, event: str, **fields: object) -> float:
        """Put an event into the timeline (`phase`, `fault`, `window`, `dose`, `detail`); returns its time."""
        return (await self._ask("POST", "/v1/timeline", _At, {"event": event, **fields})).at

    async def timeline(self, phase: str | None = None) -> list[TimelineEvent]:
        """The events of `phase`, or all."""
        return list((await self._ask("GET", "/v1/timeline" + _query(phase), _Events)).events)

    async def ledger(self, phase: str | None = None) -> list[LedgerRow]:
        """The rows of the finished requests of `phase`, or of all; `status().unfinished` says whether some are due."""
        path = "/v1/ledger" + _query(phase)
        body = await self._call("GET", path, seconds=LEDGER_SECONDS)
        return [self._read(line, LedgerRow, "GET", path) for line in body.splitlines()]

    async def status(self) -> GatewayStatus:
        """The gateway's run, clock, halt and counts."""
        return await self._ask("GET", "/v1/status", GatewayStatus)

    async def _ask(self, method: str, path: str, model: type[Model], body: Mapping[str, Any] | None = None) -> Model:
        return self._read(await self._call(method, path, body), model, method, path)

    async def _call(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, seconds: float = CALL_SECONDS
    ) -> bytes:
        call = f"{method} {self._url}{path}"
        timeout = aiohttp.ClientTimeout(total=seconds, connect=CONNECT_SECONDS)
        try:
            async with self._session.request(
                method, self._url + path, json=body, timeout=timeout, allow_redirects=False
            ) as response:
                answer = await response.read()
        except TimeoutError as error:
            raise GatewayError(f"{call}: no answer in time; check that the gateway runs") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise GatewayError(f"{call}: no answer: {error or type(error).__name__}; check the gateway") from error
        if response.status != 200:
            raise GatewayError(f"{call}: refused with {response.status}: {_words(answer)}")
        return answer

    def _read(self, answer: bytes, model: type[Model], method: str, path: str) -> Model:
        try:
            return model.model_validate_json(answer)
        except ValidationError as error:
            raise GatewayError(
                f"{method} {self._url}{path}: not an answer of this gateway's version: {first_refusal(error)}"
            ) from error


def read_token(secret: SecretRef) -> str:
    """The secret that `secret` points to, without the space around it; a GatewayError says where none was found."""
    if (secret.file is None) == (secret.env is None):
        raise GatewayError("a token is read from one of `file` and `env`; name exactly one")
    if secret.env is not None:
        where, token = f"environment variable {secret.env}", os.environ.get(secret.env, "")
    else:
        where, token = f"file {secret.file}", _read_file(Path(str(secret.file)))
    if not token.strip():
        raise GatewayError(f"{where}: holds no token; put the gateway's admin token there")
    return token.strip() if secret.run is None else run_token(token.strip(), secret.run)


def _read_file(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "it is not ASCII"
        raise GatewayError(f"file {path}: the token cannot be read: {cause}") from error


def _fault_path(fault: str) -> str:
    return f"/v1/faults/{quote(fault, safe='')}"


def _query(phase: str | None) -> str:
    return "" if phase is None else f"?phase={quote(phase, safe='')}"


def _words(answer: bytes) -> str:
    """The error text of an admin answer, or the beginning of whatever came instead."""
    try:
        return one_line(_Error.model_validate_json(answer).error)
    except ValidationError:
        return one_line(answer[:200].decode(errors="replace")) or "nothing more was said"


class _Error(Frozen):
    error: str
