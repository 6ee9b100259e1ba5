"""Where the number of one more run is to be expected, by those of the runs before it.

Runs are exchangeable draws of a normal distribution: whatever makes one run of a spec differ from the next is in their
spread, the noise within a run included. The band is the prediction interval of a single future value, mean +- t * s *
sqrt(1 + 1 / n) (Meeker, Hahn & Escobar, "Statistical Intervals", 2017, ch. 4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.binomial import TAIL
from chaosgate.statistics.difference import Arm


@dataclass(frozen=True)
class PastValues:
    """One number of each of at least two runs."""

    values: Floats

    @property
    def mean(self) -> float:
        """Their mean."""
        return float(self.values.mean())

    def arm(self) -> Arm:
        """The mean with its 95 % t interval between runs, to be compared with a run."""
        half = self._student(TAIL) * self._spread / math.sqrt(len(self.values))
        return Arm(self.mean, self.mean - half, self.mean + half)

    def band(self, tail: float) -> tuple[float, float]:
        """Where the next value lies but for a probability of `tail` on either side."""
        half = self._student(tail) * self._spread * math.sqrt(1 + 1 / len(self.values))
        return self.mean - half, self.mean + half

    @property
    def _spread(self) -> float:
        return float(np.std(self.values, ddof=1))

    def _student(self, tail: float) -> float:
        from scipy.special import stdtrit

        return float(stdtrit(len(self.values) - 1, 1 - tail))
