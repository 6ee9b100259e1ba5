"""The page on the load shows loads that can be written, presets as they are, and commands that do what it shows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import get_args

import pytest
from console import Block, blocks, run_page
from small_drill import SUPPORT

from chaosgate.judge.trust import MAX_SCHEDULE_DELAY
from chaosgate.loadgen.arrivals import schedule
from chaosgate.loadgen.saturation import HELD
from chaosgate.model.arrivals import Arrivals
from chaosgate.model.enclosed import OF_SPEC
from chaosgate.model.lengths import MAX_ANSWER_TOKENS, MAX_WORDS
from chaosgate.model.presets import presets
from chaosgate.model.source import VALUES, parse_source
from chaosgate.model.trace_file import FORMS
from chaosgate.model.validation import validate
from chaosgate.model.workload import Workload
from chaosgate.prompts.table import COLUMNS

PAGE = (Path(__file__).parents[2] / "docs" / "workload.md").read_text(encoding="utf-8")
PROCESSES = [word for one in get_args(Arrivals) for word in get_args(one.model_fields["process"].annotation)]
SHOWN = [block for block in blocks(PAGE) if block.mark.startswith("spec: workload")]


@pytest.mark.parametrize("block", SHOWN, ids=lambda block: f"line {block.line}")
def test_a_load_that_is_shown_can_be_written_and_sent(block: Block) -> None:
    data = parse_source(block.body, "workload.md", VALUES).data
    if "trace" in block.mark:
        data["arrivals"]["rows"] = "0,120,64 0.4,2048,16 0.5,80,200"
    load, problems = validate(Workload, data)
    assert problems == []
    assert load is not None
    assert list(schedule(load, 5.0, "baseline"))


def test_every_process_form_of_trace_and_column_is_named() -> None:
    assert [word for word in PROCESSES if f"| `{word}` |" not in PAGE] == []
    assert [one.name for one in FORMS if not all(f"`{word}`" in PAGE for word in (one.time, one.input))] == []
    assert [column for column in COLUMNS if f"`{column}`" not in PAGE] == []


def test_presets_stand_there_as_they_are() -> None:
    rows = [f"| `{one.name}` | {one.shows} | {one.field} | {one.ours} |" for one in presets().values()]
    assert [row for row in rows if row not in PAGE] == []


def test_limits_are_those_of_the_code() -> None:
    page = " ".join(PAGE.split())
    assert f"At most {OF_SPEC.requests:,} requests are taken in" in page
    assert f"head -n {OF_SPEC.requests + 1} trace.csv" in page
    assert f"up to {OF_SPEC.prompt_bytes >> 10} KiB" in page
    assert f"at most {MAX_WORDS:,} words, an answer {MAX_ANSWER_TOKENS:,} tokens" in page
    assert f"less than {HELD * 100:g} % of the requested rate" in page
    assert f"more than {MAX_SCHEDULE_DELAY * 1000:g} ms late" in page


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_what_the_page_runs_does_what_it_shows(tmp_path: Path) -> None:
    problems = run_page(PAGE, tmp_path, PYTHONPATH=os.fspath(SUPPORT / "without_mlflow"))
    assert problems == [], "\n".join(problems)
