"""The band of a history, against a worked example and against draws of known runs."""

from __future__ import annotations

import numpy as np
import pytest

from chaosgate.statistics.band import PastValues

HAHN_MEEKER = PastValues(np.array([51.4, 49.5, 48.7, 49.3, 51.6]))
"""Hahn & Meeker, "Statistical Intervals" (1991), ch. 3 and 4: mean 50.10, standard deviation 1.31."""


def test_the_mean_has_the_published_interval() -> None:
    arm = HAHN_MEEKER.arm()
    assert arm.value == pytest.approx(50.10)
    assert (arm.lower, arm.upper) == pytest.approx((48.5, 51.7), abs=0.05)


def test_one_more_value_has_the_published_prediction_interval() -> None:
    assert HAHN_MEEKER.band(0.025) == pytest.approx((46.1, 54.1), abs=0.05)


def test_a_smaller_tail_makes_a_wider_band() -> None:
    inner, outer = HAHN_MEEKER.band(0.025), HAHN_MEEKER.band(0.005)
    assert outer[0] < inner[0] < inner[1] < outer[1]


def test_values_that_are_all_the_same_have_a_band_without_width() -> None:
    assert PastValues(np.array([2.0, 2.0, 2.0])).band(0.005) == (2.0, 2.0)


def test_95_percent_of_further_runs_lie_in_the_band() -> None:
    random = np.random.default_rng(3)
    draws = random.normal(100, 7, (2000, 6))
    bands = [PastValues(row[:5]).band(0.025) for row in draws]
    inside = np.mean([low <= value <= high for (low, high), value in zip(bands, draws[:, 5], strict=True)])
    assert 0.935 < inside < 0.965
