"""The page on quality names every SLI that a scorer scores and every scorer, and its objectives can be written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from console import blocks

from chaosgate.errors import SpecError
from chaosgate.model.load import parse_spec
from chaosgate.model.scorer import SCORERS
from chaosgate.model.sli import SLIS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "quality.md").read_text(encoding="utf-8")
ATOM = (ROOT / "chaos-specs" / "atoms" / "kv.token-overwrite.yaml").read_text(encoding="utf-8")


def rows(cells: int) -> list[list[str]]:
    """The rows of tables of so many cells whose first is a name."""
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line[:3] == "| `"]
    return [row for row in found if len(row) == cells]


def test_every_sli_that_a_scorer_scores_stands_in_the_table_with_its_statistic_and_scorer() -> None:
    told = {name.strip("`"): (statistic, scorer.strip("`")) for name, statistic, _, scorer in rows(4)}
    known = {name: (kind.statistic, kind.scorer) for name, kind in SLIS.items() if kind.scorer is not None}
    assert told == {**known, "perplexity-change": ("set", "none")}


def test_every_scorer_stands_in_the_table_with_its_package() -> None:
    told = {row[0].strip("`"): re.sub(r"\[(.*)\]\(.*\)", r"\1", row[1]) for row in rows(3)}
    assert told == {name: kind.distribution for name, kind in SCORERS.items()}


def test_the_objectives_that_are_shown_can_be_written() -> None:
    (shown,) = (yaml.safe_load(block.body) for block in blocks(PAGE) if block.mark == "spec: objectives")
    data: dict[str, Any] = yaml.safe_load(ATOM)
    data["spec"]["objectives"] = shown["objectives"]
    assert len(parse_spec(yaml.safe_dump(data), "atom.yaml").spec.objectives) == len(shown["objectives"])


def test_without_the_grade_the_embedding_is_refused_as_the_page_says() -> None:
    (shown,) = (yaml.safe_load(block.body) for block in blocks(PAGE) if block.mark == "spec: objectives")
    data: dict[str, Any] = yaml.safe_load(ATOM)
    data["spec"]["objectives"] = [each for each in shown["objectives"] if each["name"] != "right"]
    with pytest.raises(SpecError, match="no gate may rest on them alone"):
        parse_spec(yaml.safe_dump(data), "atom.yaml")
