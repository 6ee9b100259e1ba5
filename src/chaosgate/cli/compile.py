"""The command `compile`: a spec as the YAML of a pipeline that a cluster runs."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chaosgate.cli.options import SpecOptions, spec_options
from chaosgate.errors import UsageError

if TYPE_CHECKING:
    from chaosgate.model.carrier import Carrier
    from chaosgate.model.plan import Plan
    from chaosgate.model.spec import ChaosSpec


FILE = click.Path(path_type=Path)
FLAGS = {"image": "--image", "serviceAccount": "--service-account", "namespace": "--namespace"}
"""The option that stands for a key of a profile's carrier."""


@click.command("compile")
@click.argument("spec", type=FILE)
@click.option("--to", type=click.Choice(["argo", "kfp"]), required=True, help="What runs the pipeline.")
@click.option("-O", "--output", "file", type=FILE, help="The file to write.  [default: stdout]")
@click.option("--spec-out", type=FILE, help="Write the spec, too, as the file that a KFP run imports.")
@click.option("--image", help="Image of every step, with its tag or digest.")
@click.option("--service-account", help="Account of every step.")
@click.option("--namespace", help="Namespace of the pipeline.")
@spec_options
def compile_(
    spec: Path,
    to: str,
    options: SpecOptions,
    file: Path | None,
    spec_out: Path | None,
    image: str | None,
    service_account: str | None,
    namespace: str | None,
) -> None:
    """Print the pipeline a spec becomes; nothing is submitted.

    Options win over the profile's carrier.
    """
    from chaosgate.artifacts import SPEC, document_text, spec_identity
    from chaosgate.cli.loading import load
    from chaosgate.planner import CLUSTER, make_plan

    found = load(spec, options)
    given = {"image": image, "serviceAccount": service_account, "namespace": namespace}
    carrier = with_options(found.carrier, {key: value for key, value in given.items() if value is not None})
    text = pipeline_text(to, make_plan(found.spec, CLUSTER, carrier.steps), found.spec, carrier)
    if spec_out:
        write(spec_out, document_text(SPEC, spec_identity(found.spec), found.spec), "--spec-out")
    if file and str(file) != "-":
        write(file, text, "--output")
    else:
        click.echo(text, nl=False)
    if to == "kfp":
        say(how_the_spec_gets_there(spec_out))


def with_options(carrier: Carrier, given: dict[str, str]) -> Carrier:
    """`carrier` with the keys of `given` in place of its own; a UsageError names the option that is wrong."""
    from chaosgate.model.carrier import Carrier
    from chaosgate.model.validation import validate

    changed, problems = validate(Carrier, {**carrier.to_json(), **given})
    if changed is None:
        raise UsageError("\n".join(f"{FLAGS[str(one.path[0])]}: {one.message}" for one in problems))
    return changed


def pipeline_text(to: str, plan: Plan, spec: ChaosSpec, carrier: Carrier) -> str:
    """The YAML of the pipeline; a UsageError says what to install where the library that builds it is missing."""
    try:
        compiler: Callable[[Plan, ChaosSpec, Carrier], str]
        compiler = getattr(importlib.import_module(f"chaosgate.compile.{to}"), f"compile_{to}")
        return compiler(plan, spec, carrier)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("", "chaosgate"):
            raise
        raise UsageError(
            f"--to {to} needs {missing}, which is not installed; install it: pip install 'chaosgate[{to}]'"
        ) from error


def how_the_spec_gets_there(spec_out: Path | None) -> str:
    """What a person does so that a KFP run finds the spec, which is no part of its package."""
    first = f"upload {spec_out}" if spec_out else "write it with --spec-out FILE, upload it"
    return (
        f"a KFP run imports the spec's file: {first} to the cluster's object store, "
        "and create the run with its address as spec_uri"
    )


def write(path: Path, text: str, option: str) -> None:
    """Write `text` so that `path` holds all of it or what it held before, and say so on stderr."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        # Created as the user's umask says, unlike the private files of a run.
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise UsageError(f"{path}: cannot be written: {error.strerror}; choose another with {option} FILE") from error
    say(f"wrote {path}")


def say(text: str) -> None:
    """For a person; stdout holds the pipeline and nothing else."""
    click.echo(text, err=True)
