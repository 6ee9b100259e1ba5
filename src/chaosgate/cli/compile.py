"""The command `compile`: a spec as the YAML of a pipeline that a cluster runs."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chaosgate.cli.options import FLAGS, SpecOptions, carrier_options, spec_options
from chaosgate.cli.writing import write_file
from chaosgate.errors import UsageError

if TYPE_CHECKING:
    from chaosgate.model.carrier import Carrier
    from chaosgate.model.plan import Plan
    from chaosgate.model.spec import ChaosSpec


FILE = click.Path(path_type=Path)


@click.command("compile")
@click.argument("spec", type=FILE)
@click.option("--to", type=click.Choice(["argo", "kfp"]), required=True, help="What runs the pipeline.")
@click.option("-O", "--output", "file", type=FILE, help="The file to write.  [default: stdout]")
@click.option("--spec-out", type=FILE, help="Write the spec, too, as the file that a KFP run imports.")
@click.option("--once", is_flag=True, help="One run, though the spec has a schedule.")
@carrier_options
@spec_options
def compile_(
    spec: Path,
    to: str,
    options: SpecOptions,
    file: Path | None,
    spec_out: Path | None,
    once: bool,
    given: dict[str, str],
) -> None:
    """Print the pipeline a spec becomes; nothing is submitted.

    For Argo, a spec with a schedule becomes a CronWorkflow. Options win over the profile's carrier.
    """
    from chaosgate.artifacts import SPEC, document_text, spec_identity
    from chaosgate.cli.loading import load
    from chaosgate.planner import CLUSTER, make_plan

    found = load(spec, options)
    carrier = with_options(found.carrier, given)
    planned = make_plan(found.spec, CLUSTER, carrier.steps)
    scheduled = to == "argo" and found.spec.spec.schedule is not None and not once
    text = pipeline_text(to, planned, found.spec, carrier, scheduled=scheduled)
    if spec_out:
        write(spec_out, document_text(SPEC, spec_identity(found.spec), found.spec), "--spec-out")
    if file and str(file) != "-":
        write(file, text, "--output")
    else:
        click.echo(text, nl=False)
    if to == "kfp":
        say(how_the_spec_gets_there(spec_out))
        if found.spec.spec.schedule is not None and not once:
            say("a KFP package holds no schedule: create a recurring run with the spec's cron, or give --once")


def with_options(carrier: Carrier, given: dict[str, str]) -> Carrier:
    """`carrier` with the keys of `given` in place of its own; a UsageError names the option that is wrong."""
    from chaosgate.model.carrier import Carrier
    from chaosgate.model.validation import validate

    changed, problems = validate(Carrier, {**carrier.to_json(), **given})
    if changed is None:
        raise UsageError("\n".join(f"{FLAGS[str(one.path[0])]}: {one.message}" for one in problems))
    return changed


def pipeline_text(to: str, plan: Plan, spec: ChaosSpec, carrier: Carrier, *, scheduled: bool = False) -> str:
    """The YAML of the pipeline, or of what runs it as the spec's schedule says.

    A UsageError says what to install where the library that builds it is missing.
    """
    try:
        compiler: Callable[[Plan, ChaosSpec, Carrier], str]
        name = f"compile_{to}{'_cron' if scheduled else ''}"
        compiler = getattr(importlib.import_module(f"chaosgate.compile.{to}"), name)
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
    """Write the file that `option` names, and say so on stderr."""
    write_file(path, text, option)
    say(f"wrote {path}")


def say(text: str) -> None:
    """For a person; stdout holds the pipeline and nothing else."""
    click.echo(text, err=True)
