"""A workflow as data, with names for the places that reading back and the guards look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Data = dict[str, Any]


@dataclass(frozen=True)
class View:
    """Looks into a workflow. What is missing reads as empty: the guards say what is owed."""

    workflow: Data

    @cached_property
    def spec(self) -> Data:
        """The `spec:` of the workflow."""
        found: Data = self.workflow.get("spec", {})
        return found

    @cached_property
    def templates(self) -> list[Data]:
        """All templates."""
        found: list[Data] = self.spec.get("templates", [])
        return found

    @cached_property
    def containers(self) -> list[Data]:
        """The templates that run as a pod: all but graphs."""
        return [template for template in self.templates if "dag" not in template]

    @cached_property
    def tasks(self) -> list[Data]:
        """The tasks of the entrypoint."""
        graph = self.template(self.spec.get("entrypoint")) or {}
        found: list[Data] = graph.get("dag", {}).get("tasks", [])
        return found

    @cached_property
    def raw_artifacts(self) -> list[Data]:
        """The artifacts that the workflow brings along."""
        found: list[Data] = self.spec.get("arguments", {}).get("artifacts", [])
        return found

    @cached_property
    def texts(self) -> list[tuple[str, str]]:
        """(path, text) of every text in the workflow, keys left out."""
        return list(_texts(self.workflow, ""))

    def template(self, name: str | None) -> Data | None:
        """The template called `name`."""
        return next((template for template in self.templates if template["name"] == name), None)

    def task(self, name: str) -> Data | None:
        """The task called `name`."""
        return next((task for task in self.tasks if task["name"] == name), None)

    def tasks_of(self, template: Data) -> list[Data]:
        """The tasks that run `template`."""
        return [task for task in self.tasks if task.get("template") == template["name"]]


def workflow_in(cron: Data) -> Data:
    """The workflow that a CronWorkflow makes each time, as one that is submitted by hand would be written."""
    own, made = cron.get("metadata", {}), cron.get("spec", {})
    return {
        "kind": "Workflow",
        "metadata": {"generateName": f"{own.get('name')}-", **made.get("workflowMetadata", {})},
        "spec": made.get("workflowSpec", {}),
    }


def parameters(task: Data) -> dict[str, str]:
    """What a task gives: parameter to value."""
    return {one["name"]: one.get("value", "") for one in task.get("arguments", {}).get("parameters", [])}


def artifacts(task: Data) -> dict[str, str]:
    """What a task reads: slot to where it comes from."""
    return {one["name"]: one.get("from", "") for one in task.get("arguments", {}).get("artifacts", [])}


def names(template: Data, side: str, kind: str) -> list[str]:
    """The names of a template's `inputs` or `outputs` that are `parameters` or `artifacts`."""
    return [one["name"] for one in template.get(side, {}).get(kind, [])]


def container(template: Data) -> Data:
    """The container of a template."""
    found: Data = template.get("container", {})
    return found


def command_line(template: Data) -> list[str]:
    """The arguments of its command."""
    found: list[str] = container(template).get("args", [])
    return found


def component_of(template: Data) -> str:
    """The component that its command line names, empty where there is none."""
    return next(iter(command_line(template)[2:3]), "")


def flags(template: Data) -> list[tuple[str, str]]:
    """(flag without dashes, value) each, after `-m chaosgate.components NAME`."""
    words = command_line(template)[3:]
    return [(flag.removeprefix("--"), value) for flag, value in zip(words[::2], words[1::2], strict=False)]


def _texts(data: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(data, str):
        yield path, data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from _texts(value, f"{path}.{key}" if path else key)
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _texts(value, f"{path}[{index}]")
