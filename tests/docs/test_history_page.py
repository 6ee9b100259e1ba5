"""The page on history: what it shows can be written, and it names what the code has."""

from __future__ import annotations

import re
from pathlib import Path

from console import blocks

from chaosgate.model.history import MIN_RUNS, GateHistory
from chaosgate.model.source import VALUES, parse_source
from chaosgate.model.validation import validate
from chaosgate.report.history import FAIL_TAIL, WARN_TAIL
from chaosgate.statistics.trend import MIN_POINTS

PAGE = (Path(__file__).parents[2] / "docs" / "history.md").read_text(encoding="utf-8")


def test_the_part_of_a_spec_that_is_shown_can_be_written() -> None:
    (body,) = (block.body for block in blocks(PAGE) if block.mark == "spec: history")
    shown = parse_source(f"shown:\n{re.sub('^', '  ', body, flags=re.M)}", "history.md", VALUES).data["shown"]
    assert validate(GateHistory, shown)[1] == []


def test_the_numbers_of_the_page_are_those_of_the_code() -> None:
    assert (MIN_RUNS, "Fewer than three say nothing" in PAGE) == (3, True)
    assert (MIN_POINTS, "Five versions are needed" in PAGE) == (5, True)
    for tail in (WARN_TAIL, FAIL_TAIL):
        assert f"worse than {100 * (1 - tail):g} % of " in PAGE
        assert f"beyond the {100 * (1 - 2 * tail):g} % band" in PAGE
