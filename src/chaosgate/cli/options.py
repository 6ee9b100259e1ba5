"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from chaosgate.errors import UsageError

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_STATE = ".chaosgate"


def output_option(command: Command) -> Command:
    """`-o text|json`."""
    choice = click.Choice(["text", "json"])
    return click.option("-o", "output", type=choice, default="text", show_default=True, help="Output format.")(command)


def state_option(command: Command) -> Command:
    """`--state DIR`."""
    return click.option(
        "--state",
        type=click.Path(path_type=Path, file_okay=False),
        default=lambda: Path(os.environ.get("CHAOSGATE_STATE", DEFAULT_STATE)),
        help=f"Folder for runs and records.  [default: $CHAOSGATE_STATE or {DEFAULT_STATE}]",
    )(command)


def set_option(command: Command) -> Command:
    """`--set NAME=VALUE`, any number of times."""
    return click.option(
        "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a parameter the spec declares."
    )(command)


def parse_settings(settings: Sequence[str]) -> dict[str, str]:
    """Name to value; a UsageError for a word without `=` or a name given twice."""
    found: dict[str, str] = {}
    for word in settings:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(f"--set {word}: write --set NAME=VALUE")
        if name in found:
            raise UsageError(f"--set {name}: given twice; give it once")
        found[name] = value
    return found
