"""What became of each request that a fault touched: masked, wrong, garbled, detected, crashed or hung; by dose."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from chaosgate.estimate.data import RunData
from chaosgate.estimate.garbled import garbled
from chaosgate.estimate.windows import RunWindows
from chaosgate.model.comparison import REQUEST_OUTCOMES, Interval, OutcomeCount, OutcomeRow, RequestOutcome
from chaosgate.model.fault import ClusterFault, Fault
from chaosgate.model.observation import Observation, Sample, Window
from chaosgate.model.sli import SLIS
from chaosgate.statistics.intervals import Group, share_interval
from chaosgate.statistics.ranks import quantile_of

HUNG = 10.0
"""So many times the clean median, and whoever waits takes the service for dead: Nielsen, "Usability Engineering"
(1993), ch. 5, puts ten seconds, ten times what keeps a train of thought, as the limit of attention."""

Touched = Callable[[Sample], bool]


def outcome_rows(run: RunData, windows: RunWindows) -> Iterator[OutcomeRow]:
    """A row for the controls and for each dose of every fault at which a judged request was touched.

    Of a fault of the cluster, which no ledger row tells whom it touched, every request of its windows counts.
    """
    median = clean_median(windows.baseline)
    for fault in run.spec.spec.faults:
        touched = _touched_by(run, fault)
        for dose in sorted({window.dose or 0.0 for window in windows.sweeps[fault.name]}):
            at_dose = windows.at_dose(fault.name, dose)
            seen = [_outcomes(window, touched if dose else _everybody, median) for window in at_dose]
            seen = [each for each in seen if each]
            if seen:
                yield _row(fault.name, dose, seen, run.spec.spec.workload.seed)


def outcome_of(sample: Sample, median: float | None) -> RequestOutcome:
    """What became of one request; `median` is that of e2e in the baseline, None where it is not known.

    How it ended goes first: a right answer that came after HUNG times the median helped nobody any more.
    """
    seen = sample.observation
    if seen.outcome in ("cut", "refused"):
        return "crashed"
    if seen.outcome == "error":
        return "detected"
    e2e = SLIS.get("e2e").value(sample)
    if seen.outcome == "timeout" or (median is not None and e2e is not None and e2e > HUNG * median):
        return "hung"
    return _answered(seen, sample.clean)


def clean_median(baseline: Sequence[Window]) -> float | None:
    """The median of e2e over the whole answers of the baseline, seconds; None without any."""
    e2e = SLIS.get("e2e")
    found = (e2e.value(sample) for window in baseline for sample in window.samples)
    values = [value for value in found if value is not None and math.isfinite(value)]
    return quantile_of(values, 0.5) if values else None


def _answered(seen: Observation, clean: str | None) -> RequestOutcome:
    if seen.answer == "right" or seen.text == clean:
        return "masked"
    if seen.answer is None and clean is None:
        return "unscored"
    if seen.said is None:
        return "altered"
    return "garbled" if garbled(seen.said) else "fluent-wrong"


def _everybody(_: Sample) -> bool:
    return True


def _touched_by(run: RunData, fault: Fault) -> Touched:
    if isinstance(fault, ClusterFault):
        return _everybody
    rows = (row for phase in run.phases.values() for row in phase.ledger)
    return partial(_is_in, frozenset(row.request for row in rows if row.applied and row.fault == fault.name))


def _is_in(touched: frozenset[str], sample: Sample) -> bool:
    return sample.observation.request in touched


def _outcomes(window: Window, touched: Touched, median: float | None) -> Counter[RequestOutcome]:
    return Counter(outcome_of(sample, median) for sample in window.samples if touched(sample))


def _row(fault: str, dose: float, seen: Sequence[Counter[RequestOutcome]], seed: int) -> OutcomeRow:
    counts = np.array([float(window.total()) for window in seen])
    total: Counter[RequestOutcome] = sum(seen, Counter())
    found = [name for name in REQUEST_OUTCOMES if total[name]]
    return OutcomeRow(
        fault=fault,
        dose=dose,
        n=total.total(),
        windows=len(seen),
        counts=tuple(
            OutcomeCount(outcome=name, count=total[name], share=_share(name, seen, counts, seed)) for name in found
        ),
    )


def _share(name: RequestOutcome, seen: Sequence[Counter[RequestOutcome]], counts: np.ndarray, seed: int) -> Interval:
    group = Group(np.array([float(window[name]) for window in seen]), counts)
    lower, upper = share_interval([group], [], seed)
    return Interval(value=group.share, lower=lower, upper=upper)
