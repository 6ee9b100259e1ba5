"""The estimates that a spec's steady state and objectives rest on, and the table of every SLI at every dose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chaosgate.estimate.changes import Change, Side, change_numbers, change_of
from chaosgate.estimate.numbers import Numbers, estimate
from chaosgate.estimate.position import position
from chaosgate.estimate.windows import RunWindows
from chaosgate.model.blocks import longest_within
from chaosgate.model.fault import Fault
from chaosgate.model.observation import MIN_WINDOWS, Window
from chaosgate.model.result import Estimate, ObjectiveEstimate, finite
from chaosgate.model.sli import resolve_sli
from chaosgate.model.spec import ChaosSpec, DoseRange, Objective
from chaosgate.units import Bound, Dimension, format_value


@dataclass(frozen=True)
class Estimator:
    """Estimates of a run's SLIs at a place. An estimate without requests carries its reason, not an error."""

    spec: ChaosSpec
    windows: RunWindows
    change: Change | None = None
    """Where set, what is estimated at doses and in the recovery is the change from the baseline."""

    def judging(self, objective: Objective) -> Estimator:
        """The one whose estimates `objective` judges."""
        if objective.change is None:
            return self
        return replace(self, change=change_of(objective.change, _dimension(str(objective.sli))))

    def baseline(self, sli: str) -> Estimate:
        """`sli` over the baseline."""
        return baseline_estimate(sli, self.windows.baseline, self.windows.undisturbed, self.spec.spec.workload.seed)

    def recovery(self, sli: str, fault: str | None = None, after: float = 0.0) -> Estimate:
        """`sli` over the recovery windows that start `after` seconds or more after the last `off`."""
        numbers = self.numbers(sli, self.windows.recovered(fault, after), self.windows.undisturbed)
        return self._labelled(numbers, Estimate(sli=sli, at="recovery", place="recovery", dimension=_dimension(sli)))

    def recovered(self, sli: str) -> Estimate:
        """`sli` over the recovery windows that start once every `within` of the spec has passed."""
        return self.recovery(sli, after=longest_within(self.spec))

    def dose(self, sli: str, fault: Fault, dose: float) -> Estimate:
        """`sli` at one dose; 0 means the controls."""
        at = f"dose {format_value(dose, fault.axis().dimension)}"
        windows = self.windows.at_dose(fault.name, dose)
        numbers = self.numbers(sli, windows, self.windows.alike(fault.name))
        return self._labelled(
            numbers,
            Estimate(
                sli=sli,
                at=at,
                place="dose" if dose > 0 else "control",
                dimension=_dimension(sli),
                fault=fault.name,
                dose=dose,
            ),
        )

    def doses(self, sli: str, fault: Fault, among: Bound | None) -> Estimate:
        """`sli` over all doses of the sweep that lie `among` the bound (None: over all), controls left out."""
        windows = self.windows.at_doses(fault.name, lambda dose: selected(dose, among))
        at = "all doses" if among is None else f"dose {among}"
        place = Estimate(sli=sli, at=at, place="dose", dimension=_dimension(sli), fault=fault.name)
        return self._labelled(self.numbers(sli, windows, self.windows.alike(fault.name)), place)

    def numbers(self, sli: str, windows: Sequence[Window], alike: Sequence[Sequence[Window]]) -> Numbers:
        """`sli` over `windows`; `alike` are groups within which nothing was changed on purpose."""
        ref, seed = resolve_sli(sli), self.spec.spec.workload.seed
        if self.change is None:
            return estimate(ref, windows, alike, seed)
        before = Side(self.windows.baseline, self.windows.undisturbed)
        return change_numbers(ref, before, Side(windows, alike), self.change, seed)

    def _labelled(self, numbers: Numbers, place: Estimate) -> Estimate:
        dimension = "share" if self.change == "relative" else place.dimension
        return _labelled(numbers, place.model_copy(update={"change": self.change, "dimension": dimension}))


def baseline_estimate(
    sli: str, baseline: Sequence[Window], undisturbed: Sequence[Sequence[Window]], seed: int
) -> Estimate:
    """`sli` over the windows of the baseline."""
    numbers = estimate(resolve_sli(sli), baseline, undisturbed, seed)
    return _labelled(numbers, Estimate(sli=sli, at="baseline", place="baseline", dimension=_dimension(sli)))


def selected(dose: float, among: Bound | None) -> bool:
    """Whether an objective judges at `dose`: above 0, and within the bound if there is one."""
    return dose > 0 and (among is None or among.holds(dose))


def objective_fault(spec: ChaosSpec, objective: Objective) -> Fault:
    """The fault whose doses an objective means: the one it names, else the spec's first and only one."""
    return spec.fault(objective.fault) if objective.fault is not None else spec.spec.faults[0]


def judged_doses(spec: ChaosSpec, fault: Fault) -> set[float]:
    """The doses of `fault` that any objective judges."""
    mine = (o for o in spec.spec.objectives if objective_fault(spec, o).name == fault.name)
    ranges = [objective.at for objective in mine if isinstance(objective.at, DoseRange)]
    return {dose for at in ranges for dose in fault.dose.values if selected(dose, dose_bound(at))}


def dose_bound(at: DoseRange) -> Bound | None:
    """The bound of a dose range, None for all doses."""
    return at.dose if isinstance(at.dose, Bound) else None


def estimate_objective(estimator: Estimator, objective: Objective) -> ObjectiveEstimate:
    """What `objective`, one on an SLI, rests on, with baseline and recovery to compare."""
    sli, at = objective.sli, objective.at
    if sli is None or at is None:
        raise ValueError(f"objective {objective.name!r} is on a fit; it is judged by the fit's threshold")
    baseline, recovery, after = estimator.baseline(sli), estimator.recovery(sli, objective.fault), None
    judging = estimator.judging(objective)
    if at == "baseline":
        estimates: tuple[Estimate, ...] = (baseline,)
    elif at == "recovery":
        judged, after = _after_recovery(judging, objective)
        estimates = (judged,)
    else:
        estimates = tuple(_at_doses(judging, objective, at))
    return ObjectiveEstimate(
        objective=objective.name, estimates=estimates, baseline=baseline, recovery=recovery, after=after
    )


def _at_doses(estimator: Estimator, objective: Objective, at: DoseRange) -> Iterator[Estimate]:
    fault, sli = objective_fault(estimator.spec, objective), str(objective.sli)
    among = dose_bound(at)
    doses = [dose for dose in sorted(set(fault.dose.values)) if selected(dose, among)]
    if objective.each and doses:
        yield from (estimator.dose(sli, fault, dose) for dose in doses)
    else:
        yield estimator.doses(sli, fault, among)


def _after_recovery(estimator: Estimator, objective: Objective) -> tuple[Estimate, float | None]:
    """The estimate over the whole recovery where the SLI is back in it, else from the latest allowed start on.

    Back means that the interval over all windows that follow lies wholly inside the bound. Both looks are planned, and
    there are no more of them: with one at every window start that `within` allows, a service at the bound would pass
    too often, because any of many intervals may lie inside by chance (optional stopping: Armitage, McPherson & Rowe,
    JRSS A 132, 1969).
    """
    sli, bound = str(objective.sli), objective.limit
    found, after = estimator.recovery(sli, objective.fault), None
    for after in _looks(estimator.windows, objective):
        found = estimator.recovery(sli, objective.fault, after)
        if bound is not None and position(bound, found.value, found.lower, found.upper, found.unbounded) == "inside":
            break
    return found, after


def _looks(windows: RunWindows, objective: Objective) -> list[float]:
    """Seconds after `off` at which the first recovery window starts, and the last that `within` allows if another."""
    recoveries = [r for r in windows.recoveries if objective.fault is None or objective.fault in r.faults]
    starts = sorted({round(w.start - r.off, 6) for r in recoveries for w in r.windows})
    allowed = [start for start in starts[1:] if objective.within is not None and start <= objective.within]
    latest = [s for s in allowed[-1:] if len(windows.recovered(objective.fault, s)) >= MIN_WINDOWS]
    return starts[:1] + latest


def named_slis(spec: ChaosSpec) -> list[str]:
    """Every SLI that the steady state or an objective names, in the order of the spec."""
    names = [steady.sli for steady in spec.spec.steady_state.objectives]
    names += [objective.sli for objective in spec.spec.objectives if objective.sli is not None]
    return list(dict.fromkeys(names))


def dose_table(estimator: Estimator) -> Iterator[Estimate]:
    """Every named SLI at every dose of every fault, the controls first."""
    for fault in estimator.spec.spec.faults:
        for sli in named_slis(estimator.spec):
            for dose in sorted({0.0, *fault.dose.values}):
                yield estimator.dose(sli, fault, dose)


def _dimension(sli: str) -> Dimension:
    return resolve_sli(sli).dimension


def _labelled(numbers: Numbers, place: Estimate) -> Estimate:
    found = {name: finite(getattr(numbers, name)) for name in ("value", "lower", "upper")}
    return place.model_copy(
        update={
            **found,
            "n": numbers.n,
            "windows": numbers.windows,
            "reason": numbers.reason,
            "unbounded": numbers.unbounded,
            "paired": numbers.paired,
            "freedom": numbers.freedom,
        },
    )
