#!/usr/bin/env python3
"""The job `plan`: the specs that are due are validated and compiled; every problem is shown at its line.

Reads GATE_* (see gate_settings.py) and writes pipelines below GATE_OUT/pipelines. Exit code 0 when every spec that is
due is valid and compiles, else 2.
"""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from changed_specs import Changes, GateError
from chaosgate_command import Chaosgate, Ending, Report, message, problems_of
from gate_settings import Settings, artifact_folder, read_settings
from github_output import annotation, printable, table, write_summary

REFUSED = 2


@dataclass(frozen=True)
class Planned:
    """What became of one spec: its problems, and for each carrier why it did not compile, None where it did."""

    file: str
    why: str
    report: Report
    compiled: dict[str, str | None]

    @property
    def good(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.report.problems and not any(self.compiled.values())


def main() -> int:
    """Plan what is due, tell GitHub, and return the exit code."""
    try:
        settings = read_settings(os.environ)
        ending = Ending(settings.seconds)
        ending.watch_signals()
        changes = settings.changes()
        chaosgate = Chaosgate("chaosgate", Path.cwd(), os.environ, ending, settings.profile)
        planned = plan(changes, chaosgate, settings)
    except GateError as error:
        print(annotation(str(error), ""))
        return error.exit_code
    tell(changes, planned, settings)
    if ending.signal is not None:
        return 128 + signal.Signals(ending.signal)
    return 0 if all(one.good for one in planned) else REFUSED


def plan(changes: Changes, chaosgate: Chaosgate, settings: Settings) -> list[Planned]:
    """Validate and compile every spec that is due; one that is invalid is not compiled."""
    reports = chaosgate.validate([due.file for due in changes.due])
    found = []
    for due, report in zip(changes.due, reports, strict=True):
        carriers = () if report.problems else settings.carriers
        folder = settings.out / "pipelines" / artifact_folder(due.file)
        compiled = {carrier: chaosgate.compile(due.file, carrier, folder / f"{carrier}.yaml") for carrier in carriers}
        found.append(Planned(due.file, due.why, report, compiled))
    return found


def tell(changes: Changes, planned: list[Planned], settings: Settings) -> None:
    """Annotations at the lines of the specs, and the summary."""
    for problem in problems_of(one.report for one in planned):
        print(annotation(message(problem), problem.file, problem.line, problem.column))
    for one in planned:
        for carrier, why in one.compiled.items():
            if why:
                print(annotation(f"does not compile for {carrier}: {why}", one.file, 1))
    write_summary(summary(changes, planned, settings))


def summary(changes: Changes, planned: list[Planned], settings: Settings) -> list[str]:
    """The summary in parts: what is due, a table of it, and all problems."""
    parts = [f"## Chaos specs: {len(changes.due)} of {changes.total} due\n"]
    if planned:
        rows = [_row(one, settings) for one in planned]
        parts.append(table(("spec", "why", "valid", *settings.carriers), rows))
    if changes.removed:
        parts.append(table(("removed",), [(printable(file),) for file in changes.removed]))
    problems = [(problem.text,) for problem in problems_of(one.report for one in planned)]
    return [*parts, table(("problem",), problems)] if problems else parts


def _row(one: Planned, settings: Settings) -> tuple[str, ...]:
    invalid = f"{len(one.report.problems)} problems" if one.report.problems else "yes"
    words = [_word(one.compiled[carrier]) if carrier in one.compiled else "-" for carrier in settings.carriers]
    return printable(one.file), printable(one.why), invalid, *words


def _word(why: str | None) -> str:
    return f"no: {why}" if why else "compiled"


if __name__ == "__main__":
    sys.exit(main())
