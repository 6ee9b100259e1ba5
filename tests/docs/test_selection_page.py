"""The page on selection shows faults that can be written, and the words of the noise language as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from console import blocks

from chaosgate.gateway.noise import P95, WORDS
from chaosgate.model.fault import FAULTS
from chaosgate.model.source import VALUES, parse_source
from chaosgate.model.validation import validate

PAGE = (Path(__file__).parents[2] / "docs" / "selection.md").read_text(encoding="utf-8")
SHOWN = [parse_source(block.body, "selection.md", VALUES).data for block in blocks(PAGE) if block.mark == "spec: fault"]


@pytest.mark.parametrize("data", SHOWN, ids=lambda data: str(data["name"]))
def test_a_fault_that_is_shown_can_be_written(data: dict[str, object]) -> None:
    assert validate(FAULTS.get(str(data["kind"])), data)[1] == []


def test_faults_are_shown() -> None:
    assert len(SHOWN) == 4


def test_the_words_of_noise_are_those_of_the_language() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([\w.-]+) \| (.+) \|$", PAGE, re.M)
    assert {word: (kind, dose) for word, kind, dose in rows} == {
        name: (word.kind, word.dose) for name, word in WORDS.items()
    }
    assert f"`{P95}:true`" in PAGE
