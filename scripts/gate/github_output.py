"""What a job tells GitHub: annotations at lines of files, and the job's Markdown summary.

Sources: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands for the commands and the
limit of a summary; the escapes are those of https://github.com/actions/toolkit (packages/core/src/command.ts); what the
runner takes for a command is in https://github.com/actions/runner (src/Runner.Common/ActionCommand.cs).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path

from changed_specs import one_line

SUMMARY_LIMIT = 1024 * 1024
"""Bytes of the summary of one step; GitHub shows none at all of one that is longer."""
LEFT_OUT = "\n*{count} more parts are left out: a summary holds 1 MiB. The whole is among the artifacts.*\n"


def escape_data(text: str) -> str:
    """`text` as the message of a workflow command: it can neither end its line nor begin another command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """`text` as the value of a property, such as a file's name: it cannot begin another property, either."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def annotation(message: str, file: str, line: int = 0, column: int = 0, level: str = "error") -> str:
    """A workflow command that shows `message` at a place of a file; line and column count from 1, 0 means unknown."""
    place = {"file": printable(file), "line": str(line or ""), "col": str(column or ""), "title": "chaosgate"}
    properties = ",".join(f"{name}={escape_property(value)}" for name, value in place.items() if value)
    return f"::{level} {properties}::{escape_data(printable(message))}"


def log_line(text: str) -> str:
    """`text` of another's making as a line of the log that is no command to the runner.

    It takes `::` for one at the start of a line and its older form, `##[`, anywhere.
    """
    return f"chaosgate: {one_line(printable(text)).replace('##[', '# #[')}"


def printable(text: str) -> str:
    """`text` in which bytes of a file's name that are no UTF-8 are replaced, so that it can be written as UTF-8."""
    return text.encode(errors="surrogateescape").decode(errors="replace")


def cell(text: str) -> str:
    """`text` as one cell of a Markdown table: no markup of its own, and it cannot end its cell."""
    safe = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join(f"\\{char}" if char in "\\`*_[]|~" else char for char in safe)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table of plain text."""
    lines = [headings, ["---"] * len(headings), *([cell(text) for text in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def fit(parts: Sequence[str], limit: int = SUMMARY_LIMIT) -> str:
    """The parts in order, as many as `limit` bytes hold, none cut in two; a last line says how many are left out."""
    sizes = [len(part.encode()) + 1 for part in parts]
    if sum(sizes) <= limit:
        return "".join(f"{part}\n" for part in parts)
    room = limit - len(LEFT_OUT.format(count=len(parts)).encode())
    kept = sum(size <= room for size in accumulate(sizes))
    return "".join(f"{part}\n" for part in parts[:kept]) + LEFT_OUT.format(count=len(parts) - kept)


def write_summary(parts: Sequence[str]) -> None:
    """Add to the step's summary; where there is no GitHub, print it."""
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if not file:
        print(fit(parts))
        return
    path = Path(file)
    written = path.stat().st_size if path.exists() else 0
    with path.open("a", encoding="utf-8") as summary:
        summary.write(fit(parts, SUMMARY_LIMIT - written))
