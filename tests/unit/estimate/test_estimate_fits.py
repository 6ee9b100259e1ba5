from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from simulated_run import KNEE, Conditions, passing_fits, passing_run, simulate, stream_spec

from chaosgate.estimate import fit_run
from chaosgate.estimate.breaks import breaks
from chaosgate.fits.logistic import Logistic
from chaosgate.fits.usl import Usl
from chaosgate.model.fit import DoseWindow, Threshold
from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS
from chaosgate.units import Bound

SEEN = passing_run().phases["baseline"].observations[0]


@pytest.mark.parametrize(
    ("sli", "bound", "update", "expected"),
    [
        ("ttft", "<= 300ms", {"first": SEEN.scheduled + 0.299}, False),
        ("ttft", "<= 300ms", {"first": SEEN.scheduled + 0.4}, True),
        ("ttft", "<= 300ms", {"outcome": "error"}, True),
        ("ttft", ">= 300ms", {"outcome": "error"}, True),
        ("ttft", "<= 300ms", {"first": None}, None),
        ("ttft", "<= 300ms", {"first": float("nan")}, True),
        ("error-rate", "<= 1 %", {"outcome": "cut"}, True),
        ("error-rate", "<= 1 %", {}, False),
        ("exact-match", ">= 99 %", {"outcome": "error"}, None),
        ("exact-match", ">= 99 %", {"text": "other"}, True),
    ],
)
def test_a_request_meets_or_breaks_a_bound(sli: str, bound: str, update: dict[str, Any], expected: bool | None) -> None:
    sample = Sample(SEEN.model_copy(update=update), clean=SEEN.text)

    assert breaks(SLIS.get(sli), Bound.parse(bound), sample) is expected


def test_a_fit_is_given_every_window_of_its_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[DoseWindow] = []

    def fit(self: Logistic, windows: Sequence[DoseWindow], seed: int, dimension: str = "number") -> Threshold:
        given.extend(windows)
        assert (seed, dimension) == (7, "duration")
        return Threshold(outcome="refused", value=None, lower=None, upper=None, n=0, windows=len(windows))

    monkeypatch.setattr(Logistic, "fit", fit)
    (found,) = fit_run(simulate(conditions=Conditions(failing=0.2))).fits

    assert (found.name, found.kind, found.fault, found.dimension) == ("knee", "logistic", "slow-wire", "duration")
    assert len(given) == 26
    assert sum(window.dose == 0 for window in given) == 6
    # A failed request breaks the bound at any dose, and every request does at the largest one.
    assert all(window.broken > 0 for window in given)
    assert all(window.broken == window.n for window in given if window.dose == 0.32)


def test_a_fit_of_amounts_is_given_what_came_in_how_many_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[DoseWindow] = []

    def fit(self: Usl, windows: Sequence[DoseWindow], seed: int, dimension: str = "number") -> Threshold:
        given.extend(windows)
        return Threshold(outcome="refused", value=None, lower=None, upper=None, n=0, windows=len(windows), reason="x")

    monkeypatch.setattr(Usl, "fit", fit)
    peak = {"name": "peak", "kind": "usl", "fault": "slow-wire", "response": {"sli": "request-rate"}}
    fit_run(simulate(stream_spec(fits=(KNEE, peak))))

    assert len(given) == 26
    assert {round(window.seconds, 6) for window in given} == {2.0}
    assert all(window.amount == window.n for window in given)


def test_the_knee_of_the_passing_run() -> None:
    (found,) = passing_fits().fits

    # 5 % break 300 ms where 10 ms * ln 20 = 30 ms come on top of dose + 30 ms: at about 240 ms.
    assert found.threshold.lower is not None
    assert found.threshold.upper is not None
    assert 0.18 < found.threshold.lower < 0.24 < found.threshold.upper + 0.01
