"""Simulated windows: requests that share their window's weather, so that windows differ more than requests alone would.

Shares are beta-binomial: a window's own share is drawn from a beta distribution around the dose's with the intraclass
correlation `rho` = 1 / (a + b + 1) (Williams, Biometrics 31, 1975). Latencies and other positive values are lognormal
with a lognormal factor a window, so that the distribution over all windows is lognormal, too, and its quantiles and
mean are known exactly. Amounts are Poisson with a gamma factor a window (negative binomial).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from chaosgate.model.fit import DoseWindow
from chaosgate.model.observation import Place, Window

Random = np.random.Generator
HOLD = 2.0
"""Seconds of a window."""
DOSES = (0.1, 0.18, 0.22, 0.26, 0.32)
"""Seconds, as in the shipped scenario `stream-degradation`, with its rate and windows below."""
SIZE = 40
"""Requests that a window expects, at 20 a second."""
WINDOWS = 4
CONTROLS = 6


@dataclass(frozen=True)
class Sweep:
    """The design of a sweep: requests a window expects, windows a dose, controls, and how much windows differ."""

    doses: Sequence[float] = DOSES
    size: float = SIZE
    windows: int = WINDOWS
    controls: int = CONTROLS
    rho: float = 0.03

    @property
    def plan(self) -> list[float]:
        """The dose of each window."""
        return [0.0] * self.controls + [dose for dose in self.doses for _ in range(self.windows)]

    def counts(self, random: Random, curve: Callable[[float], float]) -> list[DoseWindow]:
        """The windows, `curve` being the share that breaks by dose; requests arrive by a Poisson process."""
        sizes = random.poisson(self.size, len(self.plan))
        return [
            DoseWindow(dose, hits(random, curve(dose), int(n), self.rho), int(n))
            for dose, n in zip(self.plan, sizes, strict=True)
        ]


def hits(random: Random, share: float, n: int, rho: float) -> int:
    """How many of `n` requests of one window are hits: beta-binomial, binomial at `rho` 0."""
    if rho > 0 and 0 < share < 1:
        share = random.beta(share * (1 / rho - 1), (1 - share) * (1 / rho - 1))
    return int(random.binomial(n, share))


@dataclass(frozen=True)
class Lognormal:
    """Values of median `median`; their logarithms vary by `within` in a window and by `between` among windows."""

    median: float
    within: float
    between: float

    def draw(self, random: Random, n: int) -> np.ndarray:
        """The values of one window."""
        return self.median * np.exp(self.between * random.standard_normal() + self.within * random.standard_normal(n))

    @property
    def total(self) -> float:
        """The standard deviation of the logarithms over all windows."""
        return float(np.hypot(self.within, self.between))

    def quantile(self, quantile: float) -> float:
        """Over all windows that could have been."""
        return float(self.median * np.exp(self.total * ndtri(quantile)))

    @property
    def mean(self) -> float:
        """Over all windows that could have been."""
        return float(self.median * np.exp(self.total**2 / 2))


def make_window(index: int, samples: Sequence[object], place: Place = "dose", dose: float | None = DOSES[0]) -> Window:
    """A window whose samples are what an SLI of the harness reads."""
    start = index * (HOLD + 0.5)
    fault = "fault" if place == "dose" else None
    return Window(place, "block1", fault, index, dose, start, start + HOLD, tuple(samples))  # type: ignore[arg-type]


def sizes(random: Random, windows: int, size: float) -> list[int]:
    """How many requests came in each window; a dose with an empty one is not judged, so there is none."""
    return [max(1, int(n)) for n in random.poisson(size, windows)]
