"""A gateway in a thread of the test's process, for as long as a block runs."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from chaosgate.errors import UsageError
from chaosgate.gateway.config import GatewayConfig
from chaosgate.gateway.standing import Address, StandingGateway
from chaosgate.gateway.standing_config import standing_config
from chaosgate.model.observation import LedgerRow
from chaosgate.serving import Background, in_background

SETTLE_SECONDS = 0.5
"""How long a reader of the ledger waits for requests under way: a row is written just after the client has its answer's
last byte."""
_POLL_SECONDS = 0.002

Result = TypeVar("Result")


def chaos_gateway(
    upstream: str | None = None, faults: Sequence[str] = (), *, seed: int | None = None, config: Path | None = None
) -> ChaosGateway:
    """A gateway before the server `upstream`, to be entered by `with` or `async with`; every fault is on at once.

    `faults` are written as `chaosgate gateway --fault` has them, `config` is the file that its `--config` reads, `seed`
    (1 unless it or the file says otherwise) fixes every draw. A UsageError quotes what is wrong.
    """
    return ChaosGateway(partial(standing_config, tuple(faults), upstream=upstream, seed=seed, file=config))


class ChaosGateway:
    """A gateway on a free port of loopback, in a thread and an event loop of its own, from entering to leaving.

    Every method may be called from any thread; the ledger also after the end.
    """

    def __init__(self, configure: Callable[[], GatewayConfig]) -> None:
        self._configure = configure
        self._open = ExitStack()
        self._background: Background[StandingGateway] | None = None
        self._last: list[LedgerRow] = []

    @property
    def url(self) -> str:
        """The base URL that takes the place of the server's: without `/v1`, where the server's has none."""
        return self._running.served.url

    def ledger(self, fault: str | None = None) -> list[LedgerRow]:
        """The rows of the newest requests that are finished, a row a fault; of one fault where it is named.

        Requests under way get half a second to finish first.
        """
        if self._background is not None:
            self._settle()
            self._last = self._call(self._rows)
        return [row for row in self._last if fault in (None, row.fault)]

    def on(self, name: str, dose: str | float | None = None) -> None:
        """Put a fault on, or change its dose: as a spec writes it, in base units, or None for its first one.

        A fault is called by its `name`, else by its kind with dashes: `wire-latency`. A UsageError for an unknown name
        or a wrong dose, a GatewayError once the gateway is halted.
        """
        self._call(lambda: self._running.served.on(name, dose))

    def off(self, name: str) -> None:
        """Take a fault off for requests that come from now on; a UsageError for an unknown name."""
        self._call(lambda: self._running.served.off(name))

    def halt(self, reason: str = "halted by the test") -> None:
        """Take every fault off at once, let go the requests that are held, and refuse faults until the end."""
        self._call(lambda: self._running.served.halt(reason))

    def __enter__(self) -> ChaosGateway:
        if self._background is not None:
            raise UsageError("this gateway is entered already; call chaos_gateway for each one")
        token = secrets.token_urlsafe()
        config = self._configure()
        self._background = self._open.enter_context(in_background(lambda: StandingGateway(config, Address(), token)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        served = self._running.served
        self._open.close()
        self._background = None
        self._last = served.run.rows.rows()

    async def __aenter__(self) -> ChaosGateway:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.__exit__, kind, error, trace)

    @property
    def _running(self) -> Background[StandingGateway]:
        if self._background is None:
            raise UsageError("this gateway does not run; use it inside of `with chaos_gateway(...) as gateway:`")
        return self._background

    def _call(self, function: Callable[[], Result]) -> Result:
        return self._running.call(function)

    def _rows(self) -> list[LedgerRow]:
        return self._running.served.run.rows.rows()

    def _settle(self) -> None:
        deadline = time.monotonic() + SETTLE_SECONDS
        while self._call(self._running.served.run.rows.unfinished) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
