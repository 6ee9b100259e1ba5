"""The tour does what it shows, from its first command to its last."""

from __future__ import annotations

from pathlib import Path

import pytest
from console import blocks, run_page

DOCS = Path(__file__).parents[2] / "docs"
TOO_BUSY = ("late load generator", "drift")
"""What a run says of itself on a machine that has too much else to do: that is no fault of the page."""
CHANCES = 2


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_tour_does_what_it_shows(tmp_path: Path) -> None:
    page = (DOCS / "tour.md").read_text(encoding="utf-8")
    for chance in range(CHANCES):
        folder = tmp_path / str(chance)
        folder.mkdir()
        problems = run_page(page, folder)
        if not any(word in problem for problem in problems for word in TOO_BUSY):
            break
    assert problems == [], "\n".join(problems)


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_the_pipelines_compile_as_shown(tmp_path: Path) -> None:
    page = (DOCS / "argo-kfp-mlflow.md").read_text(encoding="utf-8")
    for name, file in (("spec", "scenarios/stream-degradation"), ("cluster", "profiles/cluster")):
        (tmp_path / f"{name}.yaml").write_bytes((DOCS.parent / "chaos-specs" / f"{file}.yaml").read_bytes())
    problems = run_page(page, tmp_path)
    assert problems == [], "\n".join(problems)


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_few_blocks_are_skipped_and_each_says_why(page: Path) -> None:
    marks = [block.mark for block in blocks(page.read_text(encoding="utf-8")) if block.language == "console"]
    skipped = [mark.removeprefix("console: skip: ") for mark in marks if mark.startswith("console: skip")]
    assert len(skipped) <= 2
    assert all(len(reason.split()) > 3 for reason in skipped)
