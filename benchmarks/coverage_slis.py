"""Studies of the intervals of SLIs, one figure a statistic, through the estimator that judges a run.

An SLI of the harness reads what a sample is, a number; nothing else of the estimator is replaced. Where a design says
so the estimate borrows from a baseline, controls and other doses, as that of a run does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from coverage_simulate import CONTROLS, HOLD, SIZE, WINDOWS, Lognormal, Random, hits, make_window, sizes
from coverage_study import Study, Trial

from chaosgate.estimate.numbers import estimate
from chaosgate.model.observation import Sample, Window
from chaosgate.model.sli import Sli, SliRef, Statistic
from chaosgate.units import Dimension

BASELINE = 3
"""Windows of a baseline, as a spec has them."""
Draw = Callable[[Random], Sequence[object]]
"""The samples of one window."""


def _kind(statistic: Statistic, dimension: Dimension) -> type[Sli]:
    class Drawn(Sli):
        """A sample is its own value."""

        @staticmethod
        def value(sample: Sample) -> float | None:
            return sample  # type: ignore[return-value]

        @classmethod
        def adjusted_values(cls, samples: Iterable[Sample]) -> Iterator[float]:
            return iter(samples)  # type: ignore[arg-type]

    Drawn.statistic, Drawn.dimension = statistic, dimension
    return Drawn


QUANTILE, SHARE, RATE = _kind("quantile", "duration"), _kind("share", "share"), _kind("rate", "rate")
MEAN, SCORE = _kind("mean", "number"), _kind("mean", "share")


@dataclass(frozen=True)
class Answer:
    """A sample of an SLI of sets: an answer that came whole, and its length."""

    length: float
    outcome: str = "ok"

    @property
    def observation(self) -> Answer:
        """What the estimator asks whether the answer came whole."""
        return self


class Spread(Sli):
    """The variance of the lengths of a window's answers."""

    statistic, dimension = "set", "number"

    @staticmethod
    def value(sample: Sample) -> float | None:
        """None: it is a number of a set."""
        return None

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> float | None:
        """Without bias, so that its mean over windows is known."""
        return float(np.var([sample.length for sample in samples], ddof=1)) if len(samples) > 1 else None  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Design:
    """`windows` that are judged, of about `size` requests; `borrows` says whether a run's other windows are there."""

    windows: int = WINDOWS
    size: float = SIZE
    borrows: bool = True


def _judged(random: Random, design: Design, draw: Draw) -> list[Window]:
    return [make_window(index, draw(random)) for index in range(design.windows)]


def _alike(random: Random, design: Design, draws: Sequence[Draw]) -> list[list[Window]]:
    """A baseline and controls under the first of `draws`, then a dose under each of the others."""
    if not design.borrows:
        return []
    first, *others = draws
    groups: list[list[Window]] = [
        [make_window(100 + index, first(random), "baseline", None) for index in range(BASELINE)],
        [make_window(200 + index, first(random), "control", 0.0) for index in range(CONTROLS)],
    ]
    for number, draw in enumerate(others, 1):
        row = range(design.windows)
        groups.append([make_window(200 + 100 * number + index, draw(random), dose=1.0 + number) for index in row])
    return groups


def _trial(ref: SliRef, truth: float, windows: list[Window], alike: list[list[Window]], seed: int) -> Trial:
    found = estimate(ref, windows, alike, seed)
    if found.lower is None and found.upper is None:
        return Trial(truth, refused=found.reason or "no interval")
    return Trial(truth, found.value, found.lower, found.upper)


def _simulated(
    ref: SliRef, truth: float, design: Design, draw: Draw, others: Sequence[Draw]
) -> Callable[[Random], Trial]:
    def simulate(random: Random) -> Trial:
        windows, alike = _judged(random, design, draw), _alike(random, design, others)
        return _trial(ref, truth, windows, alike, int(random.integers(2**31)))

    return simulate


def shares(share: float, rho: float, design: Design) -> Callable[[Random], Trial]:
    """A share of requests at one dose; the run's other groups have a smaller and larger ones."""

    def drawing(wanted: float) -> Draw:
        def draw(random: Random) -> Sequence[object]:
            (n,) = sizes(random, 1, design.size)
            hit = hits(random, wanted, n, rho)
            return [1.0] * hit + [0.0] * (n - hit)

        return draw

    others = [drawing(min(0.95, share * factor)) for factor in (0.5, 0.7, 1.5, 2)]
    return _simulated(SliRef("share", SHARE, None), share, design, drawing(share), others)


def quantiles(quantile: float, between: float, design: Design, heavy: bool = False) -> Callable[[Random], Trial]:
    """A quantile of latencies of a dose; those of the run's other groups are faster and slower."""

    def drawing(median: float) -> Draw:
        latency = Lognormal(median, 0.8 if heavy else 0.35, between)

        def draw(random: Random) -> Sequence[object]:
            (n,) = sizes(random, 1, design.size)
            return latency.draw(random, n).tolist()

        return draw

    truth = Lognormal(0.2, 0.8 if heavy else 0.35, between).quantile(quantile)
    others = [drawing(0.2 * factor) for factor in (0.5, 0.8, 1.2, 1.6)]
    return _simulated(SliRef("latency", QUANTILE, quantile), truth, design, drawing(0.2), others)


def rates(spread: float, tokens: bool, design: Design) -> Callable[[Random], Trial]:
    """Requests, or tokens, a second; a window's rate has a gamma factor of the standard deviation `spread`."""

    def drawing(factor: float) -> Draw:
        def draw(random: Random) -> Sequence[object]:
            weather = random.gamma(1 / spread**2, spread**2) if spread else 1.0
            n = int(random.poisson(design.size * factor * weather))
            return np.maximum(1, random.poisson(8, n)).astype(float).tolist() if tokens else [1.0] * n

        return draw

    truth = design.size / HOLD * (_mean_tokens() if tokens else 1.0)
    others = [drawing(factor) for factor in (1.0, 0.9, 1.0, 1.1)]
    return _simulated(SliRef("rate", RATE, None), truth, design, drawing(1.0), others)


def _mean_tokens() -> float:
    """The mean of max(1, Poisson(8))."""
    return 8 + float(np.exp(-8))


def means(between: float, design: Design) -> Callable[[Random], Trial]:
    """The mean of skewed values without bounds, such as perplexities."""

    def drawing(median: float) -> Draw:
        values = Lognormal(median, 0.8, between)
        return lambda random: values.draw(random, sizes(random, 1, design.size)[0]).tolist()

    truth, others = Lognormal(10, 0.8, between).mean, [drawing(10 * factor) for factor in (0.5, 0.8, 1.2, 1.6)]
    return _simulated(SliRef("mean", MEAN, None), truth, design, drawing(10), others)


def scores(mean: float, rho: float, design: Design) -> Callable[[Random], Trial]:
    """The mean of scores from 0 to 1, such as BLEU: beta around the window's own mean, which is beta around `mean`."""

    def drawing(wanted: float) -> Draw:
        def draw(random: Random) -> Sequence[object]:
            here = random.beta(wanted * (1 / rho - 1), (1 - wanted) * (1 / rho - 1))
            (n,) = sizes(random, 1, design.size)
            return random.beta(4 * here + 1e-9, 4 * (1 - here) + 1e-9, n).tolist()

        return draw

    others = [drawing(min(0.97, mean * factor)) for factor in (0.6, 0.8, 0.9, 1.05)]
    return _simulated(SliRef("score", SCORE, None), mean, design, drawing(mean), others)


def sets(between: float, design: Design) -> Callable[[Random], Trial]:
    """The variance of lengths in a window; its root has a lognormal factor of the spread `between` a window."""

    def drawing(deviation: float) -> Draw:
        def draw(random: Random) -> Sequence[object]:
            here = deviation * np.exp(between * random.standard_normal())
            return [Answer(length) for length in random.normal(50, here, max(2, int(random.poisson(design.size))))]

        return draw

    truth = 4.0**2 * float(np.exp(2 * between**2))
    others = [drawing(4 * factor) for factor in (0.7, 0.9, 1.1, 1.3)]
    return _simulated(SliRef("spread", Spread, None), truth, design, drawing(4.0), others)


def studies() -> Iterator[Study]:
    """Every design of every statistic."""
    yield from _share_studies()
    yield from _quantile_studies()
    yield from _rate_studies()
    yield from _mean_studies()


def _share_studies() -> Iterator[Study]:
    for share, rho, design in (
        (0.5, 0.03, Design()),
        (0.2, 0.03, Design()),
        (0.05, 0.03, Design()),
        (0.05, 0.0, Design()),
        (0.05, 0.03, Design(windows=3, borrows=False)),
        (0.2, 0.03, Design(windows=8)),
        (0.2, 0.1, Design(windows=8)),
        (0.05, 0.03, Design(windows=12)),
        (0.01, 0.01, Design(windows=20)),
    ):
        name = f"{share:g}, rho {rho:g}, {_said(design)}"
        yield Study("coverage_proportions", name, shares(share, rho, design), "pp", 100)


def _quantile_studies() -> Iterator[Study]:
    for quantile, between, design in (
        (0.5, 0.1, Design()),
        (0.95, 0.0, Design()),
        (0.95, 0.1, Design()),
        (0.95, 0.1, Design(windows=4, size=150)),
        (0.95, 0.1, Design(windows=12)),
        (0.99, 0.1, Design(windows=12)),
        (0.95, 0.2, Design(windows=8)),
    ):
        name = f"P{quantile * 100:g}, window factor {between:g}, {_said(design)}"
        yield Study("coverage_quantiles", name, quantiles(quantile, between, design), "ms", 1e3)


def _rate_studies() -> Iterator[Study]:
    for tokens, spread, design in (
        (False, 0.0, Design()),
        (False, 0.15, Design()),
        (True, 0.1, Design()),
        (False, 0.15, Design(windows=12)),
    ):
        what = "tokens" if tokens else "requests"
        name = f"{what}, window factor {spread:g}, {_said(design)}"
        yield Study("coverage_rates", name, rates(spread, tokens, design), "1/s")


def _mean_studies() -> Iterator[Study]:
    for between, design in ((0.1, Design()), (0.1, Design(windows=12))):
        name = f"skewed values, window factor {between:g}, {_said(design)}"
        yield Study("coverage_means", name, means(between, design))
    for mean, design in ((0.8, Design()), (0.95, Design()), (0.8, Design(windows=12))):
        name = f"scores around {mean:g}, rho 0.02, {_said(design)}"
        yield Study("coverage_means", name, scores(mean, 0.02, design))
    for between, design in ((0.1, Design()), (0.1, Design(windows=12)), (0.3, Design(windows=12))):
        name = f"variance of lengths, window factor {between:g}, {_said(design)}"
        yield Study("coverage_sets", name, sets(between, design))


def _said(design: Design) -> str:
    alone = "" if design.borrows else ", nothing to borrow from"
    return f"{design.windows} windows of {design.size:g}{alone}"
