"""From what a run left behind to estimates and thresholds: pure, the same for the same data in any order."""

from __future__ import annotations

from chaosgate.estimate.change_points import find_changes
from chaosgate.estimate.comparisons import compare_run
from chaosgate.estimate.data import PhaseData, RunData
from chaosgate.estimate.fits import fit_run
from chaosgate.estimate.gauges import shown_gauges
from chaosgate.estimate.health import make_health
from chaosgate.estimate.objectives import Estimator, baseline_estimate, dose_table, estimate_objective
from chaosgate.estimate.outcomes import outcome_rows
from chaosgate.estimate.scorers import prepare_scorers, used_scorers
from chaosgate.estimate.semantic import semantic_state
from chaosgate.estimate.series import make_series
from chaosgate.estimate.times import times_of
from chaosgate.estimate.windows import place_baseline, place_requests
from chaosgate.estimate.witness import read_witness
from chaosgate.model.blocks import BASELINE
from chaosgate.model.result import Estimate, Estimates
from chaosgate.model.spec import ChaosSpec

__all__ = ["PhaseData", "RunData", "estimate_run", "estimate_steady_state", "fit_run", "semantic_state"]


def estimate_run(run: RunData) -> Estimates:
    """Everything that is estimated of `run`. Data that is missing or wrong is in `health`; nothing is raised for it."""
    prepare_scorers(run)
    windows = place_requests(run)
    estimator = Estimator(run.spec, windows)
    body = run.spec.spec
    doses = tuple(dose_table(estimator))
    return Estimates(
        steady_state=tuple(estimator.baseline(steady.sli) for steady in body.steady_state.objectives),
        recovered=tuple(estimator.recovered(steady.sli) for steady in body.steady_state.objectives),
        objectives=tuple(
            estimate_objective(estimator, objective) for objective in body.objectives if objective.sli is not None
        ),
        doses=doses,
        witnesses=tuple(read_witness(run, windows, fault) for fault in body.faults),
        health=make_health(run, windows),
        gauges=tuple(shown_gauges(run)),
        scorers=used_scorers(run.spec),
        comparisons=compare_run(estimator, doses),
        outcomes=tuple(outcome_rows(run, windows)),
        times=times_of(estimator),
        semantic=semantic_state(run.spec, run.phases.get(BASELINE)),
        change_points=find_changes(run, windows),
        series=make_series(
            request
            for requests in windows.requests.values()
            for request in requests
            if not run.spec.unguards(request.observation.request)
        ),
    )


def estimate_steady_state(spec: ChaosSpec, baseline: PhaseData) -> tuple[Estimate, ...]:
    """The estimates of the steady state's objectives, in their order, from the baseline alone."""
    windows = place_baseline(spec, baseline)
    seed = spec.spec.workload.seed
    return tuple(baseline_estimate(steady.sli, windows, (), seed) for steady in spec.spec.steady_state.objectives)
