"""A report read back: the text of a page by element, and every address it would ask for."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img"}


class Page(HTMLParser):
    """`text` is all that a reader sees, `cells` the rows of tables, `addresses` every src, href and CSS url."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.rows: list[list[str]] = []
        self.pieces: list[str] = []
        self.feed(html)
        self.close()

    @property
    def text(self) -> str:
        """All visible text with single spaces."""
        return " ".join(" ".join(self.pieces).split())

    def row(self, first: str) -> list[str]:
        """The first table row whose first cell starts with `first`."""
        return next(cells for cells in self.rows if cells and cells[0].startswith(first))

    def values(self, attribute: str) -> list[str]:
        """Every value of an attribute, in the order of the page."""
        return [value for name, value in self.attributes if name == attribute]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the tag and what it points to."""
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
        self.attributes += [(name, value or "") for name, value in attrs]
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href", "action")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """As above, closed at once."""
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the tag; a page whose tags do not nest is refused."""
        assert self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        """Keep what is seen."""
        if "style" in self.open:
            return
        self.pieces.append(data)
        if ("td" in self.open or "th" in self.open) and self.rows:
            self.rows[-1][-1] += data
