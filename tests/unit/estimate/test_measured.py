"""A window's numbers are worked out once, for the samples that it has."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from sli_samples import sample, window

from chaosgate.estimate.measured import by_prompt, measure
from chaosgate.model.observation import Sample
from chaosgate.model.sli import Sli, Statistic
from chaosgate.units import Dimension


class Counted(Sli):
    """The first token's time, and how often it was asked for."""

    dimension: ClassVar[Dimension] = "number"
    statistic: ClassVar[Statistic] = "mean"
    asked: ClassVar[int] = 0

    @staticmethod
    def value(sample: Sample) -> float | None:
        """The time."""
        Counted.asked += 1
        return sample.observation.first


def test_a_window_remembers_its_numbers_and_nobody_can_change_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Counted, "asked", 0)
    one = window([sample(first=first) for first in (0.5, 0.25)])
    ((_, values),) = measure(Counted, [one])
    assert measure(Counted, [one])[0][1] is values
    assert (values.tolist(), Counted.asked) == ([0.5, 0.25], 2)
    assert by_prompt(Counted, one) is by_prompt(Counted, one)
    assert Counted.asked == 4
    with pytest.raises(ValueError, match="read-only"):
        values[0] = np.nan


def test_a_window_with_other_samples_has_numbers_of_its_own() -> None:
    one = window([sample(first=0.5)])
    measure(Counted, [one])
    ((_, values),) = measure(Counted, [replace(one, samples=(sample(first=2.0),))])
    assert values.tolist() == [2.0]
    assert replace(one) == one
