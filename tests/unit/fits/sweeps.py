"""Simulated sweeps with a planted threshold for the tests of fits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chaosgate.fits.logistic import Logistic
from chaosgate.model.fit import DoseWindow, Response
from chaosgate.units import Bound

DOSES = (0.1, 0.18, 0.22, 0.26, 0.32)
SHARE = 0.05


def knee(share: float = SHARE) -> Logistic:
    """The fit of the quickstart."""
    response = Response(sli="ttft", bound=Bound.parse("<= 300ms"), share=f"{share * 100:g} %")  # type: ignore[arg-type]
    return Logistic(name="knee", kind="logistic", fault="slow-wire", response=response)


def sweep(
    threshold: float, seed: int, rho: float = 0.02, background: float = 0.0, width: float = 0.015
) -> list[DoseWindow]:
    """6 control windows and 4 windows at each of DOSES, 40 requests each.

    `threshold` breaks SHARE of the requests; the windows' shares are beta distributed with intraclass correlation
    `rho`, around a logistic curve above `background`.
    """
    random = np.random.default_rng(seed)
    offset = np.log((SHARE - background) / (1 - SHARE))
    windows = []
    for dose in (0.0,) * 6 + tuple(dose for dose in DOSES for _ in range(4)):
        share = background + (1 - background) / (1 + np.exp(-((dose - threshold) / width + offset)))
        share, spread = float(np.clip(share, 1e-12, 1 - 1e-12)), (1 - rho) / rho
        broken = random.binomial(40, random.beta(share * spread, (1 - share) * spread))
        windows.append(DoseWindow(dose, int(broken), 40))
    return windows


def counted(rows: Sequence[tuple[float, int]], n: int = 40, windows: int = 4) -> list[DoseWindow]:
    """`windows` equal windows of `n` requests for each (dose, broken a window)."""
    return [DoseWindow(dose, broken, n) for dose, broken in rows for _ in range(windows)]
