"""wire.error: some requests are answered with an HTTP error at the gateway and never reach the server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.faults.wire.error_reply import error_reply
from chaosgate.model.fault import FAULTS, Effect, Sweep, WireFault, Witness
from chaosgate.model.observation import Observation
from chaosgate.units import Duration, Share


@FAULTS.register("wire.error")
class WireError(WireFault):
    """An overloaded or broken server: a share of requests gets `status`, in the form OpenAI's API gives its errors."""

    kind: Literal["wire.error"]
    status: Literal[429, 500, 502, 503, 504] = 503
    """The HTTP status of the answer."""
    retry_after: Duration | None = None
    """The Retry-After header, in whole seconds (RFC 9110, 10.2.3); left out when not given."""
    dose: Sweep[Literal["probability"], Share]

    max_dose: ClassVar[float] = 1.0

    def effects(self, dose: float, draw: Draw) -> Sequence[Effect]:
        """A reply for the share `dose` of requests; those hit at a low dose are hit at a higher one too."""
        if draw.at("hit") >= dose:
            return ()
        headers = {} if self.retry_after is None else {"Retry-After": str(round(self.retry_after))}
        return (error_reply(self.name, self.status, headers),)

    def witness(self, dose: float) -> Witness:
        """The client sees the status; half of the planned share must show."""
        status = self.status

        def value(seen: Observation) -> float:
            return float(seen.status == status)

        return Witness(f"share of responses with status {status}", "share", self.least_rise(dose), value)
