"""The command `schedule`: have a cluster run a spec by itself, as the spec's schedule says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from chaosgate.cli.options import SpecOptions, carrier_options, output_option, spec_options
from chaosgate.errors import UsageError

if TYPE_CHECKING:
    from chaosgate.cluster.api import Cluster
    from chaosgate.model.carrier import Carrier
    from chaosgate.model.spec import ChaosSpec
    from chaosgate.submit.argo.schedules import Schedule


@click.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option(
    "--on", type=click.Choice(["argo"]), default="argo", show_default=True, expose_value=False, help="Who runs it."
)
@click.option("--suspend", "action", flag_value="suspend", help="Keep the schedule and start no run for now.")
@click.option("--resume", "action", flag_value="resume", help="Go on with a schedule that was suspended.")
@click.option("--remove", "action", flag_value="remove", help="Take the schedule away.")
@click.option("--show", "action", flag_value="show", help="Say how the schedule stands, and change nothing.")
@carrier_options
@spec_options
@output_option
def schedule(spec: Path, action: str | None, given: dict[str, str], options: SpecOptions, output: str) -> None:
    """Have a cluster run a spec by itself, or change the schedule it has.

    Without --suspend, --resume, --remove or --show the schedule is made, or brought to what the spec says now, its
    `suspend` included.
    """
    from chaosgate.cli.compile import with_options
    from chaosgate.cli.loading import load
    from chaosgate.cluster.api import open_cluster
    from chaosgate.deploy.cluster.bring_up import unsupported

    found = load(spec, options, unsupported)
    carrier = with_options(found.carrier, given)
    cluster = open_cluster(carrier.namespace)
    after = change(action, found.spec, carrier, cluster)
    if output == "json":
        from chaosgate.cli.runs import print_json

        print_json({"schedule": after.to_json() if after is not None else None})
    elif after is None:
        click.echo(f"removed the schedule {found.spec.metadata.name} from namespace {cluster.namespace}")
    else:
        click.echo("\n".join(lines(after)))


def change(action: str | None, spec: ChaosSpec, carrier: Carrier, cluster: Cluster) -> Schedule | None:
    """Do what was asked for; the schedule as it stands then, None once it is gone."""
    from chaosgate.submit.argo import schedules

    name = spec.metadata.name
    match action:
        case "suspend" | "resume":
            return schedules.suspend_schedule(cluster, name, action == "suspend")
        case "remove":
            schedules.remove_schedule(cluster, name)
            return None
        case "show":
            return schedules.read_schedule(cluster, name)
    return make(spec, carrier, cluster)


def make(spec: ChaosSpec, carrier: Carrier, cluster: Cluster) -> Schedule:
    """Make the spec's schedule, after a look whether its runs will find what they need."""
    from chaosgate.cli.compile import pipeline_text
    from chaosgate.planner import CLUSTER, make_plan
    from chaosgate.submit.argo.preflight import check_cluster
    from chaosgate.submit.argo.schedules import apply_schedule

    if spec.spec.schedule is None:
        raise UsageError(
            f"{spec.metadata.name}: has no schedule; write `schedule: {{cron: 0 3 * * *}}` into the spec, or run it "
            "once: chaosgate run SPEC --on argo"
        )
    planned = make_plan(spec, CLUSTER, carrier.steps)
    text = pipeline_text("argo", planned, spec, carrier, scheduled=True)
    check_cluster(cluster, carrier, "CronWorkflow")
    return apply_schedule(cluster, text)


def lines(found: Schedule) -> list[str]:
    """A schedule for people, and what comes next."""
    state = "suspended" if found.suspended else "on"
    last = f"last run at {found.last}" if found.last else "no run yet"
    where = f"--on argo --namespace {found.namespace}"
    return [
        f"schedule {found.name} in namespace {found.namespace}: {found.cron} (UTC), {state}, {last}",
        *(f"problem: {problem}" for problem in found.problems),
        f"its runs: chaosgate status {where}",
    ]
