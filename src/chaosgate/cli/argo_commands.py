"""What the commands `run --on argo`, `attach` and `cleanup` do with a run on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import click

from chaosgate.cli import argo_end
from chaosgate.cli.argo_run import follow, start
from chaosgate.cli.compile import pipeline_text, with_options
from chaosgate.cli.live import Lines, Quiet, make_listener
from chaosgate.cli.loading import load
from chaosgate.cli.options import SpecOptions
from chaosgate.cli.runs import finish, print_json
from chaosgate.cli.there import There, look_there
from chaosgate.cluster.api import open_cluster
from chaosgate.deploy.cluster.bring_up import unsupported
from chaosgate.errors import UsageError
from chaosgate.model.blocks import planned_length
from chaosgate.model.result import Cleanup
from chaosgate.model.spec import ChaosSpec
from chaosgate.planner import CLUSTER, make_plan
from chaosgate.run.local import new_run_id
from chaosgate.submit.argo.preflight import why_unrecorded
from chaosgate.submit.argo.requests import must_find


def run_on_argo(
    spec: Path, options: SpecOptions, given: dict[str, str], state: Path, output: str, *, detach: bool
) -> None:
    """Compile and submit the spec; follow it to its outcome, or with `detach` say how that is done later."""
    found = load(spec, options, unsupported)
    carrier = with_options(found.carrier, given)
    text = pipeline_text("argo", make_plan(found.spec, CLUSTER, carrier.steps), found.spec, carrier)
    there = There(open_cluster(carrier.namespace), new_run_id(found.spec), state)
    start(there, found.spec, carrier, text)
    unrecorded = why_unrecorded(found.spec, carrier)
    if unrecorded is not None:
        _to_stderr(f"note: the run will stand in no MLflow: {unrecorded}")
    if detach:
        _say_submitted(there, output)
    else:
        _follow(there, found.spec, output)


def attach_to(run: str, on: str | None, namespace: str | None, state: Path, output: str) -> NoReturn:
    """Follow a run that is on a cluster already; a UsageError for one of this machine."""
    there = look_there(state, run, on, namespace)
    if there is None:
        raise UsageError(
            f"{run}: no folder in {state} says on which cluster it is; give --on argo --namespace NS "
            "(a run of this machine is followed with: chaosgate logs RUN --follow)"
        )
    workflow = must_find(there.cluster, run)
    _follow(there, there.open(workflow.spec_text), output)


def clean_there(there: There) -> Cleanup:
    """Clean up after the run, and say on standard error what is done, as for a run of this machine."""
    seal = argo_end.clean(there, _to_stderr)
    for line in (*seal.actions, *(f"left behind: {thing}" for thing in seal.left)):
        _to_stderr(f"cleanup: {line}")
    return seal


def _follow(there: There, spec: ChaosSpec, output: str) -> NoReturn:
    with make_listener(planned_length(spec), there.run, quiet=output == "json") as listener:
        outcome = follow(there, spec, listener, _say_with(listener))
    finish(spec, outcome, there.state, output)


def _say_with(listener: Quiet | Lines) -> Callable[[str], None]:
    """Between the lines of the run's progress, or where these are not shown, on standard error."""
    return listener.say if isinstance(listener, Lines) else _to_stderr


def _say_submitted(there: There, output: str) -> None:
    if output == "json":
        print_json({"run": there.run, "folder": str(there.folder), "cluster": there.place.to_json()})
        return
    click.echo(f"run {there.run}: submitted to {there.place.sentence()}")
    for what in ("status", "attach", "abort"):
        click.echo(f"next: chaosgate {what} {there.run}")


def _to_stderr(text: str) -> None:
    click.echo(text, err=True)
