"""Commands that need a spec and nothing else: init, validate, plan."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chaosgate.cli.options import FLAGS, SpecOptions, carrier_options, output_option, spec_options
from chaosgate.errors import SpecError, UsageError, one_line

if TYPE_CHECKING:
    from chaosgate.errors import Problem
    from chaosgate.model.plan import Plan, Step
    from chaosgate.model.profile import Profile
    from chaosgate.model.spec import ChaosSpec

DIGEST = len("sha256:") + 12
"""Characters by which a digest is shown to people."""
WIDTH = 170
"""Columns of a plan in a log."""
SPEC = click.Path(path_type=Path)
"""Whether it can be read is said by the one who reads it, in the same words for every spec."""


@click.command()
@click.option("--name", help="The spec's name, a DNS label.")
@click.option("--engine", type=click.Choice(["embedded", "endpoint"]), help="What serves the model.")
@click.option("--model", help="The model's name as the server lists it.")
@click.option("--endpoint", help="Base URL of the server, without /v1; with --engine endpoint.")
@click.option("--fault", help="The fault kind of the first sweep.")
@click.option(
    "-O",
    "--output",
    "file",
    type=click.Path(path_type=Path),
    help="The file to write.  [default: NAME.yaml; - is stdout]",
)
def init(**answers: Any) -> None:
    """Write a first spec; what no option gives is asked for."""
    from chaosgate.model.fault import FAULTS, ClusterFault
    from chaosgate.model.template import first_spec

    file = answers.pop("file")
    given = {key: answer if answer is not None else _ask(key, answers) for key, answer in answers.items()}
    missing = [key for key in ("model", "endpoint") if given["engine"] == "endpoint" and not given[key]]
    if missing:
        raise UsageError(f"--engine endpoint needs --{missing[0]}; a running server is named by --endpoint and --model")
    text = first_spec(given["name"], given["engine"], given["model"], given["endpoint"] or None, given["fault"])
    path = file or Path(f"{given['name']}.yaml")
    if str(path) == "-":
        click.echo(text, nl=False)
        return
    _write_new(path, text)
    program = click.get_current_context().find_root().info_name
    where = " --on argo" if issubclass(FAULTS.get(given["fault"]), ClusterFault) else ""
    click.echo(f"wrote {path}; next: {program} plan {path} && {program} run {path}{where}")


def _ask(key: str, answers: dict[str, Any]) -> Any:
    """The answer of a person; where none sits at the terminal, the default."""
    defaults: dict[str, str | None] = {
        "name": "first-drill",
        "engine": "endpoint" if answers["endpoint"] else "embedded",
        "model": None if "endpoint" in (answers["engine"], answers["endpoint"] and "endpoint") else "embedded/tiny",
        "endpoint": None,
        "fault": "wire.latency",
    }
    if key == "endpoint" and answers["engine"] != "endpoint":
        return None
    if sys.stdin is None or not sys.stdin.isatty():
        return defaults[key]
    answer: str = click.prompt(key, default=defaults[key])
    answers[key] = answer
    return answer


def _write_new(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path}: exists already; choose another file with --output FILE") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}; choose another with --output FILE") from error


@click.command()
@click.argument("files", nargs=-1, required=True, type=SPEC, metavar="FILE...")
@spec_options
@output_option
def validate(files: Sequence[Path], options: SpecOptions, output: str) -> None:
    """Check specs and profiles; every problem is named with its file, line and column."""
    reports = [_report(path, options) for path in files]
    if output == "json":
        click.echo(json.dumps(reports, indent=2))
    else:
        _print_reports(reports)
    if any(report["problems"] for report in reports):
        raise click.exceptions.Exit(SpecError.exit_code)


def _report(path: Path, options: SpecOptions) -> dict[str, Any]:
    from chaosgate.cli.loading import load_any
    from chaosgate.model.spec import ChaosSpec

    try:
        found = load_any(path, options)
    except SpecError as error:
        problems = [_problem(problem, error.file) for problem in error.problems]
        return {"file": str(path), "kind": None, "name": None, "specDigest": None, "problems": problems}
    about = _of_spec(found) if isinstance(found, ChaosSpec) else _of_profile(found)
    return {"file": str(path), **about, "problems": []}


def _problem(problem: Problem, file: str) -> dict[str, Any]:
    return {
        "file": problem.file or file,
        "line": problem.line,
        "column": problem.column,
        "text": problem.render(file),
    }


def _of_spec(spec: ChaosSpec) -> dict[str, Any]:
    return {
        "kind": spec.kind,
        "name": spec.metadata.name,
        "specDigest": spec.digest(),
        "labels": spec.metadata.labels,
        "engine": spec.spec.target.engine,
    }


def _of_profile(profile: Profile) -> dict[str, Any]:
    from chaosgate.model.source import PROFILE_KIND

    return {"kind": PROFILE_KIND, "name": profile.name, "specDigest": None}


def _print_reports(reports: Sequence[dict[str, Any]]) -> None:
    # What is wrong with a profile is part of every report; it is said once.
    for text in dict.fromkeys(problem["text"] for report in reports for problem in report["problems"]):
        click.echo(text, err=True)
    for report in reports:
        if not report["problems"]:
            what = report["specDigest"][:DIGEST] if report["specDigest"] else "profile"
            click.echo(f"{report['file']}: valid: {report['name']} {what}")


@click.command()
@click.argument("spec", type=SPEC)
@click.option(
    "--dry-run",
    "where",
    type=click.Choice(["server"]),
    help="Look at the cluster instead: what is missing there, and which pods would be hit. Changes nothing.",
)
@carrier_options
@spec_options
@output_option
def plan(spec: Path, where: str | None, given: dict[str, str], options: SpecOptions, output: str) -> None:
    """Show the steps and windows a spec becomes; nothing is started."""
    from chaosgate.cli.loading import load
    from chaosgate.planner import LOCAL, make_plan

    if where == "server":
        from chaosgate.cli.server_plan import plan_on_server

        plan_on_server(spec, options, given, output)
    for key in given:
        raise UsageError(f"{FLAGS[key]}: is about a cluster; give --dry-run=server with it, or leave it out")
    found = load(spec, options)
    planned = make_plan(found.spec, LOCAL, found.carrier.steps)
    json_wanted = output == "json"
    click.echo(json.dumps(plan_json(found.spec, planned), indent=2) if json_wanted else plan_text(found.spec, planned))


def plan_json(spec: ChaosSpec, planned: Plan) -> dict[str, Any]:
    """A plan for machines: its steps, and the windows of each block."""
    from chaosgate.model.blocks import make_blocks, planned_length

    blocks = [block.to_json() for block in make_blocks(spec)]
    overrides = [one.to_json() for one in spec.spec.safety.overrides]
    shown = {**planned.to_json(), "specDigest": planned.spec_digest, "blocks": blocks, "length": planned_length(spec)}
    return {**shown, "overrides": overrides}


def plan_text(spec: ChaosSpec, planned: Plan) -> str:
    """A plan for people: each step with what it waits for, then each block's windows in order."""
    from chaosgate.model.blocks import make_blocks, planned_length
    from chaosgate.units import format_value

    lines = [f"{planned.name}  {planned.spec_digest[:DIGEST]}  {planned_length(spec):.0f} s of load", "", "steps"]
    lines += _step_lines((*planned.steps, planned.finally_))
    for block in make_blocks(spec):
        lines += ["", f"{block.phase}: {len(block.windows)} windows, {block.recovery:.1f} s of recovery"]
        for window in block.windows:
            fault = spec.fault(window.fault)
            dose = format_value(window.dose, fault.axis().dimension) if window.dose else "control"
            rate = spec.spec.workload.mean_rate(block.length)
            requests = (
                "requests as the target allows" if rate is None else f"about {rate * fault.dose.hold:.0f} requests"
            )
            lines.append(f"  {window.index:>3}  {window.fault:<24} {dose:<10} {requests}")
    if spec.spec.safety.overrides:
        lines += ["", "rules of safety that do not hold"]
        lines += [f"  {one.rule:<20} {one.reason}" for one in spec.spec.safety.overrides]
    return "\n".join(lines)


def _step_lines(steps: Sequence[Step]) -> Iterator[str]:
    """A step each, with what it waits for and its arguments, digests by their first digits."""
    from chaosgate.cli.width import fold

    ids, components = max(18, *(len(step.id) for step in steps)), max(9, *(len(step.component) for step in steps))
    for step in steps:
        sources = ", ".join(dict.fromkeys(read.step for read in step.inputs)) or "-"
        values = {
            name: value[:DIGEST] if value.startswith("sha256:") else value for name, value in step.arguments.items()
        }
        arguments = " ".join(f"{name}={one_line(value)}" for name, value in values.items())
        head = f"  {step.id:<{ids}} {step.component:<{components}} after "
        yield from fold(f"{sources:<24} {arguments}".rstrip(), WIDTH, head)
