"""Runs the console blocks of a page as its reader would, and says where what happens is not what the page shows.

A block begins with ```` ```console ````. A line that begins with `$ ` is a command, continued by a `\\` at its end;
what follows it, up to the next command, is its output. All commands of a page run one after the other in one shell, in
a fresh folder. The rules:

- A command ends with exit code 0, unless the next one is `echo $?`, which shows another.
- All of its output is shown. A line `...` stands for any number of lines, `...` within a line for any text.
- HTML comments on the line above a block say what else holds for it:
  `<!-- console: numbers vary -->`: every number stands for any number, and a run id for any run id;
  `<!-- console: skip: REASON -->`: the block is not run;
  `<!-- console: file NAME -->`: the block, of any language, is written to the file NAME.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"^(?:<!-- (?P<mark>\S+: .*?) -->\n)?```(?P<language>\w*)\n(?P<body>.*?)^```$", re.M | re.S)
END = re.compile(r"\x1e(\d+)\n")
"""What the script prints after each command: a record separator, which no command prints, and the exit code."""
NUMBER = re.compile(r"\d+(?:\\\.\d+)?")
RUN_ID = re.compile(r"\d{8}\\-\d{6}\\-[0-9a-f]{6}")
ANY_RUN_ID = r"\d{8}-\d{6}-[0-9a-f]{6}"
SECONDS = 280


@dataclass(frozen=True)
class Block:
    """A fenced block of a page with the mark above it."""

    language: str
    mark: str
    body: str
    line: int
    """Of the page, where the body begins."""


@dataclass(frozen=True)
class Command:
    """A command and what the page shows of its output."""

    line: int
    text: str
    shown: tuple[str, ...]
    numbers_vary: bool = False


@dataclass(frozen=True)
class Ended:
    """What a command printed, and its exit code."""

    output: str
    code: int


def blocks(page: str) -> Iterator[Block]:
    """Every fenced block of a page."""
    for found in BLOCK.finditer(page):
        line = page.count("\n", 0, found.start("body")) + 1
        yield Block(found["language"], found["mark"] or "", found["body"], line)


def commands(page: str) -> list[Command]:
    """The commands of a page in their order; a file that the page shows is written by a command of its own."""
    return [command for block in blocks(page) for command in _commands_of(block)]


def _commands_of(block: Block) -> Iterator[Command]:
    file = block.mark.removeprefix("console: file ")
    if file != block.mark:
        yield Command(block.line, f"cat > {shlex.quote(file)} <<'END_OF_FILE'\n{block.body}END_OF_FILE", ())
    elif block.language == "console" and not block.mark.startswith("console: skip: "):
        yield from _commands_in(block)


def _commands_in(block: Block) -> Iterator[Command]:
    starts = [found.start() for found in re.finditer(r"^\$ ", block.body, re.M)]
    for start, end in zip(starts, [*starts[1:], len(block.body)], strict=True):
        text = re.match(r"\$ ((?:.*\\\n)*.*)\n?", block.body[start:end])
        assert text is not None
        line = block.line + block.body.count("\n", 0, start)
        shown = block.body[start + text.end() : end].splitlines()
        yield Command(line, text[1], tuple(shown), block.mark == "console: numbers vary")


def run_page(page: str, folder: Path, **variables: str) -> list[str]:
    """Run the commands of a page in `folder`; a sentence for each one that did not do what the page shows."""
    todo = commands(page)
    return list(_problems(todo, run_commands(todo, folder, variables)))


def run_commands(todo: Sequence[Command], folder: Path, variables: Mapping[str, str]) -> list[Ended]:
    """What became of each command; fewer than there are where the shell ended early."""
    done = subprocess.run(
        ["bash", "-c", _script(todo)],
        cwd=folder,
        env=_environment(folder, variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    pieces = END.split(done.stdout)
    return [Ended(output, int(code)) for output, code in zip(pieces[:-1:2], pieces[1::2], strict=True)]


def _script(todo: Sequence[Command]) -> str:
    """One script, so that a variable or `$?` is there for the next command as it is for a reader."""
    ends = r'code=$?; printf "\036%d\n" $code; (exit $code)'
    return "\n".join(["set -o pipefail", *(f"{command.text}\n{ends}" for command in todo)])


def _environment(folder: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """A reader's environment: the command on the path, and nothing that was set for other tests."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("MLFLOW_", "CHAOSGATE_"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**kept, "PATH": path, "HOME": str(folder), "NO_COLOR": "1", **variables}


def _problems(todo: Sequence[Command], done: Sequence[Ended]) -> Iterator[str]:
    for number, command in enumerate(todo):
        if number >= len(done):
            yield f"line {command.line}: $ {command.text}\n  was not run: the shell had ended"
            return
        told = number + 1 < len(todo) and todo[number + 1].text == "echo $?"
        ended = done[number]
        why = None if told or ended.code == 0 else f"exit code {ended.code}"
        why = why or difference(command, ended.output)
        if why:
            yield f"line {command.line}: $ {command.text}\n  {why}; it printed:\n{ended.output}"


def difference(command: Command, output: str) -> str | None:
    """How `output` differs from what the page shows, None where it does not."""
    lines, at = output.splitlines(), 0
    parts = _parts(command.shown)
    for number, part in enumerate(parts):
        places = range(at, len(lines) + 1)
        if number == 0:
            places = range(1)
        elif number == len(parts) - 1:
            # What ends the block is the end of the output; earlier parts stand where they are found first.
            places = places[max(0, len(lines) - len(part) - at) :]
        found = next((place for place in places if _matches(command, part, lines[place:])), None)
        if found is None:
            return f"shown and not printed: {_first_missing(command, part, lines[at:])!r}"
        at = found + len(part)
    return f"printed and not shown: {lines[at]!r}" if at < len(lines) else None


def _parts(shown: Sequence[str]) -> list[list[str]]:
    """The shown lines, cut at each `...`."""
    parts: list[list[str]] = [[]]
    for line in shown:
        if line.strip() == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def _matches(command: Command, part: Sequence[str], lines: Sequence[str]) -> bool:
    return len(lines) >= len(part) and all(
        _pattern(command, shown).fullmatch(line.rstrip()) for shown, line in zip(part, lines, strict=False)
    )


def _first_missing(command: Command, part: Sequence[str], lines: Sequence[str]) -> str:
    """The first line of `part` that is nowhere in `lines`, else the first line."""
    nowhere = (shown for shown in part if not any(_pattern(command, shown).fullmatch(line.rstrip()) for line in lines))
    return next(nowhere, part[0] if part else "")


def _pattern(command: Command, shown: str) -> re.Pattern[str]:
    text = re.escape(shown.rstrip())
    if command.numbers_vary:
        text = RUN_ID.sub("\x00", text)
        text = NUMBER.sub(r"\\d+(?:\\.\\d+)?", text)
        text = text.replace("\x00", ANY_RUN_ID)
    return re.compile(text.replace(r"\.\.\.", ".*"))
