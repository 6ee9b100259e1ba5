"""How wide text for people is: as wide as their terminal, and no wider than is read with ease."""

from __future__ import annotations

import shutil
import sys
import textwrap

LEAST = 60
"""Columns below which text is not folded any narrower: the terminal breaks it then."""


def text_width(most: int) -> int:
    """The columns of the terminal on standard output, at most `most`; `most` where it is none."""
    if sys.stdout is None or not sys.stdout.isatty():
        return most
    return max(LEAST, min(most, shutil.get_terminal_size().columns))


def fold(text: str, most: int, first: str = "", further: str | None = None) -> list[str]:
    """`text` in lines of at most `text_width(most)` columns, the first behind `first`, the others behind `further`.

    Without `further` they go on below where the text began. No word is broken, a digest or an address least of all.
    """
    margin = " " * len(first) if further is None else further
    return textwrap.wrap(
        text,
        text_width(most),
        initial_indent=first,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )
