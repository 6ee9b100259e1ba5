"""CSV with a first line of column names (RFC 4180), read strictly."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from chaosgate.errors import UsageError


def csv_rows(text: str, file: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row by the names of the first line, with the line on which it ends; a UsageError names file and line."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        columns = [name.strip() for name in next(reader, [])]
        if len(set(columns)) < len(columns):
            raise UsageError(f"{file}:1: read the columns {', '.join(map(repr, columns))}; each may stand there once")
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(columns):
                place, named = f"{file}:{reader.line_num}", len(columns)
                raise UsageError(f"{place}: has {len(cells)} values, and the first line names {named} columns")
            yield reader.line_num, dict(zip(columns, cells, strict=True))
    except csv.Error as error:
        raise UsageError(f"{file}:{reader.line_num}: is no CSV: {error}") from error
