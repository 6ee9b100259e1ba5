#!/usr/bin/env python3
"""Which chaos specs a change makes due: those it touches, and those that depend on what it touches.

    changed_specs.py --base COMMIT --head COMMIT [--specs GLOB]... [--also GLOB]... [-o text|json]

Needs Python and git, nothing else: the git hook and the workflows run it before chaosgate is asked. The rule:

- A spec is a regular file that `--specs` matches and that says `kind: ChaosSpec`, whatever its name. A file that says
  `apiVersion: chaosgate/...` with an unknown kind counts as one, so that a misspelt kind is refused, not passed over.
- A spec that was added or changed is due. One that was deleted is not; a rename is a deletion and an addition.
- Any other changed file that `--specs` matches (values, a profile, a README) makes every spec in its folder and below
  due; if no spec is there, those of the nearest folder above that has some.
- A changed file that `--also` matches, a lock file for example, makes every spec due. So does a base that is no commit
  here: the first push of a branch, or a history that was rewritten.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

DEFAULT_SPECS = ("chaos-specs/**",)
OTHER_KINDS = ("ChaosProfile",)
"""Kinds of chaosgate documents that are no specs."""
COMMIT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
"""A full object name, SHA-1 or SHA-256."""
REGULAR = ("100644", "100755")
"""Git's modes of regular files. A symbolic link is never read as a spec: it could lead out of the repository."""


_HEAD = re.compile(r"\A(?:(?:[ \t]*(?:#.*)?|%.*|---[ \t]*(?:#.*)?)\n)*(?:---[ \t]+)?")
"""What may stand before the content of a YAML document: blank lines, comments, directives, the mark of its start."""


class GateError(Exception):
    """Something that keeps the gate from its work. The text says what was read, what is allowed, what to do next."""

    exit_code = 2


@dataclass(frozen=True)
class Entry:
    """A file of a commit: git's mode and the object name of its content."""

    mode: str
    content: str


@dataclass(frozen=True)
class Tree:
    """A commit: its files by path, and which of them are specs."""

    files: Mapping[str, Entry]
    specs: frozenset[str]


@dataclass(frozen=True)
class Due:
    """A spec that must be judged again, and why."""

    file: str
    why: str


@dataclass(frozen=True)
class Changes:
    """What a change asks of the gate: the specs that are due, those it deleted, and how many there are in all."""

    due: tuple[Due, ...]
    removed: tuple[str, ...]
    total: int


def one_line(text: str) -> str:
    """`text` of another's making as one line that is safe to print: no line ends, no escape sequences."""
    return "".join(char if char.isprintable() else " " if char.isspace() else "\ufffd" for char in text)


class Repository:
    """What is asked of git. Paths are text in which bytes that are no UTF-8 stand as surrogates, as in os.fsdecode."""

    def __init__(self, folder: Path | None = None, environment: Mapping[str, str] | None = None) -> None:
        self.folder, self.environment = folder, environment

    def git(self, *words: str, stdin: bytes = b"") -> bytes:
        """What `git WORDS` prints; a GateError with git's own words when it fails."""
        done = self._run(words, stdin)
        if done.returncode:
            said = one_line(done.stderr.decode(errors="replace").strip())
            raise GateError(f"git {words[0]} failed with exit code {done.returncode}: {said}")
        return done.stdout

    def has_commit(self, name: str) -> bool:
        """Whether `name` is a commit that is here."""
        return self._run(("cat-file", "-e", f"{name}^{{commit}}")).returncode == 0

    def is_shallow(self) -> bool:
        """Whether the history is cut off here."""
        return self.git("rev-parse", "--is-shallow-repository").strip() == b"true"

    def tree(self, commit: str, specs: re.Pattern[str]) -> Tree:
        """The files of `commit`; those that `specs` matches are read to see which are specs."""
        listed = self.git("ls-tree", "-r", "-z", "--full-tree", commit)
        files = dict(map(_parse_entry, listed.split(b"\0")[:-1]))
        candidates = [path for path, entry in files.items() if entry.mode in REGULAR and specs.fullmatch(path)]
        contents = self.contents([files[path].content for path in candidates])
        found = frozenset(path for path, content in zip(candidates, contents, strict=True) if is_spec(content))
        return Tree(files, found)

    def contents(self, objects: Sequence[str]) -> list[bytes]:
        """The content of each object, in order."""
        output = self.git("cat-file", "--batch", stdin="".join(f"{one}\n" for one in objects).encode())
        found, position = [], 0
        for _ in objects:
            # Each object is `<name> <type> <size>`, a line end, its content and one more line end.
            start = output.index(b"\n", position) + 1
            size = int(output[position:start].split()[-1])
            found.append(output[start : start + size])
            position = start + size + 1
        return found

    def _run(self, words: Sequence[str], stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                ["git", *words], cwd=self.folder, env=self.environment, input=stdin, capture_output=True, check=False
            )
        except FileNotFoundError:
            raise GateError("git was not found in PATH; install git 2.15 or newer") from None


def _parse_entry(line: bytes) -> tuple[str, Entry]:
    """A line of `git ls-tree -z`: mode, type, object name, a tab, the path as it is."""
    head, _, path = line.partition(b"\t")
    mode, _, content = head.decode().split()
    return os.fsdecode(path), Entry(mode, content)


def is_spec(content: bytes) -> bool:
    """Whether a file says that it is a chaos spec, or a chaosgate document of a kind that nobody knows."""
    text = _HEAD.sub("", content.decode("utf-8-sig", errors="replace").replace("\r\n", "\n"), count=1)
    # Without a YAML reader: in block style a key of the document itself starts its line, where the first one may be
    # indented; in JSON style it may not.
    margin = text[: len(text) - len(text.lstrip(" "))]
    start = r"[{,\s]" if text.lstrip().startswith("{") else f"^(?:{margin})?"
    values = {key: _values(text, start, key) for key in ("kind", "apiVersion")}
    if "ChaosSpec" in values["kind"]:
        return True
    ours = any(version.startswith("chaosgate/") for version in values["apiVersion"])
    return ours and not any(kind in OTHER_KINDS for kind in values["kind"])


def _values(text: str, start: str, key: str) -> list[str]:
    found: list[str] = re.findall(rf"""{start}["']?{key}["']?\s*:\s*["']?([\w./-]+)""", text, re.MULTILINE)
    return found


def glob_pattern(globs: Iterable[str]) -> re.Pattern[str]:
    """What matches any of `globs` in whole: `*` and `?` within one name, `**` across folders."""
    return re.compile("|".join(f"(?:{_translate(glob)})" for glob in globs) or r"(?!)", re.DOTALL)


def _translate(glob: str) -> str:
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(words.get(part, re.escape(part)) for part in re.split(r"(\*\*/|\*\*|\*|\?)", glob))


def changed_specs(
    repository: Repository, base: str, head: str, specs: Sequence[str] = DEFAULT_SPECS, also: Sequence[str] = ()
) -> Changes:
    """What the change from `base` to `head` asks of the gate; an empty or all-zero base stands for no commit.

    A GateError when `head` is no commit here, or when `base` lies beyond the history of a shallow clone.
    """
    if not repository.has_commit(head):
        raise GateError(f"head: {one_line(head)!r} is no commit here; name one that `git log` shows")
    pattern = glob_pattern(specs)
    new = repository.tree(head, pattern)
    if why := _no_base(repository, base):
        return Changes(_all_due(new, why), (), len(new.specs))
    return compare(repository.tree(base, pattern), new, pattern, glob_pattern(also))


def _no_base(repository: Repository, base: str) -> str | None:
    """Why there is no base to compare with, None when there is one."""
    if not base.strip("0"):
        return "nothing to compare with: the first push of this branch"
    if repository.has_commit(base):
        return None
    if repository.is_shallow():
        raise GateError(
            f"base: {one_line(base)!r} lies beyond this shallow clone; fetch the whole history: "
            "`fetch-depth: 0` at actions/checkout, or `git fetch --unshallow`"
        )
    if not COMMIT_ID.fullmatch(base):
        raise GateError(f"base: {one_line(base)!r} is no commit here; name a branch, a tag or a full commit id")
    return f"nothing to compare with: {base[:12]} is no longer in the history"


def compare(old: Tree, new: Tree, specs: re.Pattern[str], also: re.Pattern[str]) -> Changes:
    """What differs between two commits, and what depends on it."""
    touched = sorted(path for path in old.files.keys() | new.files.keys() if old.files.get(path) != new.files.get(path))
    removed = tuple(path for path in touched if path in old.specs and path not in new.specs)
    return Changes(_due(touched, old, new, specs, also), removed, len(new.specs))


def _due(
    touched: Sequence[str], old: Tree, new: Tree, specs: re.Pattern[str], also: re.Pattern[str]
) -> tuple[Due, ...]:
    if shared := next((path for path in touched if also.fullmatch(path)), None):
        return _all_due(new, f"depends on {shared}")
    folders = {folder for spec in new.specs for folder in _above(spec)}
    found: dict[str, str] = {}
    for path in touched:
        if path in new.specs:
            found[path] = "changed" if path in old.files else "added"
        elif specs.fullmatch(path) and path not in old.specs:
            home = next((folder for folder in _above(path) if folder in folders), None)
            for spec in new.specs if home is not None else ():
                if home in _above(spec):
                    found.setdefault(spec, f"depends on {path}")
    return tuple(Due(file, found[file]) for file in sorted(found))


def _all_due(tree: Tree, why: str) -> tuple[Due, ...]:
    return tuple(Due(file, why) for file in sorted(tree.specs))


def _above(path: str) -> list[str]:
    """The folders that hold `path`, from its own to the root."""
    return [str(folder) for folder in PurePosixPath(path).parents]


def render(changes: Changes, output: str) -> str:
    """The changes as JSON, or as one line a spec: its path, a tab, why it is due."""
    if output == "json":
        return json.dumps(asdict(changes), indent=2)
    lines = [f"{one_line(due.file)}\t{one_line(due.why)}" for due in changes.due]
    lines += [f"{one_line(file)}\tremoved" for file in changes.removed]
    return "\n".join(lines) or f"none of {changes.total} specs is due"


def main(argv: Sequence[str]) -> int:
    """The command line; 0, or 2 when the question cannot be answered."""
    parser = argparse.ArgumentParser(description="Which chaos specs a change makes due.")
    parser.add_argument("--base", required=True, metavar="COMMIT", help="before the change; empty: none")
    parser.add_argument("--head", required=True, metavar="COMMIT", help="after it")
    parser.add_argument("--specs", action="append", metavar="GLOB", help=f"default: {DEFAULT_SPECS[0]}")
    parser.add_argument("--also", action="append", metavar="GLOB", default=[], help="files all specs depend on")
    parser.add_argument("-o", choices=("text", "json"), default="text", dest="output", help="output format")
    words = parser.parse_args(argv)
    try:
        changes = changed_specs(Repository(), words.base, words.head, words.specs or DEFAULT_SPECS, words.also)
    except GateError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(render(changes, words.output))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
