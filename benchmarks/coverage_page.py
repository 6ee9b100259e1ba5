"""The page docs/coverage.md, written from the tallies that are kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import coverage_plots
from coverage_goals import figures
from coverage_store import Kept, settings_digest
from coverage_study import Study, Tally, TrialPlan

TITLES = {
    "coverage_proportions": "Shares: right answers, errors, requests that break a bound",
    "coverage_quantiles": "Quantiles: P50, P95, P99 of latencies",
    "coverage_rates": "Rates: requests and tokens a second",
    "coverage_means": "Means of real values: scores, perplexities",
    "coverage_sets": "Numbers of sets of answers: diversity, stability",
    "coverage_logistic": "Threshold of a logistic curve",
    "coverage_isotonic": "Crossing of a curve that only rises",
    "coverage_segmented": "Knee of a segmented line",
    "coverage_phase": "Critical load of a phase change",
    "coverage_usl": "Peak of the Universal Scalability Law",
    "coverage_open_ends": "Intervals with an open end: a peak too flat to be bounded from above",
    "coverage_best": "The best of several curves",
    "history_false_alarms": "History: an ordinary run is called worse",
    "coverage_trend": "Trend of a threshold over versions",
    "change_points_found": "Change points: planted ones found within two windows",
    "change_points_false_alarms": "Change points: alarms where nothing changed",
}
INTRO = """# Do the intervals hold?

chaosgate judges by 95 % intervals. Here experiments with a known truth are simulated and run through the very code that
judges a run, and the share of intervals that hold the truth is counted. Windows differ from one another as they do on a
real server, where requests of one window share its weather: counts are beta-binomial, latencies have a lognormal factor
a window, rates a gamma factor. An interval that took requests for independent would fail here.

Written by `python benchmarks/coverage.py --write docs`; simulated {dates}, {trials:,} experiments a study, where
the tables name no other number, from seed {seed}. The same seed gives the same figures on any machine.
Settings `{digest}`.

Of {trials:,} experiments a share near 95 % is itself known to one and a half percentage points either way.
"""
READING = """
- **coverage**: of the experiments with an interval, the share whose interval holds the truth. **below** and **above**
  count the intervals that lie wholly below or above it.
- **refused**: no number at all, with a reason. A refusal is no miss, and no pass either: what rests on it is
  not judged.
- **open**: intervals with an end that is not known, and said so; they count as holding the truth on that side.
- **width**: the median length of those with both ends.
"""


def write(folder: Path, studies: Sequence[Study], kept: Mapping[str, Kept]) -> None:
    """coverage.md and its images below `folder`, from whatever is kept of `studies`."""
    known = [study for study in studies if study.id in kept]
    for name, text in coverage_plots.plots(known, {study.id: kept[study.id].tally for study in known}).items():
        (folder / "images" / name).write_text(text)
    (folder / "coverage.md").write_text("\n".join(_lines(studies, known, kept)) + "\n")


def _lines(studies: Sequence[Study], known: Sequence[Study], kept: Mapping[str, Kept]) -> Iterator[str]:
    tallies = {study.id: kept[study.id].tally for study in known}
    dates = sorted({kept[study.id].date for study in known})
    plan = TrialPlan()
    yield INTRO.format(
        dates=" to ".join(dict.fromkeys((dates[0], dates[-1]))),
        trials=plan.trials,
        seed=plan.seed,
        digest=settings_digest(studies, plan),
    )
    yield from _figures(known, tallies)
    missing = [study.id for study in studies if study.id not in kept]
    if missing:
        yield "\nNot simulated yet (`python benchmarks/coverage.py --missing --write docs` does that):\n"
        yield from (f"- `{id_}`" for id_ in missing)
    yield READING
    yield "![Coverage of every study with its goal](images/coverage-studies.svg)"
    for figure in dict.fromkeys(study.figure for study in known):
        yield from _section([study for study in known if study.figure == figure], tallies)


def _figures(known: Sequence[Study], tallies: Mapping[str, Tally]) -> Iterator[str]:
    yield "| figure | value | goal | | least of its studies |"
    yield "|---|---|---|---|---|"
    for figure in figures(known, tallies):
        met = "met" if figure.met else "**missed**"
        yield f"| {figure.name} | {figure.value:.3f} | {figure.goal} | {met} | {figure.least:.3f} |"


def _section(studies: Sequence[Study], tallies: Mapping[str, Tally]) -> Iterator[str]:
    yield f"\n## {TITLES[studies[0].figure]}\n"
    yield from _table([study for study in studies if study.right], tallies)
    wrong = [study for study in studies if not study.right]
    if wrong:
        yield "\nBeyond what the method assumes, where nothing is promised:\n"
        yield from _table(wrong, tallies)
    reasons = {reason for study in studies for reason, _ in tallies[study.id].refusals}
    if reasons:
        yield "\nRefusals: " + "; ".join(sorted(reasons)) + "."


def _table(studies: Sequence[Study], tallies: Mapping[str, Tally]) -> Iterator[str]:
    if studies[0].event:
        yield "| design | share of series |"
        yield "|---|---|"
        yield from (f"| {_name(study, tallies)} | {tallies[study.id].coverage:.3f} |" for study in studies)
        return
    yield "| design | coverage | below | above | refused | open | width |"
    yield "|---|---|---|---|---|---|---|"
    for study in studies:
        each = tallies[study.id]
        numbers = f"{each.coverage:.3f} | {each.below} | {each.above} | {each.refused:.1%} | {each.open}"
        yield f"| {_name(study, tallies)} | {numbers} | {each.width_text(study)} |"


def _name(study: Study, tallies: Mapping[str, Tally]) -> str:
    """The design, with the number of experiments where it is another than planned."""
    trials = tallies[study.id].trials
    return study.name if trials == TrialPlan.trials else f"{study.name} ({trials} experiments)"
