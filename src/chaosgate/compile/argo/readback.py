"""From a workflow back to its plan: what Argo would run is what was planned."""

from __future__ import annotations

import yaml

from chaosgate.compile.argo.view import Data, View, artifacts, component_of, flags, parameters, workflow_in
from chaosgate.compile.argo.wiring import DEADLINE, read_input_path, read_output_path, read_parameter, read_task_output
from chaosgate.errors import UsageError
from chaosgate.model.plan import Plan, Step, StepInput


def read_argo(text: str) -> Plan:
    """The plan in the YAML of a compiled workflow, scheduled or not, from its templates, tasks, arguments and
    dependencies alone.

    A UsageError when it is no such workflow, or when a task waits for other steps than it reads from.
    """
    view = View(_parse(text))
    try:
        handler = view.template(view.spec["onExit"]) or {}
        return Plan(
            name=view.workflow["metadata"]["generateName"].removesuffix("-"),
            steps=tuple(_step(view, task) for task in view.tasks),
            finally_=_last_step(handler),
        )
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise _foreign(f"{type(error).__name__} {error}") from error


def _parse(text: str) -> Data:
    try:
        workflow = yaml.load(text, yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise _foreign(str(error)) from error
    if isinstance(workflow, dict) and workflow.get("kind") == "CronWorkflow":
        return workflow_in(workflow)
    if not isinstance(workflow, dict) or workflow.get("kind") != "Workflow":
        raise _foreign("it has no `kind: Workflow`")
    return workflow


def _foreign(why: str) -> UsageError:
    return UsageError(f"this is no workflow that `chaosgate compile --to argo` wrote: {why}; compile the spec again")


def _step(view: View, task: Data) -> Step:
    template = view.template(task["template"]) or {}
    inputs = tuple(_inputs(task, template))
    sources = list(dict.fromkeys(read.step for read in inputs))
    waits = task.get("dependencies", [])
    if waits != sources:
        raise UsageError(f"task {task['name']!r} waits for {waits} and reads from {sources}; compile the spec again")
    given = parameters(task)
    return Step(
        id=task["name"],
        component=component_of(template),
        arguments={name: _filled(value, given) for name, value in _arguments(template).items()},
        inputs=inputs,
        deadline=float(given[DEADLINE]),
    )


def _last_step(handler: Data) -> Step:
    return Step(
        id=handler["name"],
        component=component_of(handler),
        arguments=_arguments(handler),
        deadline=float(handler["activeDeadlineSeconds"]),
    )


def _arguments(template: Data) -> dict[str, str]:
    """What its command line says besides the run and the paths of artifacts."""
    return {
        flag: value
        for flag, value in flags(template)
        if flag != "run" and read_input_path(value) is None and read_output_path(value) is None
    }


def _filled(value: str, given: dict[str, str]) -> str:
    name = read_parameter(value)
    return value if name is None else given[name]


def _inputs(task: Data, template: Data) -> list[StepInput]:
    """What the task reads from others, at the port at which the command line hands it over."""
    ports = {read_input_path(value): flag for flag, value in flags(template)}
    found = {slot: read_task_output(source) for slot, source in artifacts(task).items()}
    return [StepInput(port=ports[slot], step=source[0], output=source[1]) for slot, source in found.items() if source]
