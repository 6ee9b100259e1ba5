"""Prompts as CSV: a first line with the names of the columns, then a prompt a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chaosgate.errors import UsageError
from chaosgate.model.csv_rows import csv_rows
from chaosgate.prompts.lines import Placed, prompts_of_rows
from chaosgate.prompts.prompt import Prompt

COLUMNS = ("prompt", "answer", "form", "tenant", "session", "maxTokens", "suggestion", "accepted")
"""The columns that may stand there, in any order; `prompt` is needed. An empty cell is no value."""
_TRUTH = {"true": True, "false": False}


def read_table(text: str, file: str) -> tuple[Prompt, ...]:
    """The prompts of a CSV file (RFC 4180), in order; `file` names it in a UsageError, which lists what is wrong."""
    return prompts_of_rows(list(_rows(text, file)), file)


def _rows(text: str, file: str) -> Iterator[Placed]:
    for line, row in csv_rows(text, file):
        strange = [name for name in row if name not in COLUMNS]
        if strange or "prompt" not in row:
            read = ", ".join(map(repr, row))
            raise UsageError(f"{file}:1: read the columns {read}; prompts have `prompt`, and of {', '.join(COLUMNS)}")
        yield f"{file}:{line}", {key: _cell(key, cell) for key, cell in row.items() if cell != ""}


def _cell(key: str, text: str) -> Any:
    """The value of a cell: `accepted` is true or false, `maxTokens` a number, all else text."""
    if key == "accepted":
        return _TRUTH.get(text.strip().lower(), text)
    return int(text) if key == "maxTokens" and text.strip().isdecimal() else text
