"""Samples and windows for the tests of SLIs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from chaosgate.model.observation import Observation, Outcome, Place, Sample, Window


def sample(
    first: float | None = 1.2,
    outcome: Outcome = "ok",
    text: str = "sha256:a",
    clean: str | None = "sha256:a",
    scheduled: float = 1.0,
    answer: Literal["right", "wrong"] | None = None,
    accepted: bool | None = None,
) -> Sample:
    """One request that was due at 1 s, sent at 1.1 s and ended at 2 s."""
    seen = Observation(
        request="7.block1.1",
        phase="block1",
        prompt="recall-24/1",
        scheduled=scheduled,
        sent=1.1,
        first=first,
        tokens=() if first is None else (first,),
        end=2.0,
        status=200,
        outcome=outcome,
        answer=answer,
        text=text,
        accepted=accepted,
    )
    return Sample(seen, clean)


def timed(seconds: float) -> Sample:
    """A request whose time to first token is `seconds`."""
    return sample(first=seconds, scheduled=0.0)


def window(samples: Iterable[Sample], index: int = 0, dose: float | None = None, place: Place = "dose") -> Window:
    """A window of block1."""
    return Window(place, "block1", "slow-wire", index, dose, float(index), index + 1.0, tuple(samples))


def failing(failed: int, n: int, index: int = 0, dose: float | None = None, place: Place = "dose") -> Window:
    """A window of `n` requests of which `failed` failed."""
    outcomes: list[Outcome] = ["error"] * failed + ["ok"] * (n - failed)
    return window((sample(outcome=outcome) for outcome in outcomes), index, dose, place)
