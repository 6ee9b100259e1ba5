"""The pages on extending chaosgate: they show the packages as they are, and what they run does what they show."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from console import blocks, run_page
from small_drill import SUPPORT
from strangers import PACKAGES, Webhook

from chaosgate.artifacts import ARTIFACTS
from chaosgate.model.plan import CLEANUP

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    "write-a-fault.md": "acme-hung-replica",
    "write-an-sli.md": "acme-stall",
    "write-a-component.md": "acme-notify",
}


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def shown(text: str) -> dict[str, str]:
    """The files that a page shows, by their path below the packages."""
    marked = (block for block in blocks(text) if block.mark.startswith("file: "))
    return {block.mark.removeprefix("file: "): block.body for block in marked}


def differing(text: str) -> list[str]:
    """The files that a page shows otherwise than they are."""
    return [file for file, body in shown(text).items() if body != (PACKAGES / file).read_text(encoding="utf-8")]


@pytest.mark.parametrize(("name", "package"), PAGES.items())
def test_a_page_shows_every_file_of_its_package_as_it_is(name: str, package: str) -> None:
    files = {f"{package}/{file.name}" for file in (PACKAGES / package).iterdir() if file.is_file()}
    assert shown(page(name)).keys() == files
    assert differing(page(name)) == []


def test_a_file_that_was_changed_on_the_page_alone_is_found() -> None:
    wrong = page("write-a-fault.md").replace("if draw.at(", "if not draw.at(")
    assert differing(wrong) == ["acme-hung-replica/acme_hung_replica.py"]


def test_the_page_on_components_lists_every_file_of_a_run() -> None:
    (row,) = (line for line in page("write-a-component.md").splitlines() if line.startswith("| `inputs`, `outputs`"))
    listed = set(re.findall(r"`(\w+)`", row)) - {"inputs", "outputs"}
    assert listed == ARTIFACTS.keys() - {CLEANUP}


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("name", "package"), PAGES.items())
def test_what_a_page_runs_does_what_it_shows(
    name: str, package: str, installed: Path, webhook: Webhook, tmp_path: Path
) -> None:
    for file in (PACKAGES / package).glob("*.yaml"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    path = os.pathsep.join([str(installed), str(SUPPORT / "without_mlflow")])
    problems = run_page(page(name), tmp_path, PYTHONPATH=path, ACME_WEBHOOK=webhook.url)
    assert problems == [], "\n".join(problems)
    told = [message["text"].split()[0] for message in webhook.posted]
    assert told == (["@serving-oncall"] if package == "acme-notify" else [])
