"""stream.usage-mismatch: the usage figures of an answer count more tokens than it has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.model.fault import FAULTS, Sweep, WireFault, Witness
from chaosgate.model.json_splice import written
from chaosgate.model.observation import Observation
from chaosgate.model.stream_edit import Step, StreamEditor, StreamEvent, with_json
from chaosgate.model.usage import completion_tokens
from chaosgate.units import Share


@FAULTS.register("stream.usage-mismatch")
class StreamUsageMismatch(WireFault):
    """A server that counts wrongly: `completion_tokens` of a stream's usage is too large by a share of itself.

    `total_tokens` stays, so that the figures do not add up either. Whoever bills, meters or limits by usage is wrong
    by that share; a client that checks can tell. Only streams whose request asked for usage have any.
    """

    kind: Literal["stream.usage-mismatch"]
    dose: Sweep[Literal["share"], Share]

    max_dose: ClassVar[float] = 1.0

    def editor(self, dose: float, draw: Draw) -> StreamEditor | None:
        """An editor that raises each count of completion tokens by the share `dose`; none at dose 0."""
        return Overcount(dose) if dose > 0 else None

    def witness(self, dose: float) -> Witness:
        """The client is told of more tokens for each event with text; half of the planned share must show.

        A server without a fault claims at least one token for such an event, and one for the unseen end of the answer.
        """
        return Witness(
            "mean of claimed tokens over events with text",
            "number",
            self.least_rise(dose),
            _claimed_per_event,
            unless="a server that sends no usage in its streams cannot be wrong about it",
        )


class Overcount(StreamEditor):
    """Raises `completion_tokens` by a share of it, rounded up, wherever a stream has usage."""

    missed = "the stream had no usage"

    def __init__(self, share: float) -> None:
        self._share = share

    def event(self, event: StreamEvent) -> Sequence[Step]:
        """The event as it is, or with the larger count."""
        tokens = completion_tokens(event.chunk or {})
        if tokens is None:
            return (event.raw,)
        wrong = tokens + self._more(tokens)
        self.effect = f"completion_tokens {tokens} became {wrong}"
        return (with_json(event, ("usage", "completion_tokens"), written(wrong)),)

    def _more(self, tokens: int) -> int:
        """One token at least: at any dose the figures are wrong."""
        # Rounded first, for 7 % of 100 is 7.000000000000001 in floats, which is not to become 8.
        return max(1, math.ceil(round(tokens * self._share, 6)))


def _claimed_per_event(seen: Observation) -> float | None:
    if seen.outcome != "ok" or seen.claimed is None:
        return None
    return seen.claimed / max(len(seen.tokens), 1)
