"""Every link of a page leads to a file, and to a heading of it where it names one; the index lists every page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.M | re.S)


def broken(page: Path, text: str) -> Iterator[str]:
    """The links of a page that lead nowhere."""
    for file, heading in LINK.findall(CODE.sub("", text)):
        target = page.parent / file if file else page
        if not target.exists():
            yield f"{file}: no such file"
        elif heading and heading not in anchors(target.read_text(encoding="utf-8")):
            yield f"{file}#{heading}: no such heading"


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives the headings of a page: small letters, dashes for spaces, no punctuation."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", sorted(PAGES), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert list(broken(page, page.read_text(encoding="utf-8"))) == []


def test_a_link_that_leads_nowhere_is_found() -> None:
    text = "[a](tour.md) [b](nowhere.md) [c](tour.md#1-install) [d](tour.md#9-leave) [e](#top) `[f](x.md)`"
    assert list(broken(DOCS / "README.md", text)) == [
        "nowhere.md: no such file",
        "tour.md#9-leave: no such heading",
        "#top: no such heading",
    ]


def test_the_index_lists_every_page() -> None:
    listed = set(re.findall(r"\]\(([^)]+)\)", (DOCS / "README.md").read_text(encoding="utf-8")))
    pages = {page.name for page in DOCS.glob("*.md")} - {"README.md"}
    assert pages <= listed
