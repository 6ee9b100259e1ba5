"""Faults of the cluster in the data of a run: they hold in time, and no ledger row tells whom they touched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chaosgate.estimate.data import RunData
from chaosgate.estimate.windows import RunWindows
from chaosgate.model.fault import ClusterFault
from chaosgate.model.observation import TimelineEvent
from chaosgate.model.result import InjectedWindow
from chaosgate.units import format_value

MAX_OUTLASTING = 0.05
"""Share of requests, above that of the controls, that may outlast their windows: a P95 says nothing beyond it."""


def touched_doses(run: RunData, *, guarded: bool = False) -> set[tuple[str, float]]:
    """Fault and dose of whatever touched anything above dose 0: by the ledger, and of the cluster by its own proofs.

    With `guarded` a request that passes no filter does not count: it is not judged.
    """
    rows = (row for phase in run.phases.values() for row in phase.ledger)
    if guarded:
        rows = (row for row in rows if not run.spec.unguards(row.request))
    by_request = {(str(row.fault), row.dose) for row in rows if row.applied and row.dose}
    return by_request | {(w.fault, w.dose) for w in cluster_windows(run) if w.applied and w.dose}


def cluster_windows(run: RunData) -> Iterator[InjectedWindow]:
    """The injected windows of faults of the cluster."""
    faults = {fault.name for fault in run.spec.spec.faults if isinstance(fault, ClusterFault)}
    for injection in run.injections.values():
        yield from (window for window in injection.windows if window.fault in faults)


def unproved(window: InjectedWindow, proofs: Sequence[TimelineEvent]) -> Iterator[str]:
    """What an injection says it changed must be what it said at the time."""
    mine = [event for event in proofs if (event.fault, event.window) == (window.fault, window.window)]
    said = [event.detail.get("applied") for event in mine]
    if said != [window.applied]:
        yield (
            f"window {window.window} of {window.fault} changed {window.applied} objects by the injection; by its proof "
            f"in the timeline: {', '.join(map(str, said)) or 'none'}"
        )


def outlasting(run: RunData, windows: RunWindows) -> Iterator[str]:
    """Doses at which many requests outlast their window: they are left out, and an effect on them with them."""
    for fault in run.spec.spec.faults:
        if not isinstance(fault, ClusterFault):
            continue
        usual = _outlasts(run, windows, fault, 0.0)
        for dose in sorted({window.dose for window in windows.sweeps[fault.name] if window.dose}):
            share = _outlasts(run, windows, fault, dose)
            if share > usual + MAX_OUTLASTING:
                yield (
                    f"{fault.name}: {format_value(share, 'share')} of the requests that began in its windows at dose "
                    f"{format_value(dose, fault.axis().dimension)} outlast them and are left out, of the controls' "
                    f"{format_value(usual, 'share')}; hold it longer, or give workload.timeout less"
                )


def _outlasts(run: RunData, windows: RunWindows, fault: ClusterFault, dose: float) -> float:
    """The share of judged requests beginning in the windows of one dose that end after their window; 0 without any."""
    ends = [
        (request.done, window.end)
        for window in windows.at_dose(fault.name, dose)
        for request in windows.requests[window.phase]
        if window.start <= request.seen < window.end and not run.spec.unguards(request.observation.request)
    ]
    return sum(done > end for done, end in ends) / len(ends) if ends else 0.0
