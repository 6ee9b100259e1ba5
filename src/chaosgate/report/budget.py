"""Pages that must not grow beyond a number of bytes: whole rows are left out, the least important first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of a page. The lower its rank, the later it is left out; within a rank the last rows go first."""

    text: str
    rank: int = 0


@dataclass(frozen=True)
class Section:
    """A heading, the lines that must stand before any row, and the rows; `empty` stands where there are none."""

    title: str
    rows: Sequence[Row]
    before: Sequence[str] = ()
    empty: str = ""


def fit_page(head: str, sections: Sequence[Section], limit: int, note: str) -> str:
    """The page in at most `limit` bytes of UTF-8.

    Each section that lost rows says `note`, in which `{count}` is how many. A ValueError when not even the head and
    the headings fit.
    """
    bare = len(_page(head, sections, [set() for _ in sections], note).encode())
    if bare > limit:
        raise ValueError(f"limit: read {limit} bytes; at least {bare} are needed for the headings alone")
    return _page(head, sections, _chosen(sections, limit - bare), note)


def _chosen(sections: Sequence[Section], budget: int) -> list[set[int]]:
    """Which rows of each section are kept: by rank, each one that still fits.

    Leaving out is paid for in advance: a page without rows holds the longest note of each section.
    """
    kept: list[set[int]] = [set() for _ in sections]
    ranked = sorted((row.rank, place, at) for place, section in enumerate(sections) for at, row in _numbered(section))
    for _, place, at in ranked:
        size = len(sections[place].rows[at].text.encode()) + 1
        if size <= budget:
            budget -= size
            kept[place].add(at)
    return kept


def _numbered(section: Section) -> Iterator[tuple[int, Row]]:
    return iter(enumerate(section.rows))


def _page(head: str, sections: Sequence[Section], kept: Sequence[set[int]], note: str) -> str:
    parts = [head, *("\n".join(_lines(section, rows, note)) for section, rows in zip(sections, kept, strict=True))]
    return "\n\n".join(parts) + "\n"


def _lines(section: Section, kept: set[int], note: str) -> Iterator[str]:
    yield f"### {section.title}"
    yield ""
    if not section.rows:
        yield section.empty
        return
    yield from section.before
    yield from (row.text for at, row in _numbered(section) if at in kept)
    if len(kept) < len(section.rows):
        yield ""
        yield note.format(count=len(section.rows) - len(kept))
