"""stream.finish-reason: some streams give a wrong reason for their end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.faults.stream.finish import finish_reasons, with_finish
from chaosgate.model.fault import FAULTS, Sweep, WireFault, Witness
from chaosgate.model.observation import Observation
from chaosgate.model.stream_edit import Step, StreamEditor, StreamEvent
from chaosgate.units import Share


@FAULTS.register("stream.finish-reason")
class StreamFinishReason(WireFault):
    """A server that is wrong about why it stopped: a share of streams ends with `reason` in place of the true one.

    The text of the answer stays whole. A client that continues, filters or calls tools by the reason does so wrongly.
    """

    kind: Literal["stream.finish-reason"]
    reason: Literal["length", "content_filter", "tool_calls", "stop", "null"] = "length"
    """The finish_reason that is sent, one of OpenAI's; with `null` there is none, and only `[DONE]` ends the stream."""
    dose: Sweep[Literal["probability"], Share]

    max_dose: ClassVar[float] = 1.0

    def editor(self, dose: float, draw: Draw) -> StreamEditor | None:
        """Another reason for the share `dose` of streams; those hit at a low dose are hit at a higher one too."""
        return OtherReason(self.reason) if draw.at("hit") < dose else None

    def witness(self, dose: float) -> Witness:
        """The client sees the reason in more of the whole answers; half of the planned share must show."""
        reason = None if self.reason == "null" else self.reason

        def value(seen: Observation) -> float | None:
            return float(seen.finish == reason) if seen.outcome == "ok" else None

        return Witness(
            f"share of answers with finish_reason {self.reason}",
            "share",
            self.least_rise(dose),
            value,
            unless="an answer that ends with this reason anyway cannot show it",
        )


class OtherReason(StreamEditor):
    """Gives `reason` wherever the server gives one; `null` stands for none."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def event(self, event: StreamEvent) -> Sequence[Step]:
        """The event as it is, or with the other reason."""
        replaced = [reason for reason in finish_reasons(event) if reason != self._reason]
        if not replaced:
            if finish_reasons(event):
                self.missed = f"it ended with {self._reason} anyway"
            return (event.raw,)
        self.effect = f"finish_reason {replaced[0]} became {self._reason}"
        return (with_finish(event, None if self._reason == "null" else self._reason),)
