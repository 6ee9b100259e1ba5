#!/usr/bin/env python3
"""The job `drill`, the required check: drills the specs that are due and chosen; its exit code is the worst verdict's.

Reads GATE_* (see gate_settings.py) and writes each run's reports below GATE_OUT/drills. Runs live in GATE_OUT/state,
which is no artifact: it holds the tokens of the runs and what the model said. A spec that is due and invalid fails the
job, chosen or not.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from changed_specs import Changes, GateError, one_line
from chaosgate_command import ERROR, Chaosgate, Drill, Ending, message, problems_of, worst
from gate_settings import Settings, artifact_folder, read_settings
from github_output import annotation, log_line, printable, table, write_summary

INVALID = 2


@dataclass(frozen=True)
class Judged:
    """What became of the specs that are due."""

    drills: list[Drill]
    """Of those that were chosen, and one of exit code 2 for each that is invalid."""
    left_out: list[str]
    """Valid, but not chosen."""
    pages: list[str]
    """The reports as Markdown."""


def main() -> int:
    """Drill what is due, tell GitHub, and return the exit code."""
    try:
        settings = read_settings(os.environ)
        ending = Ending(settings.seconds)
        ending.watch_signals()
        changes = settings.changes()
        environment = {**os.environ, "CHAOSGATE_STATE": str((settings.out / "state").resolve())}
        chaosgate = Chaosgate("chaosgate", Path.cwd(), environment, ending, settings.profile)
        judged = judge(changes, chaosgate, settings, ending)
    except GateError as error:
        print(annotation(str(error), ""))
        return error.exit_code
    for drill in judged.drills:
        if drill.code not in (0, INVALID):
            print(annotation(f"{drill.verdict}: {'; '.join(drill.reasons)}", drill.file, 1))
    write_summary(summary(changes, judged, settings))
    return worst(drill.code for drill in judged.drills)


def judge(changes: Changes, chaosgate: Chaosgate, settings: Settings, ending: Ending) -> Judged:
    """Validate all that is due, drill what is chosen of it, one after the other, and write the reports."""
    judged = Judged([], [], [])
    reports = chaosgate.validate([due.file for due in changes.due])
    for problem in problems_of(reports):
        print(annotation(message(problem), problem.file, problem.line, problem.column))
    for report in reports:
        if report.problems:
            reasons = tuple(problem.text for problem in report.problems)
            judged.drills.append(Drill(report.file, INVALID, "invalid", reasons))
        elif settings.selection.picks(report.file, report.labels or {}, report.engine or ""):
            drill = _drill(report.file, chaosgate, ending)
            judged.drills.append(drill)
            judged.pages.extend(write_reports(drill, chaosgate, settings.out / "drills" / artifact_folder(drill.file)))
        else:
            judged.left_out.append(report.file)
    return judged


def _drill(file: str, chaosgate: Chaosgate, ending: Ending) -> Drill:
    if why := ending.why():
        return Drill(file, 128 + ending.signal if ending.signal else ERROR, "error", (f"not drilled: {why}",))
    print(log_line(f"drill of {file}"), flush=True)
    drill = chaosgate.run(file)
    print(log_line(f"{file}: {drill.verdict}, exit code {drill.code}"), flush=True)
    return drill


def write_reports(drill: Drill, chaosgate: Chaosgate, folder: Path) -> list[str]:
    """Write JUnit, Markdown and HTML of a drill into `folder`; returns the Markdown, none where there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    junit, page = folder / "junit.xml", folder / "report.md"
    if drill.run is None or drill.folder is None:
        junit.write_bytes(junit_of(drill))
        return []
    if why := chaosgate.report(drill.run, "junit", junit):
        junit.write_bytes(junit_of(Drill(drill.file, ERROR, "error", (*drill.reasons, f"no report: {why}"))))
    if (drill.folder / "conclude" / "report.html").is_file():
        shutil.copyfile(drill.folder / "conclude" / "report.html", folder / "report.html")
    return [page.read_text(encoding="utf-8")] if chaosgate.report(drill.run, "markdown", page) is None else []


def junit_of(drill: Drill) -> bytes:
    """JUnit of a drill that left no run: one case, in error."""
    counts = {"tests": "1", "failures": "0", "errors": "1", "skipped": "0"}
    suite = ElementTree.Element("testsuite", {"name": one_line(drill.file), **counts})
    case = ElementTree.SubElement(suite, "testcase", {"classname": one_line(drill.file), "name": "drill"})
    reason = one_line("; ".join(drill.reasons))
    ElementTree.SubElement(case, "error", {"type": drill.verdict, "message": reason}).text = reason
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite, encoding="unicode").encode()


def summary(changes: Changes, judged: Judged, settings: Settings) -> list[str]:
    """The summary in parts: the verdicts, what was left out, and then the reports, the first ones first."""
    parts = [f"## Drills: {len(judged.drills)} of {len(changes.due)} specs that are due\n"]
    if judged.drills:
        rows = [(printable(one.file), one.verdict, str(one.code), "; ".join(one.reasons)) for one in judged.drills]
        parts.append(table(("spec", "verdict", "exit code", "reasons"), rows))
    if judged.left_out:
        heading = f"valid, not chosen by {settings.selection.words}"
        parts.append(table((heading,), [(printable(file),) for file in judged.left_out]))
    return [*parts, *judged.pages]


if __name__ == "__main__":
    sys.exit(main())
