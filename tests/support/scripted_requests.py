"""Observations of requests, by how long after they were due each thing came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chaosgate.model.observation import Observation


def request(
    scheduled: float = 0.0,
    first: float | None = 0.1,
    gaps: Sequence[float] = (),
    end: float = 0.2,
    delay: float = 0.0,
    outcome: str = "ok",
    **more: Any,
) -> Observation:
    """A request whose tokens came `first` and then `gaps` apart; no token where it has another outcome than ok."""
    times: list[float] = []
    if first is not None and outcome == "ok":
        times.append(scheduled + first)
        for gap in gaps:
            times.append(times[-1] + gap)
    given = {
        "request": f"1.load.{scheduled:g}",
        "phase": "load",
        "prompt": "recall-24/0",
        "scheduled": scheduled,
        "sent": scheduled + delay,
        "first": times[0] if times else None,
        "tokens": times,
        "end": max([scheduled + end, *times]),
        "status": 200,
        "outcome": outcome,
        "answer": None,
        "text": "sha256:0",
        **more,
    }
    return Observation.model_validate(given)
