"""What consumers of JUnit XML rely on, checked: what Jenkins' junit-10.xsd and Maven Surefire's schema share."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

TIME = re.compile(r"([0-9]{3}|[0-9]{0,3})*(\.[0-9]{0,3})?")
"""SUREFIRE_TIME of both schemas, without separators."""
COUNTS = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
RESULTS = ("failure", "error", "skipped")


def parse_junit(text: str) -> ET.Element:
    """The one suite of a document that keeps the rules; an AssertionError names the rule that is broken."""
    root = ET.fromstring(text)
    assert root.tag == "testsuites"
    assert set(root.attrib) == {"name", "tests", "failures", "errors", "time"}
    (suite,) = root
    assert suite.tag == "testsuite"
    assert set(suite.attrib) == {"name", "tests", "failures", "errors", "skipped", "time", "timestamp"}
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}", suite.attrib["timestamp"])
    _check_counts(root, suite)
    properties, *cases = suite
    _check_properties(properties)
    for case in cases:
        _check_case(case)
    names = [(case.get("classname"), case.get("name")) for case in cases]
    assert len(set(names)) == len(names), "two cases have one name"
    return suite


def red(suite: ET.Element) -> list[str]:
    """The cases with a failure or an error."""
    return [
        case.attrib["name"] for case in suite.iter("testcase") if {child.tag for child in case} & {"failure", "error"}
    ]


def case_named(suite: ET.Element, name: str) -> ET.Element:
    """The case of that name."""
    (found,) = (case for case in suite.iter("testcase") if case.get("name") == name)
    return found


def _check_counts(root: ET.Element, suite: ET.Element) -> None:
    for attribute, tag in COUNTS.items():
        counted = str(sum(1 for _ in suite.iter(tag)))
        assert suite.attrib[attribute] == counted, attribute
        assert root.attrib.get(attribute, counted) == counted, attribute
    for element in (root, suite, *suite.iter("testcase")):
        assert TIME.fullmatch(element.attrib["time"]), element.attrib["time"]
    assert float(suite.attrib["time"]) == sum(float(case.attrib["time"]) for case in suite.iter("testcase"))


def _check_properties(properties: ET.Element) -> None:
    assert properties.tag == "properties"
    for each in properties:
        assert (each.tag, set(each.attrib), each.text) == ("property", {"name", "value"}, None)


def _check_case(case: ET.Element) -> None:
    assert case.tag == "testcase"
    assert set(case.attrib) == {"name", "classname", "time"}
    (child,) = case
    assert child.tag in (*RESULTS, "system-out")
    allowed = {
        "failure": {"message", "type"},
        "error": {"message", "type"},
        "skipped": {"message"},
        "system-out": set(),
    }
    assert set(child.attrib) == allowed[child.tag]
    assert (child.text or "").strip()
    assert len(child) == 0
