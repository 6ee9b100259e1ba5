"""wire.reset: the connections of some requests are reset before these reach the server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.model.fault import FAULTS, Effect, Reset, Sweep, WireFault, Witness
from chaosgate.model.observation import Observation
from chaosgate.units import Share


@FAULTS.register("wire.reset")
class WireReset(WireFault):
    """A connection lost before the answer: a share of requests ends in a TCP reset and never reaches the server."""

    kind: Literal["wire.reset"]
    dose: Sweep[Literal["probability"], Share]

    max_dose: ClassVar[float] = 1.0

    def effects(self, dose: float, draw: Draw) -> Sequence[Effect]:
        """A reset for the share `dose` of requests; those hit at a low dose are hit at a higher one too."""
        return (Reset(),) if draw.at("hit") < dose else ()

    def witness(self, dose: float) -> Witness:
        """The client's connection breaks before it has a status; half of the planned share must show."""
        return Witness("share of requests cut off before an answer", "share", self.least_rise(dose), _no_answer)


def _no_answer(seen: Observation) -> float:
    return float(seen.outcome == "cut" and seen.status is None)
