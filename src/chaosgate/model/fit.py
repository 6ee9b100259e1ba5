"""What every fit is: from how many requests broke a bound at each dose to a threshold, or a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from chaosgate.model.base import Frozen, Name
from chaosgate.registry import Registry
from chaosgate.units import Bound, Dimension, Share


class Response(Frozen):
    """What a fit looks at: a request meets or breaks `bound`; at the threshold dose `share` of them break it."""

    sli: str
    """An SLI kind, judged request by request: `ttft`, not ttft-p95."""
    bound: Bound
    """What a request must keep."""
    share: Annotated[Share, Field(gt=0, lt=1)]
    """The share of requests that breaks the bound at the threshold."""


class Fit(Frozen):
    """A fit of a spec. A kind subclasses this and is registered with `@FITS.register(kind)`."""

    name: Name
    """The name by which objectives and report refer to it."""
    kind: str
    """The registered kind."""
    fault: Name
    """The fault whose sweep is fitted."""
    response: Response
    """What counts as broken."""

    def fit(self, windows: Sequence[DoseWindow], seed: int, dimension: Dimension = "number") -> Threshold:
        """The threshold found in `windows` (controls at dose 0 included); pure, repeatable from `seed`.

        `dimension` is the dose's: reasons write doses in its unit, the numbers stay in base units.
        """
        raise NotImplementedError(f"{type(self).__name__} must say how it finds its threshold")


@dataclass(frozen=True)
class DoseWindow:
    """One window of a sweep as a fit sees it: of `n` requests at `dose`, `broken` broke the response's bound."""

    dose: float
    broken: int
    n: int


class CurvePoint(Frozen):
    """A point of a dose-response plot: dose in base units, share of requests that broke the bound, requests."""

    dose: float
    share: float
    n: int


class Threshold(Frozen):
    """What a fit found.

    `fitted`: value and interval. `bracketed`: the doses separate completely, so the threshold lies between `lower` and
    `upper` and no curve is drawn. `refused`: `reason` says why there is no threshold; nothing may rest on it.
    """

    outcome: Literal["fitted", "bracketed", "refused"]
    value: float | None
    lower: float | None
    upper: float | None
    n: int
    windows: int
    reason: str | None = None
    points: tuple[CurvePoint, ...] = ()
    """Observed shares by dose."""
    curve: tuple[CurvePoint, ...] = ()
    """The fitted curve, for plots; empty unless fitted."""
    goodness: dict[str, float] = {}
    """Goodness of fit by name, such as the deviance and the dispersion."""


FITS: Registry[Fit] = Registry("fit kind", Fit)
