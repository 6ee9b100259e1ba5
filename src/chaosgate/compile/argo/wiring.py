"""What Argo fills in while a workflow runs: the run id, parameters, and the paths and origins of artifacts."""

from __future__ import annotations

import math
import re

from chaosgate.model.plan import Step

RUN = "{{workflow.name}}"
"""The run id: the name that Kubernetes makes of `generateName`, a DNS label of at most 63 characters."""
SPEC = "spec"
"""The artifact that carries the spec, from the workflow's arguments through the graph to every step that reads it."""
SPEC_SOURCE = "{{inputs.artifacts.spec}}"
STEP = "_step"
"""The parameter with a step's name, for the label of its pod. No argument of a component starts with a `_`."""
DEADLINE = "_deadline"
"""The parameter with a step's deadline, in whole seconds."""

TOLD = ("status", "record", "verdict", "recording", "cleanup")
"""Outputs that a workflow also tells as parameters, so that whoever submitted it needs no store to know the answer."""
RUN_LABEL = "chaosgate/run"
STEP_LABEL = "chaosgate/step"
ENTRYPOINT = "plan"
"""The template with the graph of tasks."""
WORK = "/work"
"""The folder of a step's files."""
WRITABLE = {"work": WORK, "tmp": "/tmp"}
"""Volume to folder: empty at a pod's start, and all that its container can write to."""
NO_TOKEN = "no-token"
"""An empty volume that stands in the place of the account's token."""
VOLUMES = (*WRITABLE, NO_TOKEN)
TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"
"""Where Kubernetes shows a container the token, unless something is mounted there. The pod cannot go without: Argo's
own container in it needs the token to report how the step ended."""

_INPUT_PATH = re.compile(r"\{\{inputs\.artifacts\.([-\w]+)\.path\}\}")
_OUTPUT_PATH = re.compile(r"\{\{outputs\.artifacts\.([-\w]+)\.path\}\}")
_PARAMETER = re.compile(r"\{\{inputs\.parameters\.([-\w]+)\}\}")
_TASK_OUTPUT = re.compile(r"\{\{tasks\.([-\w]+)\.outputs\.artifacts\.([-\w]+)\}\}")
PLACEHOLDER = re.compile(
    "|".join(
        (
            re.escape(RUN),
            re.escape(SPEC_SOURCE),
            *(one.pattern for one in (_INPUT_PATH, _OUTPUT_PATH, _PARAMETER, _TASK_OUTPUT)),
        )
    )
)
"""Everything that a compiled workflow lets Argo fill in."""


def deadline_of(step: Step) -> int:
    """The step's deadline in whole seconds, as Kubernetes counts them."""
    return math.ceil(step.deadline)


def parameter(name: str) -> str:
    """The value that a task gives for the parameter `name` of its template."""
    return f"{{{{inputs.parameters.{name}}}}}"


def input_path(slot: str) -> str:
    """Where the artifact of `slot` lies in the container."""
    return f"{{{{inputs.artifacts.{slot}.path}}}}"


def output_path(port: str) -> str:
    """Where the container leaves the artifact of `port`."""
    return f"{{{{outputs.artifacts.{port}.path}}}}"


def task_output(step: str, output: str) -> str:
    """The artifact that the task of `step` left."""
    return f"{{{{tasks.{step}.outputs.artifacts.{output}}}}}"


def read_parameter(text: str) -> str | None:
    """The parameter's name in a text that is nothing but its placeholder."""
    found = _PARAMETER.fullmatch(text)
    return found and found[1]


def read_input_path(text: str) -> str | None:
    """The slot whose path `text` ends with."""
    found = _INPUT_PATH.search(text)
    return found and found[1]


def read_output_path(text: str) -> str | None:
    """The port in a text that is nothing but its path."""
    found = _OUTPUT_PATH.fullmatch(text)
    return found and found[1]


def read_task_output(text: str) -> tuple[str, str] | None:
    """(step, output) in a text that is nothing but such a placeholder."""
    found = _TASK_OUTPUT.fullmatch(text)
    return (found[1], found[2]) if found else None
