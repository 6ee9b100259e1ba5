"""A gateway that belongs to no run: any client's requests pass, and its faults are on until it ends."""

from __future__ import annotations

from collections import Counter
from contextlib import AsyncExitStack
from types import TracebackType
from typing import NamedTuple

from chaosgate.errors import GatewayError, UsageError
from chaosgate.gateway.config import GatewayConfig
from chaosgate.gateway.server import Gateway
from chaosgate.gateway.state import RunState
from chaosgate.gateway.tally import RecentLedger, TalliedMetrics, Tally
from chaosgate.gateway.windows import ActiveWindow, Conflict
from chaosgate.model.fault import Fault
from chaosgate.model.standing import check_dose, dose_of
from chaosgate.registry import unknown
from chaosgate.servers import listen
from chaosgate.units import parse_value

STANDING = 10 * 365 * 86_400.0
"""Seconds for which a standing window is opened: ten years, longer than any gateway runs, and still a number that JSON
and timers can take."""
LOOPBACK = "127.0.0.1"


class Address(NamedTuple):
    """Where a gateway listens: its data port on `host`, its admin port on loopback; port 0 is any free one."""

    host: str = LOOPBACK
    port: int = 0
    admin_port: int = 0


class StandingRun(RunState):
    """What such a gateway knows: `tally` counts what a run's files would tell."""

    def __init__(self, config: GatewayConfig) -> None:
        super().__init__(config)
        self.tally = Tally()
        self.rows = RecentLedger()
        self.rows.listeners.append(self.tally.add)
        self.ledger = self.rows
        self.metrics = TalliedMetrics(self.tally)


class StandingGateway:
    """Serves while it is entered, with every fault on from the start. A UsageError for an address that cannot be had.

    Its methods belong into its event loop.
    """

    def __init__(self, config: GatewayConfig, address: Address, token: str) -> None:
        self.run = StandingRun(config)
        data = listen(address.host, address.port)
        try:
            admin = listen(LOOPBACK, address.admin_port)
        except UsageError:
            data.close()
            raise
        self._gateway = Gateway(self.run, data, admin, token)
        self.url, self.admin_url = self._gateway.url, self._gateway.admin_url
        self._faults = {fault.name: fault for fault in config.faults}
        self._opened: Counter[str] = Counter()
        self._open = AsyncExitStack()

    async def __aenter__(self) -> StandingGateway:
        for name, fault in self._faults.items():
            self.on(name, dose_of(fault))
        await self._open.enter_async_context(self._gateway)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.aclose()

    def on(self, name: str, dose: str | float | None = None) -> None:
        """Put a fault on at `dose`, as a spec writes it or in base units; None: at the dose that it was declared with.

        A fault that is on changes its dose. Every window has a number of its own in the ledger. A UsageError names an
        unknown fault or a wrong dose; a GatewayError says that the gateway is halted.
        """
        fault = self._fault(name)
        wanted = _dose(fault, dose)
        try:
            if self.run.windows.halted is None:
                self.run.windows.close(name)
            self.run.windows.open(name, self._opened[name], wanted, STANDING)
        except Conflict as conflict:
            raise GatewayError(str(conflict)) from conflict
        self._opened[name] += 1

    def off(self, name: str) -> None:
        """Take a fault off; requests that it holds are held to their end. Nothing happens where it is off."""
        self.run.windows.close(self._fault(name).name)

    def halt(self, reason: str) -> None:
        """Take every fault off at once, let held requests go, and refuse faults from now on."""
        self.run.windows.halt(reason)

    def window(self, name: str) -> ActiveWindow | None:
        """The window in which a fault is on, None while it is off."""
        return self.run.windows.get(name)

    def _fault(self, name: str) -> Fault:
        if name not in self._faults:
            raise UsageError(unknown("fault", name, self._faults))
        return self._faults[name]


def _dose(fault: Fault, dose: str | float | None) -> float:
    if dose is None:
        return dose_of(fault)
    try:
        wanted = parse_value(dose, fault.axis().dimension) if isinstance(dose, str) else float(dose)
        check_dose(fault, wanted)
    except ValueError as error:
        raise UsageError(f"{fault.name}: {error}") from error
    return wanted
