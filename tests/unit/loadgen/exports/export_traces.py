"""One small load that every exporter is checked on: eleven requests, as their client saw them.

An event is its time and what it brings: `open` an empty delta, `text`, `reason`ing, `stop` the finish reason alone,
`end` text and finish reason, or (completion tokens, prompt tokens) of usage figures.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from scripted_chat import call

from chaosgate.loadgen.delta import read_event
from chaosgate.loadgen.trace import PhaseClock, Trace
from chaosgate.model.observation import Observation, Outcome

Kind = str | tuple[int, int]
DELTAS = {
    "open": {"role": "assistant", "content": ""},
    "text": {"content": "a"},
    "reason": {"reasoning_content": "a"},
    "stop": {},
    "end": {"content": "a"},
}


@dataclass(frozen=True)
class Traced:
    """A request: due, sent, its events, how and when it ended."""

    due: float
    sent: float
    events: tuple[tuple[float, Kind], ...]
    end: float
    outcome: Outcome = "ok"

    def observation(self) -> Observation:
        """What chaosgate's client makes of it."""
        times = iter([0.0, self.sent, self.end])
        trace = Trace(call(scheduled=self.due), PhaseClock(lambda: next(times)))
        trace.stamp_sent()
        trace.status = 200
        for at, kind in self.events:
            trace.take(map(read_event, [data_of(kind).encode()]), at)
        trace.settle(self.outcome)
        return trace.observation()


def data_of(kind: Kind) -> str:
    """The data of one event."""
    if not isinstance(kind, str):
        return json.dumps({"choices": [], "usage": {"completion_tokens": kind[0], "prompt_tokens": kind[1]}})
    finish = "stop" if kind in ("stop", "end") else None
    return json.dumps({"choices": [{"index": 0, "delta": DELTAS[kind], "finish_reason": finish}]})


RUN = (
    Traced(0.0, 0.002, ((0.1, "open"), (0.12, "text"), (0.17, "text"), (0.21, "end"), (0.22, (3, 9))), 0.23),
    Traced(0.25, 0.25, ((0.4, "open"), (0.45, "text"), (0.52, "text"), (0.6, "stop"), (0.6, (2, 7))), 0.61),
    Traced(0.5, 0.53, ((0.9, "end"), (0.9, (1, 5))), 0.95),
    Traced(0.75, 0.75, ((0.8, "text"), (1.0, "text"), (1.3, "end"), (1.31, (10, 4))), 1.32),
    Traced(1.0, 1.001, ((1.2, "reason"), (1.25, "reason"), (1.4, "text"), (1.5, "end"), (1.5, (4, 11))), 1.51),
    Traced(1.25, 1.26, ((1.4, "open"), (1.41, "stop"), (1.42, (0, 6))), 1.43),
    Traced(1.5, 1.5, ((1.6, "open"), (1.7, "text"), (1.8, "text")), 1.9, "cut"),
    Traced(1.75, 1.75, ((1.8, "text"), (1.9, "text"), (2.05, "end"), (2.06, (3, 8))), 2.5),
    Traced(2.0, 2.0, (), 2.1, "error"),
    Traced(2.1, 2.1, ((2.2, "open"), (2.2, "text"), (2.3, "text")), 2.35, "cancelled"),
    Traced(2.25, 2.25, ((2.3, "open"), (2.3, "text"), (2.35, "text"), (2.4, "end"), (2.4, (3, 6))), 2.41),
)
