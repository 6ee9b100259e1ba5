"""A KFP package as plain data and as text: the pipeline spec, then the platform spec, as two YAML documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import yaml

from chaosgate.compile.yaml_text import yaml_text
from chaosgate.errors import UsageError, one_line

Data = Mapping[str, Any]
"""A protobuf message in its JSON form."""
ROOT = "root"
PLATFORM = "kubernetes"
ON_EXIT = "ALL_UPSTREAM_TASKS_COMPLETED"
"""The trigger policy of an exit task: it runs however the others ended."""
TASKS = "tasks"
"""The one mapping whose order says something: a plan's steps have an order, the tasks of KFP have none."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """PyYAML's loader, in C where it is built so."""


@dataclass(frozen=True)
class Task:
    """One task that runs a container or an importer. What is missing in the package is an empty mapping here."""

    name: str
    dag: str
    """The component it is a part of, ROOT for the pipeline itself."""
    spec: Data
    component: Data
    executor: Data
    settings: Data
    """What the platform spec says of its executor."""

    @property
    def is_importer(self) -> bool:
        """Whether it hands an artifact over that stands somewhere already."""
        return "importer" in self.executor

    @property
    def container(self) -> Data:
        """Image, command, arguments and resources."""
        return child(self.executor, "container")

    @property
    def words(self) -> Sequence[str]:
        """The whole command line."""
        return (*self.container.get("command", ()), *self.container.get("args", ()))

    @property
    def on_exit(self) -> bool:
        """Whether it runs however the tasks that it waits for ended."""
        return child(self.spec, "triggerPolicy").get("strategy") == ON_EXIT

    @property
    def waits_for(self) -> Sequence[str]:
        """The tasks that must have ended before it starts."""
        return tuple(self.spec.get("dependentTasks", ()))

    def inputs(self, kind: str) -> Data:
        """What is handed over, by name; `kind` is `parameters` or `artifacts`."""
        return child(self.spec, "inputs", kind)

    def constant(self, parameter: str) -> Any:
        """The value of a parameter that is known before the run, None for any other."""
        return child(self.inputs("parameters"), parameter, "runtimeValue").get("constant")

    def source(self, artifact: str) -> tuple[str, str]:
        """The task and the output that an artifact comes from; empty names where none is given."""
        origin = child(self.inputs("artifacts"), artifact, "taskOutputArtifact")
        return origin.get("producerTask", ""), origin.get("outputArtifactKey", "")


class Package:
    """A view of the two documents; nothing is refused here."""

    def __init__(self, documents: Sequence[Data]) -> None:
        self.pipeline, self.platform = documents

    @property
    def name(self) -> str:
        """The pipeline's name."""
        return str(child(self.pipeline, "pipelineInfo").get("name", ""))

    @cached_property
    def dags(self) -> dict[str, Data]:
        """The tasks of each graph, groups of tasks included, by the component that holds it."""
        holders = {ROOT: child(self.pipeline, ROOT), **child(self.pipeline, "components")}
        return {name: child(holder, "dag", TASKS) for name, holder in holders.items() if "dag" in holder}

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """Every task that runs something, in the order of the text."""
        return tuple(self._tasks())

    @property
    def containers(self) -> tuple[Task, ...]:
        """The tasks that run a container."""
        return tuple(task for task in self.tasks if not task.is_importer)

    def component(self, spec: Data) -> Data:
        """The component that a task's spec refers to."""
        return child(self.pipeline, "components", child(spec, "componentRef").get("name", ""))

    def _tasks(self) -> Iterator[Task]:
        for dag, specs in self.dags.items():
            for name, spec in specs.items():
                component = self.component(spec)
                if "dag" not in component:
                    yield self._task(name, dag, spec, component)

    def _task(self, name: str, dag: str, spec: Data, component: Data) -> Task:
        label = component.get("executorLabel", "")
        executor = child(self.pipeline, "deploymentSpec", "executors", label)
        settings = child(self.platform, "platforms", PLATFORM, "deploymentSpec", "executors", label)
        return Task(name, dag, spec, component, executor, settings)


def child(data: Data, *path: str) -> Data:
    """The mapping at `path` below `data`, an empty one where there is none."""
    for key in path:
        found = data.get(key)
        if not isinstance(found, Mapping):
            return {}
        data = found
    return data


def package_text(header: Sequence[str], documents: Sequence[Data]) -> str:
    """`header` as comments, then the documents; the same bytes for the same content."""
    return yaml_text(header, [in_order(document) for document in documents])


def in_order(data: Any) -> Any:
    """`data` with its keys sorted, but for tasks, which keep their order."""
    if isinstance(data, Mapping):
        return {
            key: {name: in_order(task) for name, task in data[key].items()} if key == TASKS else in_order(data[key])
            for key in sorted(data)
        }
    return [in_order(item) for item in data] if isinstance(data, list) else data


def read_documents(text: str) -> list[Data]:
    """The two documents of a package; a UsageError says what else was read."""
    try:
        documents = list(yaml.load_all(text, Loader=_Loader))
    except yaml.YAMLError as error:
        raise foreign(one_line(str(error))) from error
    if len(documents) != 2 or not all(isinstance(document, dict) for document in documents):
        raise foreign(f"it has {len(documents)} YAML documents, not the two of a pipeline and its platform")
    return documents


def foreign(why: str) -> UsageError:
    """The error for a text that no compiler of chaosgate wrote."""
    return UsageError(f"this is no package that `chaosgate compile --to kfp` wrote: {why}; compile the spec again")
