"""The page on safety lists every rule there is, and says of each whether a spec may override it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from chaosgate.model.fault import FAULTS
from chaosgate.model.safety import PROTECTED, Overridable, Rule, Safety
from chaosgate.units import format_share

PAGE = (Path(__file__).parents[2] / "docs" / "cluster-safety.md").read_text(encoding="utf-8")
TABLE = PAGE.split("## The rules")[1].split("\n\n")[2].splitlines()[2:]
ROWS = {cells[0].strip("`"): cells for cells in ([cell.strip() for cell in line.split("|")[1:-1]] for line in TABLE)}


def test_every_rule_is_listed_and_no_other() -> None:
    assert set(ROWS) == set(get_args(Rule))


def test_what_may_be_overridden_is_said() -> None:
    assert {rule for rule, row in ROWS.items() if row[3].startswith("yes")} == set(get_args(Overridable))


def test_the_defaults_are_those_of_the_model() -> None:
    safety = Safety()

    assert f"`safety.maxPods`, {safety.max_pods} unless given" in ROWS["max-pods"][2]
    assert f"`safety.maxShare`, {format_share(safety.max_share)} unless given" in ROWS["max-share"][2]
    assert f"`safety.minHealthy`, {safety.min_healthy} unless given" in ROWS["min-healthy"][2]
    assert all(f"`{name}`" in ROWS["protected-namespace"][1] for name in PROTECTED)


def test_the_kinds_that_are_named_exist() -> None:
    named = set(re.findall(r"`((?:pod|node)\.[a-z-]+)`", PAGE))

    assert named
    assert named <= set(FAULTS.names())
