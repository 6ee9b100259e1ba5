"""acme.hung-replica: one replica accepts requests and never answers, until the ingress gives up on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from chaosgate.draws import Draw
from chaosgate.model.fault import FAULTS, Delay, Effect, Reply, Sweep, WireFault, Witness
from chaosgate.model.observation import Observation
from chaosgate.units import Duration, Share


@FAULTS.register("acme.hung-replica")
class HungReplica(WireFault):
    """A replica that hangs: requests that land on it wait for `patience`, then the ingress answers 504."""

    kind: Literal["acme.hung-replica"]
    patience: Annotated[Duration, Field(gt=0, le=60)] = 15.0
    """How long the ingress waits for the replica."""
    dose: Sweep[Literal["landed"], Share]
    """`landed` is the share of requests that land on the hung replica: 25 % where it is one of four."""

    max_dose: ClassVar[float] = 1.0

    def effects(self, dose: float, draw: Draw) -> Sequence[Effect]:
        """A long wait and a 504 for the share `dose` of requests; those hit at a low dose are hit at a higher one."""
        if draw.at("replica") >= dose:
            return ()
        error = {"message": "upstream request timeout", "type": "server_error", "param": None, "code": 504}
        return Delay(self.patience), Reply(504, {}, {"error": error})

    def witness(self, dose: float) -> Witness:
        """The client gets no answer: the 504, or its own timeout where that is shorter than `patience`."""
        return Witness("share of requests that timed out", "share", self.least_rise(dose), _timed_out)


def _timed_out(seen: Observation) -> float:
    return float(seen.status == 504 or seen.outcome == "timeout")
