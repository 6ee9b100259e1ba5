"""Whether 95 % intervals hold the truth 95 % of the time: simulated experiments of every statistic and every fit.

    python benchmarks/coverage.py                       a table: coverage, width and refusals of each study
    python benchmarks/coverage.py --json                one JSON object a figure: name, value, unit, goal, peers
    python benchmarks/coverage.py --only logistic       studies with this in their name
    python benchmarks/coverage.py --missing --write docs    simulates what is not kept yet, and writes the page anew
    python benchmarks/coverage.py --selftest            intervals of half the width must miss the goal
    python benchmarks/coverage.py --write docs          keeps tallies in coverage.json, writes docs/coverage.md

1,000 experiments a study; each depends on seed, study and number alone, so that the same seed gives the same figures
whatever the machine and the number of processes.
"""

from __future__ import annotations

import argparse
import os
import sys

# One thread a process: the processes share the cores among themselves.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import coverage_changes
import coverage_fits
import coverage_history
import coverage_page
import coverage_slis
import coverage_store
from coverage_goals import Figure, figures
from coverage_study import Study, Tally, Trial, TrialPlan, drawn, tally
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

CHUNK = 10
SELFTEST_TRIALS = 200


STUDIES = {
    study.id: study
    for module in (coverage_slis, coverage_fits, coverage_changes, coverage_history)
    for study in module.studies()
}
Trials = Mapping[str, Sequence[Trial]]
Tallies = Mapping[str, Tally]


def chosen(only: str | None, missing: bool) -> list[Study]:
    """The studies whose id holds `only`; of these, if only the `missing` are wanted, those that no tally is kept of."""
    found = [study for study in STUDIES.values() if only is None or only in study.id]
    if not found:
        sys.exit(f"--only {only}: no study is called so; there are: {', '.join(STUDIES)}")
    kept = coverage_store.read() if missing else {}
    return [study for study in found if study.id not in kept]


def run_chunk(job: tuple[str, int, int, int]) -> list[Trial]:
    """Some trials of a study, in a worker."""
    study, seed, start, stop = job
    return [drawn(STUDIES[study], seed, index) for index in range(start, stop)]


def run_all(studies: Sequence[Study], plan: TrialPlan, processes: int) -> Iterator[tuple[Study, list[Trial]]]:
    """The trials of one study after the other; all processes share those of one."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with ProcessPoolExecutor(processes) as pool, Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("experiments", total=len(studies) * plan.trials)
        for study in studies:
            progress.update(task, description=study.id)
            trials: list[Trial] = []
            starts = range(0, plan.trials, CHUNK)
            jobs = [(study.id, plan.seed, start, min(start + CHUNK, plan.trials)) for start in starts]
            for made in pool.map(run_chunk, jobs):
                trials += made
                progress.update(task, advance=len(made))
            yield study, trials


def rows(found: Sequence[Figure]) -> Iterator[dict[str, object]]:
    """What `--json` prints: the figures with their goals; `peers` has the share of each study of the figure."""
    for figure in found:
        bounds = {"goal": figure.goal.least, "most": figure.goal.most, "met": figure.met}
        yield {"name": figure.name, "value": figure.value, "unit": "share", **bounds, "peers": dict(figure.studies)}


def show(tallies: Tallies) -> None:
    """Two tables for people: the studies, and the figures."""
    console = Console(width=max(Console().width, 130))
    table = Table(box=None, header_style="bold")
    for column in ("study", "coverage", "below", "above", "refused", "open", "width", "family"):
        table.add_column(column, justify="left" if column in ("study", "family") else "right")
    for id_, found in tallies.items():
        study = STUDIES[id_]
        numbers = f"{found.coverage:.3f}", str(found.below), str(found.above), f"{found.refused:.1%}", str(found.open)
        table.add_row(id_, *numbers, found.width_text(study), "right" if study.right else "wrong")
    console.print(table)
    for figure in figures(list(STUDIES.values()), tallies):
        met = "met" if figure.met else "MISSED"
        console.print(f"{figure.name:<24} {figure.value:.3f}  goal {figure.goal}  {met}")


def selftest(trials: Trials) -> None:
    """Intervals at half their width, and events turned into their contrary, must miss the goal of every figure."""
    spoiled = {id_: tally([one.spoiled(STUDIES[id_].event) for one in made]) for id_, made in trials.items()}
    for figure in figures(list(STUDIES.values()), spoiled):
        print(f"selftest: {figure.name} at half the width, or with the contrary of its events: {figure.value:.3f}")
        if figure.met:
            sys.exit(f"selftest: {figure.name}: an interval at half its width was not seen")


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The words of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, help=f"experiments a study; {TrialPlan.trials} unless told otherwise")
    parser.add_argument("--seed", type=int, default=TrialPlan.seed)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--only", metavar="TEXT")
    parser.add_argument("--missing", action="store_true", help="only studies that coverage.json has no tally of")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="of coverage.md and images/")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--selftest", action="store_true")
    return parser.parse_args(arguments)


def main() -> None:
    """Simulate what was asked for."""
    words = parse()
    plan = TrialPlan(words.trials or (SELFTEST_TRIALS if words.selftest else TrialPlan.trials), words.seed)
    found = run_all(chosen(words.only, words.missing), plan, words.processes)
    if words.selftest:
        selftest({study.id: trials for study, trials in found})
        return
    tallies = {}
    for study, trials in found:
        tallies[study.id] = tally(trials)
        if words.write:
            keep(study, plan, tallies[study.id])
    if words.write:
        coverage_page.write(words.write, list(STUDIES.values()), coverage_store.read())
    if words.json:
        for row in rows(figures(list(STUDIES.values()), tallies)):
            print(json.dumps(row))
    else:
        show(tallies)


def keep(study: Study, plan: TrialPlan, found: Tally) -> None:
    """Put the tally of a study in place of the one that is kept; a run that is broken off loses no other."""
    kept = coverage_store.read()
    kept[study.id] = coverage_store.Kept.made_now(study, plan, found)
    coverage_store.write(kept, list(STUDIES.values()))


if __name__ == "__main__":
    main()
