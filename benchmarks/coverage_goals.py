"""Where each headline figure must lie, and how the figures follow from the tallies of their studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coverage_study import Study, Tally, together


@dataclass(frozen=True)
class Goal:
    """A range that a share must lie in."""

    least: float = 0.93
    most: float = 1.0

    def met(self, value: float) -> bool:
        """Whether `value` lies in it."""
        return self.least <= value <= self.most

    def __str__(self) -> str:
        if self.least == 0:
            return f"<= {self.most:g}"
        return f">= {self.least:g}" if self.most == 1 else f"{self.least:g} to {self.most:g}"


EXACT, AT_LEAST = Goal(0.93, 0.97), Goal(0.93)
GOALS = {
    "coverage_proportions": EXACT,
    "coverage_quantiles": EXACT,
    "coverage_rates": AT_LEAST,
    "coverage_means": AT_LEAST,
    "coverage_sets": AT_LEAST,
    "coverage_logistic": EXACT,
    "coverage_isotonic": AT_LEAST,
    "coverage_segmented": AT_LEAST,
    "coverage_phase": AT_LEAST,
    "coverage_usl": EXACT,
    "coverage_open_ends": AT_LEAST,
    "coverage_best": AT_LEAST,
    "history_false_alarms": Goal(0.0, 0.05),
    "coverage_trend": AT_LEAST,
    "change_points_found": Goal(0.95),
    "change_points_false_alarms": Goal(0.0, 0.05),
}
"""By figure. Where a statistic is conservative by its make, only the lower end is asked for."""


@dataclass(frozen=True)
class Figure:
    """A headline figure: the share over all its studies of the right family, and the least of them."""

    name: str
    value: float
    least: float
    studies: Mapping[str, float]
    """Of each study."""

    @property
    def goal(self) -> Goal:
        """Where it must lie."""
        return GOALS[self.name]

    @property
    def met(self) -> bool:
        """Whether it does."""
        return self.goal.met(self.value)


def figures(studies: Sequence[Study], tallies: Mapping[str, Tally]) -> list[Figure]:
    """The figures of those studies that have a tally, in their order."""
    found = []
    for name in dict.fromkeys(study.figure for study in studies if study.right and study.id in tallies):
        mine = [study for study in studies if study.figure == name and study.right and study.id in tallies]
        shares = {study.name: tallies[study.id].coverage for study in mine}
        value = together([tallies[study.id] for study in mine])
        found.append(Figure(name, value, min(shares.values()), shares))
    return found
