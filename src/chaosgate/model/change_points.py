"""When the SLIs of a run changed their level, as frozen models."""

from __future__ import annotations

from chaosgate.model.base import Frozen
from chaosgate.units import Dimension


class ChangePoint(Frozen):
    """A change of an SLI's level. Times are the gateway's; those of a change are starts of slices of the run."""

    at: float
    """When the first slice of the new level began."""
    lower: float
    """The ends of its 95 % interval."""
    upper: float
    told: float | None
    """When it could first be told from chance, knowing nothing later; None where it took the whole run."""
    p: float
    """How often chance alone shows as strong a change."""
    before: float | None
    """The median of the slices before, and of those after; None where it is infinite."""
    after: float | None
    fault: str | None = None
    """The fault of which a dose came on last before it; None where none had."""
    detected_after: float | None = None
    """Seconds from when that dose came on until the change could be told."""


class SliChanges(Frozen):
    """When an SLI changed its level during a run."""

    sli: str
    dimension: Dimension
    slice: float
    """Seconds of a slice."""
    at: tuple[float, ...]
    """When each slice that has a number of the SLI began."""
    values: tuple[float | None, ...]
    """Its numbers; None where it is infinite."""
    changes: tuple[ChangePoint, ...] = ()
    autocorrelation: float | None = None
    """The correlation of a slice with the one before it, about their levels: well above 0, false alarms are more."""
    reason: str | None = None
    """Why no change could be sought."""
