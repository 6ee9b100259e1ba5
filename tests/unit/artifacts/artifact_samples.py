"""Content for the artifact tests: small, but with text, numbers, None and nesting."""

from __future__ import annotations

from chaosgate.artifacts import Identity
from chaosgate.model.observation import Observation
from chaosgate.model.result import Estimate, Estimates, Health

IDENTITY = Identity(run="run-1", spec="sha256:" + "0" * 64)


def observation(number: int) -> Observation:
    """The `number`-th request of a phase, one whole answer of two tokens."""
    return Observation(
        request=f"7.block1.{number}",
        phase="block1",
        prompt=f"recall-24/{number}",
        scheduled=number * 0.05,
        sent=number * 0.05 + 0.001,
        first=number * 0.05 + 0.08,
        tokens=(number * 0.05 + 0.08, number * 0.05 + 0.09),
        end=number * 0.05 + 0.1,
        status=200,
        outcome="ok",
        answer="right" if number % 2 else None,
        text="sha256:" + f"{number:064x}",
    )


def estimates() -> Estimates:
    """One estimate with a number and one without."""
    known = Estimate(
        sli="ttft-p95", at="recovery", place="recovery", dimension="duration", value=1.234567, n=96, windows=3
    )
    missing = Estimate(
        sli="error-rate", at="baseline", place="baseline", dimension="share", reason="no requests – none"
    )
    health = Health(schedule_delay_p99=0.004, requests=96, straddlers=2)
    return Estimates(steady_state=(known, missing), objectives=(), doses=(), witnesses=(), health=health)
