"""What commands print for machines: keys in camelCase, and one name for one thing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from chaosgate.cli.main import chaosgate

SPEC = Path("chaos-specs/scenarios/stream-degradation.yaml")
NAMED = ("arguments", "labels", "annotations", "parameters")
"""Mappings whose keys are names that somebody gave."""
COMMANDS = (
    ("validate", str(SPEC)),
    ("plan", str(SPEC)),
    ("explain", str(SPEC)),
    ("explain", "spec.faults[].dose"),
    ("catalogue",),
    ("catalogue", "wire.latency"),
    ("catalogue", "measure"),
)


def printed(*words: str) -> Any:
    result = CliRunner().invoke(chaosgate, [*words, "-o", "json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def keys(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield key
            yield from keys(value) if key not in NAMED or isinstance(value, list) else ()
    elif isinstance(data, list):
        for item in data:
            yield from keys(item)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_key_is_in_camel_case(words: tuple[str, ...]) -> None:
    found = set(keys(printed(*words)))
    assert found
    assert [key for key in found if not re.fullmatch("[a-z][A-Za-z0-9]*", key)] == []


def test_the_digest_of_a_spec_has_one_name() -> None:
    (report,) = printed("validate", str(SPEC))
    digests = {report["specDigest"], *(printed(verb, str(SPEC))["specDigest"] for verb in ("plan", "explain"))}
    assert len(digests) == 1


def test_the_last_step_of_a_plan_is_called_as_in_the_design() -> None:
    assert printed("plan", str(SPEC))["finally"]["id"] == "cleanup"
