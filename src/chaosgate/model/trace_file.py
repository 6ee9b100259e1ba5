"""Recorded traces: CSV and JSON Lines files with the columns of the public ones, recognised by their names.

Azure LLM inference traces (https://github.com/Azure/AzurePublicDataset), BurstGPT
(https://github.com/HPMLL/BurstGPT), Mooncake (https://github.com/kvcache-ai/Mooncake), and plain `at`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Any

from chaosgate.errors import UsageError, one_line
from chaosgate.model.arrivals import TraceRows
from chaosgate.model.csv_rows import csv_rows
from chaosgate.model.lengths import MAX_ANSWER_TOKENS, MAX_WORDS
from chaosgate.model.utf8 import utf8_text
from chaosgate.strict_json import parse_json

_MOMENT = re.compile(
    r"([0-9-]{10}[ T][0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{0,12}))?(Z|[+-][0-9]{2}:[0-9]{2})?", re.ASCII
)


@dataclass(frozen=True)
class TraceForm:
    """The columns of one kind of trace: `time`, read by `seconds`, and where they are lengths."""

    name: str
    time: str
    seconds: Callable[[Any], float]
    input: str
    output: str
    also: tuple[str, ...] = ()
    """Columns that it has and that are not replayed."""

    def missing(self, columns: Sequence[str]) -> bool:
        """Whether `columns` are not those of this form."""
        return self.time not in columns or not set(columns) <= {self.time, self.input, self.output, *self.also}


def _number(read: Any) -> float:
    if isinstance(read, bool) or not isinstance(read, (int, float, str)):
        raise ValueError("a number")
    value = float(read)
    if not math.isfinite(value):
        raise ValueError("a finite number")
    return value


def _milliseconds(read: Any) -> float:
    return _number(read) / 1000


def _moment(read: Any) -> float:
    """Seconds of a date and time such as `2023-11-16 18:15:46.6805900`, of which seven digits may follow the point.

    An offset such as `+02:00` counts: over the end of summer time the clock on the wall goes back, and time does not.
    """
    found = _MOMENT.fullmatch(str(read).strip())
    if found is None:
        raise ValueError("write it as 2023-11-16 18:15:46.68, with an offset such as +02:00 where it is not UTC")
    whole, digits, offset = found.groups()
    return datetime.fromisoformat(whole + ("+00:00" if offset in (None, "Z") else offset)).timestamp() + float(
        f"0.{digits or 0}"
    )


FORMS = (
    TraceForm("Azure", "TIMESTAMP", _moment, "ContextTokens", "GeneratedTokens"),
    TraceForm(
        "BurstGPT",
        "Timestamp",
        _number,
        "Request tokens",
        "Response tokens",
        ("Model", "Total tokens", "Log Type", "Session ID", "Elapsed time"),
    ),
    TraceForm("Mooncake", "timestamp", _milliseconds, "input_length", "output_length", ("hash_ids", "type")),
    TraceForm("plain", "at", _number, "input", "output"),
)
"""Every form of trace. `at` and BurstGPT's Timestamp are seconds, Mooncake's timestamp milliseconds, Azure's a date."""


def read_trace(data: bytes, file: str) -> TraceRows:
    """The trace in `data`, in the order of its times; the first request is at 0.

    `file` names it in a UsageError, which says which columns or which value of which line are refused, and ends in
    `.csv` or `.jsonl`. Lengths of 0 become 1: no request is without a prompt or an answer.
    """
    rows = _rows(data, file)
    if not rows:
        raise UsageError(f"{file}: holds no request; write lines such as at,input,output and 0.5,120,64")
    form = _form(rows[0][1], file)
    lengths = [key if key in rows[0][1] else None for key in (form.input, form.output)]
    read = sorted((_row(row, form, lengths, f"{file}:{line}") for line, row in rows), key=lambda one: one[0])
    first = read[0][0]
    if not math.isfinite(read[-1][0] - first):
        raise UsageError(f"{file}: reaches from {first:g} s to {read[-1][0]:g} s, further than can be counted")
    # Microseconds are finer than any client keeps a schedule, and keep a spec short.
    times = tuple(round(at - first, 6) for at, _, _ in read)
    return TraceRows(times, _column(one[1] for one in read), _column(one[2] for one in read))


def _column(lengths: Iterator[int | None]) -> tuple[int, ...] | None:
    found = tuple(length for length in lengths if length is not None)
    return found or None


def _rows(data: bytes, file: str) -> list[tuple[int, Mapping[str, Any]]]:
    text = utf8_text(data, file)
    match PurePath(file).suffix.lower():
        case ".csv":
            return list(csv_rows(text, file))
        case ".jsonl":
            return list(_jsonl(text, file))
        case suffix:
            raise UsageError(f"{file}: read the ending {suffix!r}; a trace is a .csv or a .jsonl file")


def _jsonl(text: str, file: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{file}:{number}: is no JSON: {one_line(str(error))}") from error
        if not isinstance(row, dict):
            raise UsageError(f'{file}:{number}: a line is an object such as {{"at": 0.5, "input": 120, "output": 64}}')
        yield number, row


def _form(row: Mapping[str, Any], file: str) -> TraceForm:
    for form in FORMS:
        if not form.missing(tuple(row)):
            return form
    allowed = "; ".join(f"{', '.join((one.time, one.input, one.output))} ({one.name})" for one in FORMS)
    raise UsageError(f"{file}: read the columns {', '.join(map(repr, row))}; a trace has those of one of: {allowed}")


def _row(
    row: Mapping[str, Any], form: TraceForm, lengths: Sequence[str | None], place: str
) -> tuple[float, int | None, int | None]:
    at = _value(row, form.time, form.seconds, place, "a time")
    inputs = _length(row, lengths[0], MAX_WORDS, place)
    return at, inputs, _length(row, lengths[1], MAX_ANSWER_TOKENS, place)


def _length(row: Mapping[str, Any], key: str | None, most: int, place: str) -> int | None:
    if key is None:
        return None
    value = _value(row, key, _number, place, "a length")
    if value != int(value) or not 0 <= value <= most:
        raise UsageError(f"{place}: {key}: read {row[key]!r}; a length is a whole number up to {most}")
    return max(1, int(value))


def _value(row: Mapping[str, Any], key: str, read: Callable[[Any], float], place: str, what: str) -> float:
    try:
        return read(row[key])
    except KeyError:
        raise UsageError(f"{place}: {key!r} is missing; every line of a trace has the columns of its first") from None
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{place}: {key}: read {row[key]!r}, which is no {what[2:]}: {one_line(str(error))}") from None
