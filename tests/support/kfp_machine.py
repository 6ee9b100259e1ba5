"""Test scaffolding, no part of the product: runs a KFP package on this machine with the semantics of KFP's backend.

They are those of backend/src/v2 in https://github.com/kubeflow/pipelines: constants (driver/resolver/parameters.go),
names of artifacts (driver/driver.go), placeholders, downloads, uploads and the executor output
(component/launcher_v2.go), importers (component/importer_launcher.go), exit tasks and failures
(compiler/argocompiler/dag.go, with the failFast of Argo). A container is a process: its image is this Python, its pod a
folder, the object store another folder.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from google.protobuf.json_format import MessageToDict, MessageToJson, ParseDict
from kfp.kubernetes.kubernetes_executor_config_pb2 import KubernetesExecutorConfig
from kfp.pipeline_spec.pipeline_spec_pb2 import (
    ExecutorInput,
    ExecutorOutput,
    ParameterType,
    PipelineDeploymentConfig,
    PipelineSpec,
    PipelineTaskSpec,
    PlatformSpec,
    RuntimeArtifact,
)

from chaosgate.strict_json import parse_json

STORE = "minio://"
ROOT = STORE + "mlpipeline/v2/artifacts"
OUTPUT_FILE = "tmp/kfp_outputs/output_metadata.json"
"""Below the pod's root. Its folder is not made for the container."""
ON_EXIT = PipelineTaskSpec.TriggerPolicy.ALL_UPSTREAM_TASKS_COMPLETED
METRICS = "system.Metrics"
SUCCEEDED, FAILED, OMITTED = "Succeeded", "Failed", "Omitted"
GRACE = 5.0
"""Seconds between SIGTERM and SIGKILL, 30 in Kubernetes."""
POLL = 0.02


class TaskError(Exception):
    """What makes a task fail besides its container."""


@dataclass
class Pod:
    """One container while it runs."""

    task: str
    folder: Path
    child: subprocess.Popen[bytes]
    executor_input: Any
    started: float
    deadline: float


@dataclass
class Result:
    """What a run left: the state of each task, its exit code, when it ran, and its artifacts by task and name."""

    store: Path
    states: dict[str, str] = field(default_factory=dict)
    exit_codes: dict[str, int] = field(default_factory=dict)
    spans: dict[str, tuple[float, float]] = field(default_factory=dict)
    artifacts: dict[str, dict[str, Any]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    @property
    def succeeded(self) -> bool:
        """Whether the run is shown as succeeded."""
        return all(state == SUCCEEDED for state in self.states.values())

    def file(self, task: str, output: str) -> Path:
        """An artifact in the object store."""
        return path_of(self.store, self.artifacts[task][output].uri)

    def metadata(self, task: str, output: str) -> dict[str, Any]:
        """What the UI shows of an artifact."""
        found: dict[str, Any] = MessageToDict(self.artifacts[task][output].metadata)
        return found


def path_of(root: Path, uri: str) -> Path:
    """Where `uri` stands below `root`, in a pod as in the store."""
    if not uri.startswith(STORE):
        raise TaskError(f"{uri}: unsupported storage scheme")
    return root / "minio" / uri.removeprefix(STORE)


class KfpMachine:
    """Runs one package once. `instead` replaces the words after the interpreter in a task, to let it fail."""

    def __init__(
        self,
        text: str,
        folder: Path,
        env: Mapping[str, str],
        secrets: Mapping[str, Mapping[str, str]] | None = None,
        instead: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        documents = list(yaml.safe_load_all(text))
        self.spec = ParseDict(documents[0], PipelineSpec())
        self.executors = ParseDict(documents[0]["deploymentSpec"], PipelineDeploymentConfig()).executors
        platform = ParseDict(documents[1] if len(documents) > 1 else {}, PlatformSpec())
        self.settings = {
            label: ParseDict(MessageToDict(settings), KubernetesExecutorConfig())
            for label, settings in platform.platforms["kubernetes"].deployment_spec.executors.items()
        }
        self.folder, self.env = folder, env
        self.secrets, self.instead = secrets or {}, instead or {}
        self.run_id = str(uuid.uuid4())
        self.result = Result(folder / "store")
        self.running: list[Pod] = []

    def run(self, parameters: Mapping[str, str]) -> Result:
        """Run it to its end. A TaskError when a parameter of the pipeline is missing; nothing is left running."""
        missing = self.spec.root.input_definitions.parameters.keys() - parameters.keys()
        if missing:
            raise TaskError(f"neither value nor default value provided for {', '.join(sorted(missing))}")
        try:
            self.dag(self.spec.root, parameters)
        finally:
            for pod in self.running:
                pod.child.kill()
                pod.child.wait()
        return self.result

    def dag(self, holder: Any, parameters: Mapping[str, Any]) -> str:
        """Run the tasks of a graph, then its exit tasks; the state of the graph."""
        tasks = dict(holder.dag.tasks)
        exits = [name for name, task in tasks.items() if task.trigger_policy.strategy == ON_EXIT]
        waiting = [name for name in tasks if name not in exits]
        states: dict[str, str] = {}
        while waiting or self.running:
            for name in ready(tasks, waiting, states):
                waiting.remove(name)
                states |= self.start(name, tasks[name], parameters)
            states |= self.look()
            if FAILED in states.values() or OMITTED in states.values():
                # failFast: what has not been started is not started any more, and what runs may end.
                states |= dict.fromkeys(waiting, OMITTED)
                waiting = []
            time.sleep(POLL)
        for name in exits:
            states |= self.start(name, tasks[name], parameters)
            while self.running:
                states |= self.look()
                time.sleep(POLL)
        self.result.states |= states
        return SUCCEEDED if set(states.values()) <= {SUCCEEDED} else FAILED

    def start(self, name: str, task: Any, parameters: Mapping[str, Any]) -> dict[str, str]:
        """Start a task; its state where that is known at once."""
        component = self.spec.components[task.component_ref.name]
        try:
            handed = dict(self.parameters(name, task, component, parameters))
            if component.WhichOneof("implementation") == "dag":
                return {name: self.dag(component, handed)}
            executor = self.executors[component.executor_label]
            if executor.WhichOneof("spec") == "importer":
                return {name: self.imported(name, executor.importer, component, handed)}
            self.running.append(self.pod(name, task, component, executor.container, handed))
        except TaskError as error:
            return {name: self.failed(name, str(error))}
        return {}

    def failed(self, name: str, reason: str) -> str:
        """Note why a task failed."""
        self.result.reasons[name] = reason
        return FAILED

    def parameters(self, name: str, task: Any, component: Any, given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """The parameters of a task. A constant is a placeholder only as a whole, never as a part of a text."""
        constants = {"{{$.pipeline_job_uuid}}": self.run_id, "{{$.pipeline_task_name}}": name}
        for key, declared in component.input_definitions.parameters.items():
            if key not in task.inputs.parameters:
                raise TaskError(f"neither value nor default value provided for non-optional parameter {key!r}")
            source = task.inputs.parameters[key]
            if source.WhichOneof("kind") == "component_input_parameter":
                yield key, given[source.component_input_parameter]
                continue
            constant = source.runtime_value.constant
            if constant.WhichOneof("kind") != "string_value" or declared.parameter_type != ParameterType.STRING:
                raise TaskError(f"parameter {key!r} is no text")
            yield key, constants.get(constant.string_value, constant.string_value)

    def imported(self, name: str, importer: Any, component: Any, handed: Mapping[str, Any]) -> str:
        """Hand an artifact over; nobody looks whether it is there."""
        uri = handed[importer.artifact_uri.runtime_parameter]
        if not uri:
            raise TaskError("empty artifact URI runtime value")
        (output,) = component.output_definitions.artifacts
        self.result.artifacts[name] = {output: RuntimeArtifact(name=output, type=importer.type_schema, uri=uri)}
        return SUCCEEDED

    def pod(self, name: str, task: Any, component: Any, container: Any, handed: Mapping[str, Any]) -> Pod:
        """Start the container of a task in a folder of its own, once its inputs are downloaded."""
        folder = self.folder / "pods" / name
        folder.mkdir(parents=True)
        executor_input = self.executor_input(name, task, component, handed, folder)
        for artifact in listed(executor_input.inputs.artifacts):
            source, target = path_of(self.result.store, artifact.uri), path_of(folder, artifact.uri)
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_file():
                shutil.copyfile(source, target)
        for artifact in listed(executor_input.outputs.artifacts):
            path_of(folder, artifact.uri).parent.mkdir(parents=True, exist_ok=True)
        settings = self.settings.get(component.executor_label, KubernetesExecutorConfig())
        words = list(filled([*container.command, *container.args], executor_input, folder))
        if words[0] != "python":
            raise TaskError(f"no such program: {words[0]}")
        with (folder / "log").open("wb") as log:
            child = subprocess.Popen(
                [sys.executable, *self.instead.get(name, words[1:])],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**self.env, **self.variables(settings)},
            )
        return Pod(name, folder, child, executor_input, time.monotonic(), settings.active_deadline_seconds or 1e9)

    def variables(self, settings: Any) -> dict[str, str]:
        """The variables that come from Secrets; without one that is not optional a container is not started."""
        found: dict[str, str] = {}
        for secret in settings.secret_as_env:
            held = self.secrets.get(secret.secret_name, {})
            for pair in secret.key_to_env:
                if pair.secret_key in held:
                    found[pair.env_var] = held[pair.secret_key]
                elif not secret.optional:
                    raise TaskError(
                        f"CreateContainerConfigError: no Secret or key {secret.secret_name}/{pair.secret_key}"
                    )
        return found

    def executor_input(self, name: str, task: Any, component: Any, handed: Mapping[str, Any], folder: Path) -> Any:
        """What the launcher is told: parameters, input artifacts, and where each output goes."""
        told = ExecutorInput()
        told.outputs.output_file = str(folder / OUTPUT_FILE)
        for key, value in handed.items():
            told.inputs.parameter_values[key].string_value = value
        for key, source in task.inputs.artifacts.items():
            origin = source.task_output_artifact
            found = self.result.artifacts[origin.producer_task][origin.output_artifact_key]
            told.inputs.artifacts[key].artifacts.append(found)
        place = f"{ROOT}/{self.spec.pipeline_info.name}/{self.run_id}/{name}/{uuid.uuid4()}"
        for key, declared in component.output_definitions.artifacts.items():
            made = RuntimeArtifact(name=key, type=declared.artifact_type, uri=f"{place}/{key}")
            told.outputs.artifacts[key].artifacts.append(made)
        return told

    def look(self) -> dict[str, str]:
        """End what is past its deadline, and publish what has ended; the states of the latter."""
        ended: dict[str, str] = {}
        for pod in list(self.running):
            late = time.monotonic() - pod.started > pod.deadline
            if late:
                end(pod.child)
            code = pod.child.poll()
            if code is None:
                continue
            self.running.remove(pod)
            self.result.exit_codes[pod.task] = code
            self.result.spans[pod.task] = (pod.started, time.monotonic())
            ended[pod.task] = self.published(pod, "DeadlineExceeded" if late else f"exit status {code}" if code else "")
        return ended

    def published(self, pod: Pod, reason: str) -> str:
        """Upload the outputs of a container that succeeded, and add what its executor output says of them."""
        if reason:
            return self.failed(pod.task, reason)
        try:
            output = executor_output(pod.folder / OUTPUT_FILE)
            for artifact in listed(pod.executor_input.outputs.artifacts):
                merge(artifact, output.artifacts[artifact.name].artifacts)
                self.upload(pod, artifact)
        except TaskError as error:
            return self.failed(pod.task, str(error))
        artifacts = pod.executor_input.outputs.artifacts
        self.result.artifacts[pod.task] = {name: found.artifacts[0] for name, found in artifacts.items()}
        return SUCCEEDED

    def upload(self, pod: Pod, artifact: Any) -> None:
        """Store an artifact; metrics are numbers among its metadata, and no file."""
        if artifact.type.schema_title == METRICS:
            for key, value in artifact.metadata.fields.items():
                if value.WhichOneof("kind") != "number_value":
                    raise TaskError(f"metric value {key!r} must be a number")
            return
        source, target = path_of(pod.folder, artifact.uri), path_of(self.result.store, artifact.uri)
        if not source.is_file():
            raise TaskError(f"unable to stat the output {artifact.name}")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def ready(tasks: Mapping[str, Any], waiting: Sequence[str], states: Mapping[str, str]) -> list[str]:
    """The tasks whose dependencies, told or implied by their inputs, have all succeeded."""
    return [name for name in waiting if all(states.get(other) == SUCCEEDED for other in dependencies(tasks[name]))]


def dependencies(task: Any) -> set[str]:
    """The tasks that a task waits for."""
    origins = (source.task_output_artifact.producer_task for source in task.inputs.artifacts.values())
    return {*task.dependent_tasks, *filter(None, origins)}


def listed(artifacts: Any) -> list[Any]:
    """The one artifact of each name."""
    return [found.artifacts[0] for found in artifacts.values()]


def filled(words: Sequence[str], told: Any, pod: Path) -> Iterator[str]:
    """The command line with the placeholders that the launcher knows; it leaves every other as it is."""
    known = {"{{$}}": MessageToJson(told, indent=None)}
    for key, value in told.inputs.parameter_values.items():
        known[f"{{{{$.inputs.parameters['{key}']}}}}"] = value.string_value
    for direction, side in (("inputs", told.inputs), ("outputs", told.outputs)):
        for key, found in side.artifacts.items():
            artifact = found.artifacts[0]
            known[f"{{{{$.{direction}.artifacts['{key}'].path}}}}"] = str(path_of(pod, artifact.uri))
            known[f"{{{{$.{direction}.artifacts['{key}'].uri}}}}"] = artifact.uri
    for word in words:
        for placeholder, value in known.items():
            word = word.replace(placeholder, value)
        yield word


def executor_output(file: Path) -> Any:
    """What a container said of its outputs, nothing where it wrote no file. Read strictly."""
    if not file.exists():
        return ExecutorOutput()
    try:
        return ParseDict(parse_json(file.read_bytes()), ExecutorOutput())
    except Exception as error:
        raise TaskError(f"failed to unmarshal ExecutorOutput: {error}") from error


def merge(artifact: Any, said: Sequence[Any]) -> None:
    """Add what the executor output says of an artifact."""
    for found in said[:1]:
        artifact.uri = found.uri or artifact.uri
        artifact.metadata.update(MessageToDict(found.metadata))


def end(child: subprocess.Popen[bytes]) -> None:
    """End a process, gently first."""
    os.kill(child.pid, signal.SIGTERM)
    try:
        child.wait(GRACE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
