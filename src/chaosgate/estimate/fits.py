"""The thresholds of a spec's fits."""

from __future__ import annotations

from collections.abc import Iterator

from chaosgate.estimate.breaks import broken_by_window
from chaosgate.estimate.data import RunData
from chaosgate.estimate.measured import measure
from chaosgate.estimate.windows import RunWindows, place_requests
from chaosgate.model.fit import BreakResponse, DoseWindow, Fit
from chaosgate.model.observation import Window
from chaosgate.model.result import FitResult, Fits
from chaosgate.model.sli import SLIS


def fit_run(run: RunData) -> Fits:
    """Every fit of the spec on the windows of its fault, controls at dose 0 included."""
    windows = place_requests(run)
    return Fits(fits=tuple(_fitted(run, windows, fit) for fit in run.spec.spec.fits))


def _fitted(run: RunData, windows: RunWindows, fit: Fit) -> FitResult:
    seen = [found for window in windows.sweeps[fit.fault] for found in _seen(fit, window)]
    dimension = run.spec.fault(fit.fault).axis().dimension
    threshold = fit.fit(seen, run.spec.spec.workload.seed, dimension)
    return FitResult(name=fit.name, kind=fit.kind, fault=fit.fault, dimension=dimension, threshold=threshold)


def _seen(fit: Fit, window: Window) -> Iterator[DoseWindow]:
    """The window as the fit reads it; none where no request of it counts."""
    kind, response, dose = SLIS.get(fit.response.sli), fit.response, window.dose
    if dose is None:
        return
    if isinstance(response, BreakResponse):
        for broke, n in broken_by_window(kind, response.bound, [window]):
            yield DoseWindow(float(dose), broke, n)
        return
    ((_, values),) = measure(kind, [window])
    if len(values):
        yield DoseWindow(float(dose), 0, len(values), float(values.sum()), window.end - window.start)
