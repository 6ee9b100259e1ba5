"""Simulated sweeps with a planted onset for the tests of fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from chaosgate.model.fit import BreakResponse, DoseWindow
from chaosgate.units import Bound

ONSET_DOSES = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35)
RESPONSE = BreakResponse(sli="ttft", bound=Bound.parse("<= 300ms"))


def hockey_stick(onset: float, width: float, floor: float, ceiling: float) -> Callable[[float], float]:
    """The share at a dose: a floor, a straight rise from `onset`, a ceiling."""
    return lambda dose: floor + (ceiling - floor) * min(max((dose - onset) / width, 0.0), 1.0)


def growth(onset: float, width: float, floor: float) -> Callable[[float], float]:
    """The share at a dose: a floor that grows exponentially from `onset` on."""
    return lambda dose: min(0.98, floor * float(np.exp(max(dose - onset, 0.0) / width)))


def swept(
    curve: Callable[[float], float], seed: int, doses: Sequence[float] = ONSET_DOSES, rho: float = 0.02
) -> list[DoseWindow]:
    """6 control windows and 4 at each dose, 40 requests each, their shares beta distributed around the curve."""
    random, spread = np.random.default_rng(seed), (1 - rho) / rho
    windows = []
    for dose in (0.0,) * 6 + tuple(dose for dose in doses for _ in range(4)):
        share = float(np.clip(curve(dose), 1e-9, 1 - 1e-9))
        windows.append(
            DoseWindow(dose, int(random.binomial(40, random.beta(share * spread, (1 - share) * spread))), 40)
        )
    return windows
