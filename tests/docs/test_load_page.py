"""The page on load: what it runs does what it shows, and its tables are what the command has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from console import run_page

from chaosgate.cli.load import load
from chaosgate.model.presets import presets

PAGE = (Path(__file__).parents[2] / "docs" / "load.md").read_text(encoding="utf-8")

TURNS = 3


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.timeout(400)
def test_the_page_does_what_it_shows(tmp_path: Path) -> None:
    for turn in range(TURNS):
        folder = tmp_path / str(turn)
        folder.mkdir()
        problems = run_page(PAGE, folder)
        # The page shows a machine that has time: on one that is busy the client lags, and says so.
        if not any("the client lagged" in problem for problem in problems):
            break
    assert problems == [], "\n".join(problems)


def test_every_option_on_the_page_is_one_of_the_command() -> None:
    shown = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE)) - {"--port", "--ready-file", "--peers"}
    known = {name for parameter in load.params for name in (*parameter.opts, *parameter.secondary_opts)}
    assert shown <= known


def test_every_preset_on_the_page_is_one() -> None:
    (row,) = (line for line in PAGE.splitlines() if line.startswith("| `--preset"))
    named = set(re.findall(r"`([a-z-]+)`", row.partition("such as")[2]))
    assert named <= set(presets())
    assert len(named) == 4
