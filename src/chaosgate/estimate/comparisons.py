"""Every SLI of a run before, during and after each fault: changes, effect sizes, tests and distributions."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from chaosgate.estimate.changes import Side, changed, pairs_of
from chaosgate.estimate.measured import measure, pooled_values
from chaosgate.estimate.numbers import Numbers
from chaosgate.estimate.objectives import Estimator, named_slis
from chaosgate.model.comparison import Comparison, Comparisons, Distribution, Interval, Significance, Stage, TestName
from chaosgate.model.fault import Fault
from chaosgate.model.observation import MIN_WINDOWS, Window
from chaosgate.model.result import Estimate, finite
from chaosgate.model.sli import SLIS, Sli, resolve_sli
from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.effects import Effect, cliffs_delta
from chaosgate.statistics.multiplicity import holm
from chaosgate.statistics.paired import Pairs, mcnemar, wilcoxon
from chaosgate.statistics.ranks import quantile_rank
from chaosgate.statistics.unpaired import Tested, kolmogorov_smirnov, mann_whitney

PARTS = 100
"""Equal parts into which a distribution is cut for its plot."""


def compare_run(estimator: Estimator, doses: Sequence[Estimate]) -> Comparisons:
    """The comparisons of every named SLI at every dose, all doses and the recovery with the baseline.

    `doses` are the estimates of every SLI at every dose. The probabilities of each test are adjusted for all
    comparisons by it.
    """
    before = {sli: estimator.baseline(sli) for sli in named_slis(estimator.spec)}
    found = [_compared(estimator, before[then.sli], then, side) for then, side in _places(estimator, doses)]
    drawn, faults = _drawn(estimator), estimator.spec.spec.faults
    distributions = [each for fault in faults for name in drawn for each in _distributions(estimator, name, fault)]
    return Comparisons(comparisons=tuple(_adjusted(found)), distributions=tuple(distributions))


def _places(estimator: Estimator, doses: Sequence[Estimate]) -> Iterator[tuple[Estimate, Side]]:
    """Each SLI at each dose of every fault, at all doses together where there are several, and after it."""
    windows = estimator.windows
    for fault in estimator.spec.spec.faults:
        name, alike = fault.name, windows.alike(fault.name)
        for sli in named_slis(estimator.spec):
            mine = [each for each in doses if (each.sli, each.fault) == (sli, name) and each.dose]
            for then in mine:
                yield then, Side(windows.at_dose(name, then.dose or 0.0), alike)
            if len(mine) > 1:
                yield estimator.doses(sli, fault, None), Side(windows.at_doses(name, lambda dose: dose > 0), alike)
            recovery = estimator.recovery(sli, name).model_copy(update={"fault": name})
            yield recovery, Side(windows.recovered(name), windows.undisturbed)


def _compared(estimator: Estimator, before: Estimate, then: Estimate, side: Side) -> Comparison:
    ref = resolve_sli(then.sli)
    sides = _Sides(ref.kind, Side(estimator.windows.baseline, estimator.windows.undisturbed), side)
    pairs = sides.pairs if ref.kind.statistic in ("share", "mean") else None
    seed = estimator.spec.spec.workload.seed
    change = changed(ref, numbers_of(before), numbers_of(then), pairs, "absolute", seed)
    effect = sides.effect()
    return Comparison(
        sli=then.sli,
        fault=str(then.fault),
        at=then.at,
        place=then.place,
        dose=then.dose,
        dimension=then.dimension,
        before=_interval(before),
        then=_interval(then),
        change=_interval(change),
        paired=change.paired,
        n=then.n,
        effect=None if effect is None else _interval(effect),
        tests=tuple(sides.tests()),
        reason=change.reason,
    )


@dataclass(frozen=True)
class _Sides:
    """The requests of one kind of SLI before and then."""

    kind: type[Sli]
    before: Side
    then: Side

    def tests(self) -> Iterator[Significance]:
        """A paired test where values pair, and tests of the two sides as a whole."""
        if not self._comparable:
            return
        pairs, share = self.pairs, self.kind.statistic == "share"
        if pairs is not None:
            yield _significance("McNemar", mcnemar(pairs)) if share else _significance("Wilcoxon", wilcoxon(pairs))
        first, second = self._strata
        if not share:
            yield _significance("Kolmogorov-Smirnov", kolmogorov_smirnov(first, second))
        yield _significance("Mann-Whitney", mann_whitney(first, second))

    def effect(self) -> Effect | None:
        """Cliff's delta; of zeros and ones it is the change itself."""
        if self.kind.statistic == "share" or not self._comparable:
            return None
        return cliffs_delta(*self._strata)

    @cached_property
    def pairs(self) -> Pairs | None:
        """The values by prompt, where they pair."""
        return pairs_of(self.kind, self.before, self.then) if self._comparable else None

    @cached_property
    def _comparable(self) -> bool:
        """Whether requests have numbers of their own, enough windows have any, and all can be put in order."""
        if self.kind.statistic in ("rate", "set"):
            return False
        return all(sum(map(len, strata)) >= MIN_WINDOWS and _in_order(strata) for strata in self._strata)

    @cached_property
    def _strata(self) -> tuple[list[list[Floats]], list[list[Floats]]]:
        first, second = (_strata(self.kind, side.windows) for side in (self.before, self.then))
        return first, second


def _strata(kind: type[Sli], windows: Sequence[Window]) -> list[list[Floats]]:
    """The values of `windows` that have any, by dose."""
    found: dict[float | None, list[Floats]] = {}
    for window, values in measure(kind, windows):
        if len(values):
            found.setdefault(window.dose, []).append(values)
    return list(found.values())


def _in_order(strata: Sequence[Sequence[Floats]]) -> bool:
    """Whether all values are numbers, or +inf for the requests that failed: others come of data that was spoilt."""
    return all(bool((values > -np.inf).all()) for windows in strata for values in windows)


def numbers_of(estimate: Estimate) -> Numbers:
    """What an estimate says, without its place."""
    names = ("value", "lower", "upper", "n", "windows", "reason", "unbounded", "freedom")
    return Numbers(**{name: getattr(estimate, name) for name in names})


def _significance(name: TestName, tested: Tested) -> Significance:
    return Significance(test=name, statistic=tested.statistic, p=tested.p, adjusted=tested.p)


def _adjusted(comparisons: Sequence[Comparison]) -> Iterator[Comparison]:
    by_test: dict[TestName, list[float]] = defaultdict(list)
    for comparison in comparisons:
        for each in comparison.tests:
            by_test[each.test].append(each.p)
    adjusted = {test: iter(holm(found)) for test, found in by_test.items()}
    for comparison in comparisons:
        tests = tuple(each.model_copy(update={"adjusted": next(adjusted[each.test])}) for each in comparison.tests)
        yield comparison.model_copy(update={"tests": tests})


def _drawn(estimator: Estimator) -> list[str]:
    """The named kinds that have a distribution, without their percentiles."""
    refs = [resolve_sli(sli) for sli in named_slis(estimator.spec)]
    names = [ref.name if ref.quantile is None else ref.name.rsplit("-p", 1)[0] for ref in refs]
    return list(dict.fromkeys(name for name in names if SLIS.get(name).statistic in ("quantile", "mean")))


def _distributions(estimator: Estimator, sli: str, fault: Fault) -> Iterator[Distribution]:
    kind, windows, name = SLIS.get(sli), estimator.windows, fault.name
    stages: dict[Stage, Sequence[Window]] = {
        "before": windows.baseline,
        "during": windows.at_doses(name, lambda dose: dose > 0),
        "after": windows.recovered(name),
    }
    for stage, part in stages.items():
        values = pooled_values(measure(kind, part))
        if len(values) and not np.isnan(values).any():
            yield Distribution(
                sli=sli,
                fault=name,
                stage=stage,
                dimension=kind.dimension,
                n=len(values),
                quantiles=tuple(_quantiles(values)),
            )


def _quantiles(values: Floats) -> Iterator[float | None]:
    for part in range(PARTS + 1):
        value = float(values[quantile_rank(part / PARTS, len(values)) - 1])
        yield value if math.isfinite(value) else None


def _interval(found: Estimate | Numbers | Effect) -> Interval:
    return Interval(value=finite(found.value), lower=finite(found.lower), upper=finite(found.upper))
