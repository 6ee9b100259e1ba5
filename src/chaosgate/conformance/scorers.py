"""What a scorer owes: a name, a version and the digest of what decides its numbers, or what to install."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from chaosgate.conformance.common import call, check_documented, require
from chaosgate.model.scorer import SCORERS, Scorer, scorer_card


def check_scorer(kind: type[Scorer]) -> None:
    """Check a scorer, installed or not; a ConformanceError says what is owed."""
    check_documented(kind, "files")
    names = [name for name, known in SCORERS.items() if known is kind]
    once = f"is registered under {len(names)} names; decorate it with @SCORERS.register(NAME) once"
    require(len(names) == 1, kind, once)
    if (missing := call(kind, "missing()", kind.missing)) is not None:
        installs = kind.install in missing
        require(installs, kind, f"missing() says {missing!r}; name what installs it: {kind.install!r}")
        return
    _check_files(kind, call(kind, "files()", kind.files))
    first, again = (call(kind, "its card", lambda: scorer_card(names[0], ())) for _ in "ab")
    require(first == again, kind, f"says that it is {first} and then {again}; it must not change while a run goes on")
    found = first.version is not None
    require(found, kind, f"has no version: distribution is {kind.distribution!r}; write what pip calls its package")


def _check_files(kind: type[Scorer], files: Sequence[Path]) -> None:
    require(len(files) > 0, kind, "files() gave none; name what decides its numbers, at least its own module")
    for file in files:
        require(file.is_file(), kind, f"files() names {file}, and there is no such file")
