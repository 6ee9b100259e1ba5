"""The thresholds of a spec's fits."""

from __future__ import annotations

from chaosgate.estimate.breaks import broken_by_window
from chaosgate.estimate.data import RunData
from chaosgate.estimate.windows import RunWindows, place_requests
from chaosgate.model.fit import DoseWindow, Fit
from chaosgate.model.result import FitResult, Fits
from chaosgate.model.sli import SLIS


def fit_run(run: RunData) -> Fits:
    """Every fit of the spec on the windows of its fault, controls at dose 0 included."""
    windows = place_requests(run)
    return Fits(fits=tuple(_fitted(run, windows, fit) for fit in run.spec.spec.fits))


def _fitted(run: RunData, windows: RunWindows, fit: Fit) -> FitResult:
    kind, bound = SLIS.get(fit.response.sli), fit.response.bound
    seen = [
        DoseWindow(float(window.dose), *counts)
        for window in windows.sweeps[fit.fault]
        for counts in broken_by_window(kind, bound, [window])
        if window.dose is not None
    ]
    dimension = run.spec.fault(fit.fault).axis().dimension
    threshold = fit.fit(seen, run.spec.spec.workload.seed, dimension)
    return FitResult(name=fit.name, kind=fit.kind, fault=fit.fault, dimension=dimension, threshold=threshold)
