"""Studies of the thresholds of every fit kind: under its own family of curves, and under others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from coverage_simulate import HOLD, Random, Sweep
from coverage_study import Study, Trial
from scipy.optimize import brentq
from scipy.special import expit, ndtr

from chaosgate.model.fit import FITS, DoseWindow
from chaosgate.units import Dimension, format_share

Curve = Callable[[float], float]
"""The share of requests that breaks the bound, by dose."""
PLAN = Sweep()
FINE = Sweep(doses=(0.06, 0.12, 0.16, 0.2, 0.24, 0.28, 0.32, 0.36))
"""With doses enough that some lie on a rise."""
LOADED = Sweep(doses=(5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0), size=100, rho=0.01)
"""Loads, in requests a second."""
LOADS = (1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 24.0, 32.0)
"""Requests in flight."""
FACTOR, RATE_AT_ONE = 0.06, 30.0
"""The spread of a window's factor, and the requests a second of one that is in flight."""


def make_fit(kind: str, share: float, **more: Any) -> Any:
    """A fit of a registered kind as a spec makes it."""
    response = {"sli": "ttft", "bound": "<= 300ms", "share": format_share(share)}
    return FITS.get(kind)(**{"name": "fit", "kind": kind, "fault": "fault", "response": response, **more})


def fit_of(kind: str) -> Any:
    """A fit of a kind that asks for no share."""
    response = {"sli": "ttft", "bound": "<= 300ms"}
    return FITS.get(kind)(name="fit", kind=kind, fault="fault", response=response)


def make_usl() -> Any:
    """A fit of a rate."""
    return FITS.get("usl")(name="fit", kind="usl", fault="fault", response={"sli": "request-rate"})


def thresholds(
    fit: Any, curve: Curve, truth: float, sweep: Sweep, dimension: Dimension = "duration"
) -> Callable[[Random], Trial]:
    """Sweeps along `curve`, and the threshold that `fit` finds in each."""

    def simulate(random: Random) -> Trial:
        return trial(fit, sweep.counts(random, curve), truth, int(random.integers(2**31)), dimension)

    return simulate


def throughputs(fit: Any, law: Curve, truth: float) -> Callable[[Random], Trial]:
    """Three windows of 2 s a load; requests are Poisson about the law's rate times the window's factor."""

    def simulate(random: Random) -> Trial:
        windows = []
        for load in np.repeat(LOADS, 3):
            mean = RATE_AT_ONE * law(load) * HOLD * float(np.exp(FACTOR * random.standard_normal()))
            n = int(random.poisson(mean))
            windows.append(DoseWindow(float(load), 0, n, float(n), HOLD))
        return trial(fit, windows, truth, int(random.integers(2**31)), "number")

    return simulate


def trial(fit: Any, windows: Sequence[DoseWindow], truth: float, seed: int, dimension: Dimension) -> Trial:
    """The threshold that `fit` finds in `windows`; a bracket has ends and no value."""
    found = fit.fit(windows, seed, dimension)
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


def segmented(knee: float, width: float, floor: float, ceiling: float) -> Curve:
    """The family of the kind segmented."""
    return lambda dose: float(np.interp(dose, [knee, knee + width], [floor, ceiling]))


def exponential(critical: float, width: float, floor: float) -> Curve:
    """The family of the kind phase-change."""
    return lambda load: float(floor * np.exp(max(load - critical, 0.0) / width))


def usl(contention: float, coherency: float) -> Curve:
    """The family of the kind usl, as a multiple of the rate at load 1."""
    return lambda load: load / (1 + contention * (load - 1) + coherency * load * (load - 1))


def step(where: float, below: float, above: float) -> Curve:
    """A jump from one share to another."""
    return lambda dose: below if dose < where else above


def hump(peak: float) -> Curve:
    """A share that rises to 0.8 at `peak` and falls again: no dose separates what breaks from what does not."""
    return lambda dose: float(0.8 * np.exp(-(((dose - peak) / 0.06) ** 2)))


def studies() -> Iterator[Study]:
    """Every design of every fit kind; a kind of chaosgate that has none is refused."""
    known = {
        "logistic": logistic_studies,
        "isotonic": isotonic_studies,
        "segmented": segmented_studies,
        "phase-change": phase_studies,
        "usl": usl_studies,
        "best": best_studies,
    }
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


def segmented_studies() -> Iterator[Study]:
    """The kind segmented: with two doses and more on its rise, and with curves that bend slowly."""
    slow = logistic(0.22, 40, 0.02)
    for name, curve, truth, right in (
        ("rise from 170ms over 120ms, rho 0.03", segmented(0.17, 0.12, 0.02, 0.9), 0.17, True),
        ("rise from 150ms over 200ms, rho 0.03", segmented(0.15, 0.2, 0.05, 0.8), 0.15, True),
        ("logistic curve, knee where it has risen by 5 points", slow, crossing(slow, 0.07, FINE.doses), False),
    ):
        simulate = thresholds(fit_of("segmented"), curve, truth, FINE)
        yield Study("coverage_segmented", name, simulate, "ms", 1e3, right=right)


def phase_studies() -> Iterator[Study]:
    """The kind phase-change: growth e-fold in a fifth and in a third of the range, and growth along a line."""
    fit = fit_of("phase-change")
    for name, curve, truth, right in (
        ("critical load 20, width 8, floor 2 %", exponential(20, 8, 0.02), 20.0, True),
        ("critical load 22, width 12, floor 5 %", exponential(22, 12, 0.05), 22.0, True),
        ("a straight rise from load 20", segmented(20, 40, 0.02, 0.5), 20.0, False),
    ):
        yield Study("coverage_phase", name, thresholds(fit, curve, truth, LOADED, "number"), "", right=right)


def usl_studies() -> Iterator[Study]:
    """The kind usl: throughput by requests in flight, each window with a lognormal factor, and arrivals by chance."""
    fit = make_usl()
    for figure, name, law, truth, right in (
        ("coverage_usl", "contention 0.05, peak at 13.8", usl(0.05, 0.005), (0.95 / 0.005) ** 0.5, True),
        ("coverage_usl", "contention 0.1, peak at 16", usl(0.1, 0.0035), (0.9 / 0.0035) ** 0.5, True),
        ("coverage_usl", "falls exponentially, peak at 14", lambda load: load * float(np.exp(-load / 14)), 14.0, False),
        # So flat a peak that two upper ends in three are open, and an open end misses nothing: 97.5 % is nominal then.
        ("coverage_open_ends", "usl, contention 0.2, peak at 20", usl(0.2, 0.002), (0.8 / 0.002) ** 0.5, True),
    ):
        yield Study(figure, name, throughputs(fit, law, truth), "", right=right)


def best_studies() -> Iterator[Study]:
    """The kind best, of logistic and isotonic: where the former is true, and where it is not."""
    fit = make_fit("best", 0.5, kinds=("logistic", "isotonic"))
    for name, curve in (
        ("logistic or isotonic, a logistic curve", logistic(0.22, 30)),
        ("logistic or isotonic, a complementary log-log curve", gompertz(0.22, 25)),
    ):
        truth = crossing(curve, 0.5, PLAN.doses)
        yield Study("coverage_best", name, thresholds(fit, curve, truth, PLAN), "ms", 1e3)


def _crossing_study(kind: str, name: str, share: float, curve: Curve, sweep: Sweep, right: bool = True) -> Study:
    truth = crossing(curve, share, sweep.doses)
    simulate = thresholds(make_fit(kind, share), curve, truth, sweep)
    return Study(f"coverage_{kind}", name, simulate, "ms", 1e3, right=right)
