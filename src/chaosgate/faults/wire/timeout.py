"""wire.timeout: requests wait, never reach the server, and are told at last that it did not answer in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.faults.wire.error_reply import error_reply
from chaosgate.model.fault import FAULTS, Delay, Effect, Sweep, WireFault, Witness
from chaosgate.model.observation import Observation
from chaosgate.units import Duration


@FAULTS.register("wire.timeout")
class WireTimeout(WireFault):
    """A server that never answers: a proxy in front of it waits for `after` and then gives up with `status`.

    Every request that `select` takes fails, at whichever dose; the dose is how long its user waits to learn it.
    """

    kind: Literal["wire.timeout"]
    status: Literal[408, 504] = 504
    """What the client is told: 504 Gateway Timeout, or 408 Request Timeout (RFC 9110, 15.6.5 and 15.5.9)."""
    dose: Sweep[Literal["after"], Duration]

    max_dose: ClassVar[float] = 60.0

    def effects(self, dose: float, draw: Draw) -> Sequence[Effect]:
        """The wait and then the error; nothing at dose 0, where nobody waits for anything."""
        return (Delay(dose), error_reply(self.name, self.status)) if dose > 0 else ()

    def witness(self, dose: float) -> Witness:
        """The client gets the status, or its own time-out where that is shorter; half of those selected must."""
        status = self.status

        def value(seen: Observation) -> float:
            return float(seen.status == status or seen.outcome == "timeout")

        return Witness("share of requests that timed out", "share", self.least_rise(1.0), value)
