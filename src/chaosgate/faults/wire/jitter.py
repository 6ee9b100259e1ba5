"""wire.jitter: requests are held for times that differ widely from one to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.faults.wire.first_token import later_first_token
from chaosgate.model.fault import FAULTS, Delay, Effect, Sweep, WireFault, Witness
from chaosgate.units import Duration


@FAULTS.register("wire.jitter")
class WireJitter(WireFault):
    """An unsteady network: each request is held for a time drawn evenly from nothing to twice the `jitter`."""

    kind: Literal["wire.jitter"]
    dose: Sweep[Literal["jitter"], Duration]
    """`jitter` is the mean of the time, and how far it lies above or below that at most."""

    max_dose: ClassVar[float] = 60.0

    def effects(self, dose: float, draw: Draw) -> Sequence[Effect]:
        """One delay, uniform in [0, 2 x dose); 0 at dose 0."""
        return (Delay(2 * dose * draw.at("jitter")),)

    def witness(self, dose: float) -> Witness:
        """The client waits longer for its first token; half of the mean delay must show in the mean."""
        return later_first_token(self.least_rise(dose))
