"""Commands of a run: run it, record it again, clean it up."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from chaosgate.cli.completion import complete_runs
from chaosgate.cli.options import (
    FLAGS,
    SpecOptions,
    carrier_options,
    output_option,
    place_options,
    spec_options,
    state_option,
)
from chaosgate.errors import UsageError
from chaosgate.registry import nearest, unknown

if TYPE_CHECKING:
    from chaosgate.model.spec import ChaosSpec
    from chaosgate.run.outcome import Outcome


@click.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option(
    "--on",
    type=click.Choice(["local", "argo"]),
    default="local",
    show_default=True,
    help="Who runs it: this machine, or a cluster's Argo Workflows.",
)
@click.option("--detach", is_flag=True, help="With --on argo: submit it and return; `attach` follows it later.")
@carrier_options
@spec_options
@state_option
@output_option
def run(
    spec: Path, on: str, detach: bool, given: dict[str, str], options: SpecOptions, state: Path, output: str
) -> None:
    """Run a spec to its verdict; the exit code is the verdict's.

    On a cluster, Ctrl-C ends the run and waits for its cleanup; a second one leaves it to the cluster.
    """
    if on == "argo":
        from chaosgate.cli.argo_commands import run_on_argo

        run_on_argo(spec, options, given, state, output, detach=detach)
        return
    for option in (*(FLAGS[key] for key in given), *(["--detach"] if detach else [])):
        raise UsageError(f"{option}: says how a cluster runs the spec; give --on argo with it, or leave it out")
    run_here(spec, options, state, output)


def run_here(spec: Path, options: SpecOptions, state: Path, output: str) -> None:
    """Run a spec as processes of this machine."""
    from chaosgate.cli.live import make_listener
    from chaosgate.cli.loading import load
    from chaosgate.deploy.local import unsupported
    from chaosgate.model.blocks import planned_length
    from chaosgate.planner import LOCAL, make_plan
    from chaosgate.run.local import new_run_id, run_locally

    found = load(spec, options, unsupported)
    planned = make_plan(found.spec, LOCAL, found.carrier.steps)
    run_id = new_run_id(found.spec)
    with make_listener(planned_length(found.spec), run_id, quiet=output == "json") as listener:
        outcome = run_locally(found.spec, planned, state, listener, run_id)
    finish(found.spec, outcome, state, output)


def finish(spec: ChaosSpec, outcome: Outcome, state: Path, output: str) -> NoReturn:
    """Say how a run ended, and end with its exit code."""
    from chaosgate.cli.summary import outcome_json, print_outcome

    if output == "json":
        print_json(outcome_json(outcome))
    else:
        print_outcome(spec, outcome, state)
    raise click.exceptions.Exit(outcome.exit_code)


@click.command()
@click.argument("run_id", metavar="RUN", shell_complete=complete_runs)
@place_options
@state_option
@output_option
def attach(run_id: str, on: str | None, namespace: str | None, state: Path, output: str) -> None:
    """Follow a run on a cluster to its end, and bring its files here; the exit code is the run's.

    Works for a run that is over, too: then it brings what is missing here.
    """
    from chaosgate.cli.argo_commands import attach_to

    attach_to(run_id, on, namespace, state, output)


@click.command()
@click.argument("run_id", metavar="RUN", shell_complete=complete_runs)
@state_option
@output_option
def record(run_id: str, state: Path, output: str) -> None:
    """Record a run in MLflow from its files; may be repeated."""
    from chaosgate.components.recording import record_again

    folder = find_run(state, run_id)
    mlflow_run = record_again(run_id, state.resolve(), folder)
    if output == "json":
        print_json({"run": run_id, "mlflowRun": mlflow_run})
    else:
        click.echo(f"recorded {run_id} as MLflow run {mlflow_run}")


@click.command()
@click.argument("run_id", metavar="RUN", shell_complete=complete_runs)
@place_options
@state_option
@output_option
def cleanup(run_id: str, on: str | None, namespace: str | None, state: Path, output: str) -> None:
    """Revert and stop whatever a run left behind, and seal it.

    A run on a cluster is ended first where it still goes on, then cleaned up from here through the API server.
    """
    from chaosgate.artifacts import SEAL
    from chaosgate.cli.there import find_there
    from chaosgate.components import cleanup as component
    from chaosgate.components.definition import Context
    from chaosgate.components.places import step_file
    from chaosgate.model.plan import CLEANUP

    there = find_there(state, run_id, on, namespace)
    if there is not None:
        from chaosgate.cli.argo_commands import clean_there

        sealed = clean_there(there)
    else:
        file = step_file(find_run(state, run_id), CLEANUP, SEAL.file)
        sealed = component.seal(Context(run_id, state.resolve(), {}, {}, {"cleanup": file}))
    if output == "json":
        print_json(sealed.to_json())
    raise click.exceptions.Exit(sealed.exit_code)


def print_json(data: Any) -> None:
    """Data for machines. Whoever reads it may have left; the exit code stands."""
    with contextlib.suppress(BrokenPipeError):
        click.echo(json.dumps(data, indent=2))


def find_run(state: Path, run_id: str) -> Path:
    """The folder of a run; a UsageError names the nearest known one, also for a name that is a path."""
    from chaosgate.components.places import known_runs, run_dir

    known = known_runs(state)
    if run_id not in known:
        near = nearest(run_id, known)
        raise UsageError(f"{state}: {unknown('run', run_id, [near] if near else known[-10:])}")
    return run_dir(state.resolve(), run_id)
