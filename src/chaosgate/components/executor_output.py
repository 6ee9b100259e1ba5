"""What Kubeflow Pipelines shows of a step beside its files: the numbers of a verdict, as its executor output.

KFP hands a container its executor input (`{{$}}`), whose `outputs.outputFile` says where it looks for the executor
output: JSON in the form of the message ExecutorOutput, whose metadata it adds to the step's artifacts. An artifact of
the type system.Metrics may hold numbers only. All of that stands in pipeline_spec.proto and launcher_v2.go of
https://github.com/kubeflow/pipelines; the launcher fills in `{{$}}`, but not `{{$.outputs.output_file}}`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chaosgate.artifacts import ESTIMATES, FIT, SPEC, VERDICT, Identity, read_document, read_if_there
from chaosgate.artifacts.files import write_whole
from chaosgate.components.definition import EXECUTOR_INPUT, Component, Context
from chaosgate.errors import ArtifactError, UsageError
from chaosgate.model.plan import CONCLUDE
from chaosgate.model.result import EXIT_CODES, Verdict
from chaosgate.strict_json import parse_json
from chaosgate.tracking.pages import run_points

FLAG = f"--{EXECUTOR_INPUT}"
"""The flag that takes the executor input as JSON; given by Kubeflow Pipelines alone."""
METRICS = "metrics"
"""The output artifact whose metadata are the numbers; no file belongs to it."""


def shows_numbers(component: Component) -> bool:
    """Whether it has numbers to show: conclude alone has."""
    return component.name == CONCLUDE


def write_executor_output(component: Component, context: Context) -> None:
    """Write the executor output of a component that has run, where KFP runs it and it has numbers to show.

    A UsageError for an executor input that is none. A file that cannot be written costs the numbers in the UI, which is
    said on standard error, and not the step: its own files are whole.
    """
    if context.executor_input is None or not shows_numbers(component):
        return
    path = output_file(context.executor_input)
    shown = {METRICS: {"artifacts": [{"metadata": numbers(context)}]}}
    try:
        write_whole(path, json.dumps({"artifacts": shown}, allow_nan=False).encode())
    except ArtifactError as error:
        print(f"{component.name}: Kubeflow Pipelines will show no numbers: {error}", file=sys.stderr)


def output_file(executor_input: str) -> Path:
    """Where the executor output is expected; its folder need not exist."""
    try:
        data: Any = parse_json(executor_input)
        return Path(data["outputs"]["outputFile"])
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{FLAG}: read {executor_input[:80]!r}; the executor input of Kubeflow Pipelines is needed, "
            "a JSON object with outputs.outputFile"
        ) from error


def numbers(context: Context) -> dict[str, float]:
    """The numbers of a verdict by the names they have in MLflow: estimates, thresholds, health, and the verdict itself.

    None at all where there is no verdict.
    """
    identity = Identity(context.run, None)
    verdict = read_if_there(context.outputs["verdict"], VERDICT, identity)
    if verdict is None:
        return {}
    spec = read_document(context.inputs["spec"], SPEC)
    estimates = read_if_there(context.outputs["estimates"], ESTIMATES, identity)
    fits = read_if_there(context.outputs["fit"], FIT, identity)
    return {point.key: point.value for point in run_points(spec, estimates, fits)} | dict(of_verdict(verdict))


def of_verdict(verdict: Verdict) -> Iterator[tuple[str, float]]:
    """The exit code, and how many reasons say each of `pass`, `warn`, `fail`, `inconclusive` and `error`."""
    yield "verdict/exit-code", float(verdict.exit_code)
    for name in EXIT_CODES:
        yield f"verdict/{name}_count", float(sum(reason.verdict == name for reason in verdict.reasons))
