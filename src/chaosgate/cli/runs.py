"""Commands of a run: run it, record it again, clean it up."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import click

from chaosgate.cli.completion import complete_runs
from chaosgate.cli.options import SpecOptions, output_option, spec_options, state_option
from chaosgate.errors import UsageError
from chaosgate.registry import nearest, unknown


@click.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option(
    "--on",
    type=click.Choice(["local"]),
    default="local",
    show_default=True,
    # Checked by the choice alone: there is one carrier.
    expose_value=False,
    help="Who runs it.",
)
@spec_options
@state_option
@output_option
def run(spec: Path, options: SpecOptions, state: Path, output: str) -> None:
    """Run a spec to its verdict; the exit code is the verdict's."""
    from chaosgate.cli.live import make_listener
    from chaosgate.cli.loading import load
    from chaosgate.cli.summary import outcome_json, print_outcome
    from chaosgate.deploy.local import unsupported
    from chaosgate.model.blocks import planned_length
    from chaosgate.planner import LOCAL, make_plan
    from chaosgate.run.local import new_run_id, run_locally

    found = load(spec, options, unsupported)
    planned = make_plan(found.spec, LOCAL, found.carrier.steps)
    run_id = new_run_id(found.spec)
    with make_listener(planned_length(found.spec), run_id, quiet=output == "json") as listener:
        outcome = run_locally(found.spec, planned, state, listener, run_id)
    if output == "json":
        _print_json(outcome_json(outcome))
    else:
        print_outcome(found.spec, outcome, state)
    raise click.exceptions.Exit(outcome.exit_code)


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
        _print_json({"run": run_id, "mlflowRun": mlflow_run})
    else:
        click.echo(f"recorded {run_id} as MLflow run {mlflow_run}")


@click.command()
@click.argument("run_id", metavar="RUN", shell_complete=complete_runs)
@state_option
@output_option
def cleanup(run_id: str, state: Path, output: str) -> None:
    """Revert and stop whatever a run left behind, and seal it."""
    from chaosgate.artifacts import SEAL
    from chaosgate.components import cleanup as component
    from chaosgate.components.definition import Context
    from chaosgate.components.places import step_file
    from chaosgate.model.plan import CLEANUP

    file = step_file(find_run(state, run_id), CLEANUP, SEAL.file)
    sealed = component.seal(Context(run_id, state.resolve(), {}, {}, {"cleanup": file}))
    if output == "json":
        _print_json(sealed.to_json())
    raise click.exceptions.Exit(sealed.exit_code)


def _print_json(data: Any) -> None:
    # Whoever reads this may have left; the exit code stands.
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
