"""A run as JUnit XML: one suite for the spec, one case for each thing that was judged, for whatever reads test results.

There is no standard; this keeps to what Jenkins' junit-10.xsd and Maven Surefire's schema have in common.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

from chaosgate.report.cases import Case, cases_of
from chaosgate.report.escape import xml_text
from chaosgate.report.leaves import leaves
from chaosgate.report.view import ReportView

PARTS = ("workload", "faults")
"""What of the spec stands in the properties, its parameters filled in; what is judged stands in the cases."""


def render_junit(view: ReportView) -> str:
    """The XML document, equal for equal input. The run's duration is the time of its last case, `verdict`."""
    cases, seconds = cases_of(view), _seconds(view)
    counts = {**_counts(cases), "time": seconds}
    root = _element(None, "testsuites", name="chaosgate", **counts)
    name = view.spec.metadata.name
    skipped = str(sum(case.result == "skipped" for case in cases))
    suite = _element(root, "testsuite", name=name, **counts, skipped=skipped, timestamp=_timestamp(view.record.started))
    properties = _element(suite, "properties")
    for key, value in properties_of(view):
        _element(properties, "property", name=key, value=value)
    for case in cases:
        _add_case(suite, name, case, seconds if case is cases[-1] else "0")
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def properties_of(view: ReportView) -> Iterator[tuple[str, str]]:
    """What the suite is about: run, digest, verdict, subject, what was run and where."""
    yield from (("run", view.run), ("specDigest", view.spec.digest()))
    yield from (("verdict", view.verdict.verdict), ("exitCode", str(view.exit_code)))
    subject = view.verdict.subject or view.record.subject
    if subject is not None:
        yield from leaves(subject.to_json(), "subject")
    body = view.spec.to_json()["spec"]
    for part in PARTS:
        yield from leaves(body[part], part)
    yield from leaves(dict(sorted(view.record.environment.items())), "environment")


def _add_case(suite: ET.Element, spec: str, case: Case, time: str) -> None:
    element = _element(suite, "testcase", classname=f"{spec}.{case.group}", name=case.name, time=time)
    text = "\n".join(case.lines)
    if case.result == "passed":
        _element(element, "system-out").text = xml_text(text)
        return
    # Surefire's schema knows no type of what was skipped; the line begins with it.
    kind = {} if case.result == "skipped" else {"type": case.kind}
    _element(element, case.result, message=case.lines[0], **kind).text = xml_text(text)


def _element(parent: ET.Element | None, tag: str, **attributes: str) -> ET.Element:
    safe = {key: xml_text(value) for key, value in attributes.items()}
    return ET.Element(tag, safe) if parent is None else ET.SubElement(parent, tag, safe)


def _counts(cases: tuple[Case, ...]) -> dict[str, str]:
    found = Counter(case.result for case in cases)
    return {"tests": str(len(cases)), "failures": str(found["failure"]), "errors": str(found["error"])}


def _seconds(view: ReportView) -> str:
    """How long the run took, `0` for one that did not finish."""
    if view.record.finished is None:
        return "0"
    spent = datetime.fromisoformat(view.record.finished) - datetime.fromisoformat(view.record.started)
    return f"{max(0.0, spent.total_seconds()):.3f}"


def _timestamp(started: str) -> str:
    """UTC without an offset, the only form that older schemas take."""
    return datetime.fromisoformat(started).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
