"""Says what a YAML syntax error means to whoever wrote a spec, and what to do about it."""

from __future__ import annotations

import re

import yaml

from chaosgate.errors import Problem

_LINE_BREAK = re.compile(r"\r\n|[\r\n\x85\u2028\u2029]")
"""What YAML counts as the end of a line, so that line numbers agree with PyYAML's."""
_BARE_TEMPLATE = re.compile(r"(?:^|[:\-,\[{])\s*\{\{")
_BLOCK_SCALAR = "block scalar"


def explain(error: yaml.YAMLError, text: str, noun: str) -> Problem:
    """The problem behind `error`, with its place in `text`; `noun` is what the file should hold."""
    if isinstance(error, yaml.MarkedYAMLError):
        return _explain_marked(error, _LINE_BREAK.split(text), noun)
    position = getattr(error, "position", 0)
    before = _LINE_BREAK.split(text[: position if isinstance(position, int) else 0])
    return Problem((), "read a control character; remove it", len(before), len(before[-1]) + 1)


def _explain_marked(error: yaml.MarkedYAMLError, lines: list[str], noun: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark else (0, 0)
    if _BLOCK_SCALAR in (error.context or "") and error.context_mark:
        line, column = error.context_mark.line, error.context_mark.column
    written = lines[line] if line < len(lines) else ""
    return Problem((), _sentence(error, written, column, noun), line + 1, column + 1)


def _sentence(error: yaml.MarkedYAMLError, written: str, column: int, noun: str) -> str:
    character = written[column : column + 1]
    rest = re.split(r" #|,", written[column:])[0].rstrip(" }]")
    if _BLOCK_SCALAR in (error.context or "") or character == ">":
        return f'a bare `>` starts a block of text in YAML; quote it: "{rest}"'
    if _BARE_TEMPLATE.search(written):
        return 'read `{{` outside quotes; quote it: "{{ parameters.NAME }}"'
    if character == "\t" or "\t" in written[: len(written) - len(written.lstrip())]:
        return "read a tab; indent with spaces"
    if character in ("%", "@", "`") and column > 0:
        return f'a value that starts with `{character}` must stand in quotes: "{rest}"'
    if "another document" in (error.problem or ""):
        return f"read a second document; a file holds one {noun}: split it at `---`"
    return f"is no valid YAML: {_plain_words(error)}"


def _plain_words(error: yaml.MarkedYAMLError) -> str:
    context = f"{error.context}, " if error.context else ""
    return f"{context}{error.problem}"
