"""Shapes: where a dose is at a moment, its mean over a window, and shapes that no window could show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.errors import dotted
from chaosgate.model.shape import Shape
from chaosgate.model.validation import validate
from chaosgate.units import format_duration


def ramp(seconds: float) -> Shape:
    return Shape.model_validate({"ramp": format_duration(seconds)})


def pulse(on: float, every: float) -> Shape:
    return Shape.model_validate({"pulse": {"width": format_duration(on), "period": format_duration(every)}})


RAMPS = st.builds(ramp, st.floats(0.01, 50))
PULSES = st.builds(lambda every, part: pulse(every * part, every), st.floats(0.01, 50), st.floats(0.01, 0.99))


@pytest.mark.parametrize(
    ("shape", "factors"),
    [
        (ramp(4), {0: 0, 1: 0.25, 2: 0.5, 4: 1, 9: 1, -1: 0}),
        (pulse(1, 5), {0: 1, 0.9: 1, 1: 0, 4.9: 0, 5: 1, 10.5: 1, 12: 0}),
    ],
)
def test_the_part_of_the_dose_at_a_moment(shape: Shape, factors: dict[float, float]) -> None:
    assert {seconds: shape.factor(seconds) for seconds in factors} == factors


@pytest.mark.thorough
@given(RAMPS | PULSES, st.floats(0.05, 60))
def test_the_mean_is_that_of_the_factor(shape: Shape, hold: float) -> None:
    moments = (np.arange(40_000) + 0.5) * hold / 40_000
    factors = np.array([shape.factor(moment) for moment in moments])
    # A pulse of n beginnings has 2 n edges, each of which the sum may miss by one step.
    edges = 2 * (1 + hold / shape.pulse.period) if shape.pulse else 0
    assert shape.mean(hold) == pytest.approx(factors.mean(), abs=edges / 40_000 + 1e-6)
    assert shape.reached(hold) == pytest.approx((factors > 0).mean(), abs=edges / 40_000 + 1e-6)


@pytest.mark.parametrize(
    ("shape", "hold", "mean"),
    [
        (ramp(4), 4, 0.5),
        (ramp(4), 8, 0.75),
        (pulse(1, 5), 10, 0.2),
        (pulse(1, 5), 6, 2 / 6),
    ],
)
def test_means_that_can_be_told_by_heart(shape: Shape, hold: float, mean: float) -> None:
    assert shape.mean(hold) == pytest.approx(mean)


@given(RAMPS | PULSES, st.floats(0, 1000))
def test_a_factor_is_a_share(shape: Shape, seconds: float) -> None:
    assert 0 <= shape.factor(seconds) <= 1


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({}, ": write one of `ramp: 5s` and `pulse: {width: 1s, period: 5s}`; a dose without one is constant"),
        (
            {"ramp": "1s", "pulse": {"width": "1s", "period": "2s"}},
            ": write one of `ramp: 5s` and `pulse: {width: 1s, period: 5s}`; a dose without one is constant",
        ),
        ({"ramp": "0s"}, "ramp: read '0s'; more than 0s is needed"),
        ({"ramp": 5}, "ramp: read 5 without a unit; write a duration such as 250ms, 2s or 5m (us, ms, s, m, h)"),
        ({"pulse": {"width": "1s"}}, "pulse.period: is missing; write a duration such as 250ms"),
        (
            {"pulse": {"width": "2s", "period": "2s"}},
            "pulse: read `width: 2s` and `period: 2s`, which never goes off; write a longer `period`, "
            "or leave `shape` out",
        ),
    ],
)
def test_what_is_no_shape_is_refused(data: dict[str, Any], says: str) -> None:
    found, problems = validate(Shape, data)
    assert found is None
    lines = [f"{dotted(one.path)}: {one.message}" for one in problems]
    assert [line for line in lines if says in line] == lines[:1]


@pytest.mark.parametrize(
    ("shape", "said"),
    [(ramp(2), "`shape.ramp` is 2s"), (pulse(1, 2), "`shape.pulse.period` is 2s")],
)
def test_a_window_must_show_the_shape_once(shape: Shape, said: str) -> None:
    assert shape.objection(2) is None
    assert shape.objection(1.9) == (
        f"{said} and `dose.hold` 1.9s: a window ends before the shape was seen once; hold the dose longer, or write a "
        "shorter one"
    )
