"""The page on gauges: what it runs does what it shows, what it shows can be written, and the names are the code's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from console import blocks, run_page

from chaosgate.model.check import STOP_LIST, Draft, check
from chaosgate.model.gauges import Metrics
from chaosgate.model.source import VALUES, parse_source
from chaosgate.model.steady import SemanticSteadyState
from chaosgate.model.stopping import StopCondition
from chaosgate.model.validation import validate

PAGE = (Path(__file__).parents[2] / "docs" / "gauges.md").read_text(encoding="utf-8")


def shown(what: str) -> Any:
    (body,) = (block.body for block in blocks(PAGE) if block.mark == f"spec: {what}")
    return parse_source(f"shown:\n{re.sub('^', '  ', body, flags=re.M)}", "gauges.md", VALUES).data["shown"]


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_page_does_what_it_shows(tmp_path: Path) -> None:
    problems = run_page(PAGE, tmp_path)
    assert problems == [], "\n".join(problems)


@pytest.mark.parametrize(("what", "model"), [("metrics", Metrics), ("semantic", SemanticSteadyState)])
def test_a_part_of_a_spec_that_is_shown_can_be_written(what: str, model: type[Any]) -> None:
    assert validate(model, shown(what))[1] == []


def test_the_conditions_that_are_shown_can_be_written() -> None:
    read = [validate(StopCondition, one) for one in shown("stopWhen")]
    assert [problems for _, problems in read] == [[]] * 7
    conditions = {(*STOP_LIST, index): one for index, (one, _) in enumerate(read) if one is not None}
    assert check(Draft({}, conditions, whole=True)) == []


def test_the_defaults_of_the_page_are_those_of_the_code() -> None:
    wanted = SemanticSteadyState.model_validate(shown("semantic"))
    assert wanted == SemanticSteadyState(scorer="exact-match")
