"""Options that several commands share."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import click

from chaosgate.errors import UsageError

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_STATE = ".chaosgate"
FLAGS = {"image": "--image", "serviceAccount": "--service-account", "namespace": "--namespace"}
"""The option that stands for a key of a profile's carrier."""


def output_option(command: Command) -> Command:
    """`-o text|json`."""
    choice = click.Choice(["text", "json"])
    return click.option(
        "-o", "--format", "output", type=choice, default="text", show_default=True, help="Output format."
    )(command)


def default_state() -> Path:
    """The state directory where no `--state` names one."""
    return Path(os.environ.get("CHAOSGATE_STATE", DEFAULT_STATE))


def state_option(command: Command) -> Command:
    """`--state DIR`."""
    return click.option(
        "--state",
        type=click.Path(path_type=Path, file_okay=False),
        default=default_state,
        help=f"Folder for runs and records.  [default: $CHAOSGATE_STATE or {DEFAULT_STATE}]",
    )(command)


@dataclass(frozen=True)
class SpecOptions:
    """What changes a spec from outside: a parameter has its default, else what the last of `values` that names it
    says, else its setting."""

    settings: Mapping[str, str] = field(default_factory=dict)
    values: tuple[Path, ...] = ()
    profile: Path | None = None


def spec_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--set`, `--values` and `--profile`; the command gets them as one SpecOptions, `options`."""

    @functools.wraps(command)
    def called(*, settings: Sequence[str], values: tuple[Path, ...], profile: Path | None, **more: Any) -> Any:
        return command(options=SpecOptions(parse_settings(settings), values, profile), **more)

    file = click.Path(path_type=Path)
    for option in (
        click.option("--profile", type=file, metavar="FILE", help="What differs in one environment."),
        click.option(
            "--values", multiple=True, type=file, metavar="FILE", help="Parameters from a file; the last one wins."
        ),
        click.option(
            "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a parameter the spec declares."
        ),
    ):
        called = option(called)
    return called


def carrier_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--image`, `--service-account` and `--namespace`; the command gets those given by the carrier's keys, `given`."""

    @functools.wraps(command)
    def called(*, image: str | None, service_account: str | None, namespace: str | None, **more: Any) -> Any:
        options = {"image": image, "serviceAccount": service_account, "namespace": namespace}
        return command(given={key: value for key, value in options.items() if value is not None}, **more)

    for option in (
        namespace_option,
        click.option("--service-account", metavar="NAME", help="Account of every step on a cluster."),
        click.option("--image", metavar="IMAGE", help="Image of every step on a cluster, with its tag or digest."),
    ):
        called = option(called)
    return called


def namespace_option(command: Command) -> Command:
    """`--namespace NS`."""
    return click.option("--namespace", metavar="NS", help="Namespace on a cluster.")(command)


def place_options(command: Command) -> Command:
    """`--on` and `--namespace` of a command on a run: needed only where no folder here says where the run is."""
    on = click.option(
        "--on",
        type=click.Choice(["argo"]),
        help="Look for the run on a cluster; a run that was started from here is known without it.",
    )
    return namespace_option(on(command))


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
