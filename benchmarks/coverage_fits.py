"""Studies of the thresholds of every fit kind: under its own family of curves, and under others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from coverage_simulate import Random, Sweep
from coverage_study import Study, Trial
from scipy.optimize import brentq
from scipy.special import expit, ndtr

from chaosgate.model.fit import FITS, DoseWindow
from chaosgate.units import format_share

Curve = Callable[[float], float]
"""The share of requests that breaks the bound, by dose."""
PLAN = Sweep()


def make_fit(kind: str, share: float, **more: Any) -> Any:
    """A fit of a registered kind as a spec makes it."""
    response = {"sli": "ttft", "bound": "<= 300ms", "share": format_share(share)}
    return FITS.get(kind)(**{"name": "fit", "kind": kind, "fault": "fault", "response": response, **more})


def thresholds(fit: Any, curve: Curve, truth: float, sweep: Sweep) -> Callable[[Random], Trial]:
    """Sweeps along `curve`, and the threshold that `fit` finds in each."""

    def simulate(random: Random) -> Trial:
        return trial(fit, sweep.counts(random, curve), truth, int(random.integers(2**31)))

    return simulate


def trial(fit: Any, windows: Sequence[DoseWindow], truth: float, seed: int) -> Trial:
    """The threshold that `fit` finds in `windows`; a bracket has ends and no value."""
    found = fit.fit(windows, seed, "duration")
    if found.outcome == "refused":
        return Trial(truth, refused=found.reason)
    return Trial(truth, found.value, found.lower, found.upper)


def crossing(curve: Curve, share: float, doses: Sequence[float]) -> float:
    """The dose at which `curve` passes `share` for the first time; nowhere else does it rise through it."""
    steps = np.linspace(0.0, max(doses), 1000)
    above = next(dose for dose in steps if curve(dose) >= share)
    return float(brentq(lambda dose: curve(dose) - share, 0.0, above, xtol=1e-9)) if curve(above) > share else above


def logistic(midpoint: float, steepness: float, background: float = 0.0) -> Curve:
    """The family of the kind logistic."""
    return lambda dose: float(background + (1 - background) * expit(steepness * (dose - midpoint)))


def probit(midpoint: float, spread: float) -> Curve:
    """A normal distribution of tolerances: lighter tails than the logistic's."""
    return lambda dose: float(ndtr((dose - midpoint) / spread))


def gompertz(midpoint: float, steepness: float) -> Curve:
    """The complementary log-log curve, which rises slowly and ends abruptly; at the midpoint it passes one half."""
    return lambda dose: float(-np.expm1(-np.log(2) * np.exp(steepness * (dose - midpoint))))


def partial(midpoint: float, steepness: float, most: float) -> Curve:
    """A fault that reaches only a part of the requests: it levels off at `most`."""
    return lambda dose: float(most * expit(steepness * (dose - midpoint)))


def step(where: float, below: float, above: float) -> Curve:
    """A jump from one share to another."""
    return lambda dose: below if dose < where else above


def hump(peak: float) -> Curve:
    """A share that rises to 0.8 at `peak` and falls again: no dose separates what breaks from what does not."""
    return lambda dose: float(0.8 * np.exp(-(((dose - peak) / 0.06) ** 2)))


def studies() -> Iterator[Study]:
    """Every design of every fit kind; a kind of chaosgate that has none is refused."""
    known = {"logistic": logistic_studies, "isotonic": isotonic_studies}
    for name, kind in FITS.items():
        if kind.__module__.startswith("chaosgate.") and name not in known:
            raise LookupError(f"fit kind {name!r} has no study; add one in {__file__}")
    for make in known.values():
        yield from make()


def logistic_studies() -> Iterator[Study]:
    """The kind logistic: at one half, at a tenth above a background, with few windows, and with wrong curves."""
    for share, curve, sweep in (
        (0.5, logistic(0.22, 30), PLAN),
        (0.1, logistic(0.24, 30, 0.02), Sweep(windows=6)),
        (0.2, logistic(0.22, 30), Sweep(windows=3, rho=0.05)),
    ):
        name = f"share {share:g}, rho {sweep.rho:g}, {sweep.windows} windows a dose"
        yield _crossing_study("logistic", name, share, curve, sweep)
    for name, share, curve in (
        ("probit curve, share 0.5", 0.5, probit(0.22, 0.06)),
        ("complementary log-log curve, share 0.2", 0.2, gompertz(0.22, 25)),
        ("levels off at 0.6, share 0.3", 0.3, partial(0.2, 40, 0.6)),
    ):
        yield _crossing_study("logistic", name, share, curve, PLAN, right=False)


def isotonic_studies() -> Iterator[Study]:
    """The kind isotonic: every rising curve is of its family, and a hump is not."""
    for name, share, curve in (
        ("logistic curve, share 0.5", 0.5, logistic(0.2, 30)),
        ("levels off at 0.6, share 0.3", 0.3, partial(0.2, 40, 0.6)),
        ("complementary log-log curve, share 0.2", 0.2, gompertz(0.24, 25)),
        ("a step at 0.2, share 0.5", 0.5, step(0.2, 0.05, 0.9)),
    ):
        yield _crossing_study("isotonic", name, share, curve, PLAN)
    yield _crossing_study("isotonic", "falls again beyond 0.22, share 0.3", 0.3, hump(0.22), PLAN, right=False)


def _crossing_study(kind: str, name: str, share: float, curve: Curve, sweep: Sweep, right: bool = True) -> Study:
    truth = crossing(curve, share, sweep.doses)
    simulate = thresholds(make_fit(kind, share), curve, truth, sweep)
    return Study(f"coverage_{kind}", name, simulate, "ms", 1e3, right)
