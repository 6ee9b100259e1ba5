"""What the workflow asks of a job. It comes by environment variables: no expression ever becomes a part of a script."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath

from changed_specs import DEFAULT_SPECS, Changes, GateError, Repository, changed_specs, one_line
from spec_selection import Selection, parse_selection

CARRIERS = {"argo": ("argo",), "kfp": ("kfp",), "both": ("argo", "kfp")}
NAMES = ("base", "head", "specs", "also", "profile", "carrier", "run", "minutes", "out")
"""Each is read from `GATE_<NAME>`."""
MOST_MINUTES = 330
"""A job that GitHub runs ends after 360 minutes, whatever it asks for; some are left to install and to clean up."""


@dataclass(frozen=True)
class Settings:
    """A job's settings, checked."""

    base: str
    head: str
    specs: tuple[str, ...]
    """Globs, one a line."""
    also: tuple[str, ...]
    profile: str
    carriers: tuple[str, ...]
    selection: Selection
    seconds: float
    """How long the drills may take together."""
    out: Path
    """The folder for what becomes an artifact."""

    def changes(self) -> Changes:
        """The specs that are due; all of them depend on the profile."""
        also = (*self.also, *([str(PurePosixPath(self.profile))] if self.profile else []))
        return changed_specs(Repository(), self.base, self.head, self.specs, also)


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The settings in `environment`; a GateError names the variable that is missing or not allowed."""
    missing = [f"GATE_{name.upper()}" for name in NAMES if f"GATE_{name.upper()}" not in environment]
    if missing:
        raise GateError(f"{', '.join(missing)}: not set; set every one, empty where it does not matter")
    given = {name: environment[f"GATE_{name.upper()}"].strip() for name in NAMES}
    return Settings(
        given["base"],
        given["head"] or "HEAD",
        lines(given["specs"]) or DEFAULT_SPECS,
        lines(given["also"]),
        given["profile"],
        _carriers(given["carrier"]),
        parse_selection(given["run"]),
        60 * minutes(given["minutes"], MOST_MINUTES),
        Path(given["out"]),
    )


def lines(text: str) -> tuple[str, ...]:
    """The lines of `text` that hold something."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def minutes(text: str, most: int) -> int:
    """A number of minutes from 1 to `most`."""
    if not re.fullmatch("[0-9]{1,4}", text) or not 1 <= int(text) <= most:
        raise GateError(f"minutes: read {one_line(text)!r}; allowed: a whole number from 1 to {most}")
    return int(text)


def _carriers(word: str) -> tuple[str, ...]:
    if word not in CARRIERS:
        raise GateError(f"carrier: read {one_line(word)!r}; allowed: {', '.join(CARRIERS)}")
    return CARRIERS[word]


def artifact_folder(file: str) -> str:
    """A folder name for what belongs to a spec: its path, in which what an artifact may not hold is replaced."""
    allowed = "".join(char if char.isascii() and (char.isalnum() or char in "._-/ ") else "-" for char in file)
    if allowed == file:
        return file
    # Two names may look alike once they are replaced; their digests do not.
    digest = sha256(file.encode(errors="surrogateescape")).hexdigest()
    return f"{allowed}-{digest[:8]}"
