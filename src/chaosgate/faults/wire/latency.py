"""wire.latency: every selected request is held for a while before it goes upstream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.faults.wire.first_token import later_first_token
from chaosgate.model.fault import FAULTS, Delay, Effect, Sweep, WireFault, Witness
from chaosgate.units import Duration


@FAULTS.register("wire.latency")
class WireLatency(WireFault):
    """A slow network: the request is delayed by `delay`, give or take `jitter`, counted from its arrival."""

    kind: Literal["wire.latency"]
    jitter: Duration = 0.0
    """Uniform, plus or minus; never more than the delay itself, so that no delay is negative."""
    dose: Sweep[Literal["delay"], Duration]

    max_dose: ClassVar[float] = 60.0

    def effects(self, dose: float, draw: Draw) -> Sequence[Effect]:
        """One delay; 0 at dose 0."""
        jitter = min(self.jitter, dose)
        return (Delay(dose + jitter * (2 * draw.at("jitter") - 1)),)

    def witness(self, dose: float) -> Witness:
        """The client waits longer for its first token; half of the planned delay must show in the mean."""
        return later_first_token(self.least_rise(dose))
