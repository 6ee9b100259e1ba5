"""What shows at the client that requests were held: their first tokens come later."""

from __future__ import annotations

from chaosgate.model.fault import Witness
from chaosgate.model.observation import Observation


def later_first_token(moved: float) -> Witness:
    """The mean time to first token, which must rise by `moved` seconds."""
    return Witness("mean time to first token", "duration", moved, _time_to_first_token)


def _time_to_first_token(seen: Observation) -> float | None:
    return None if seen.first is None else seen.first - seen.sent
