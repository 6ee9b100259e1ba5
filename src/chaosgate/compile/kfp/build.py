"""From a plan to a package of Kubeflow Pipelines, built with its SDK: one task a step, cleanup as its exit task."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf.json_format import MessageToDict
from kfp import dsl

from chaosgate.compile.common import labels, reads_spec, requests_of, slots
from chaosgate.compile.kfp.components import RUN, SPEC, container, input_name
from chaosgate.compile.kfp.guards import braces, rule_problems
from chaosgate.compile.kfp.package import ROOT, TASKS, package_text
from chaosgate.compile.kfp.settings import Settings
from chaosgate.components.definition import find_component
from chaosgate.errors import PlanError
from chaosgate.model.carrier import Carrier
from chaosgate.model.plan import Plan, Step
from chaosgate.model.spec import ChaosSpec

SPEC_URI = "spec_uri"
"""The one parameter of a pipeline: where the spec's file stands, such as minio://bucket/path/spec.json."""
GROUP = "drill"
"""What the UI calls the group of all steps after which cleanup runs."""


def compile_kfp(plan: Plan, spec: ChaosSpec, carrier: Carrier) -> str:
    """The package of `plan` as YAML: the pipeline, then its platform; the same bytes for the same plan and carrier.

    The spec itself is not in it: the run is given the address of its file, and deploy refuses every other spec. A
    PlanError says what Kubeflow Pipelines does not take, or which rule the package would break.
    """
    built = _pipeline(plan, spec, carrier)
    documents = [MessageToDict(built.pipeline_spec), MessageToDict(built.platform_spec)]
    _request(documents[0], plan, carrier)
    _keep_order(documents[0], plan)
    # Their form needs no look: they were KFP's own messages a moment ago.
    problems = rule_problems(documents)
    if problems:
        raise PlanError(f"the KFP package of {plan.name} cannot be used: {'; '.join(problems)}")
    return package_text(list(_header(plan, carrier)), documents)


def _pipeline(plan: Plan, spec: ChaosSpec, carrier: Carrier) -> Any:
    """The pipeline as KFP's SDK has it. Its parameter is declared by hand: a name in quotes would be no type to KFP."""
    settings = Settings(carrier, labels(plan, spec, carrier))

    def pipeline(spec_uri: Any) -> None:
        cleanup = _task(plan.finally_, {}, None, settings)
        with dsl.ExitHandler(cleanup, name=GROUP):
            importer = dsl.importer(artifact_uri=spec_uri, artifact_class=dsl.Artifact, reimport=True)
            importer.set_caching_options(False)
            tasks: dict[str, Any] = {}
            for step in plan.steps:
                tasks[step.id] = _task(step, tasks, importer, settings)

    parameter = inspect.Parameter(SPEC_URI, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=str)
    pipeline.__signature__ = inspect.Signature([parameter])  # type: ignore[attr-defined]
    return dsl.pipeline(name=plan.name)(pipeline)


def _task(step: Step, before: Mapping[str, Any], importer: Any, settings: Settings) -> Any:
    """The task of `step`, called as the step is: so are its node in the UI and the folder of its artifacts."""
    component = find_component(step.component)
    for name, text in step.arguments.items():
        for problem in braces(step.id, name, text):
            raise PlanError(problem)
    handed: dict[str, Any] = {RUN: dsl.PIPELINE_JOB_ID_PLACEHOLDER, **step.arguments}
    read = tuple(slots(step))
    for slot in read:
        handed[slot.name] = before[slot.step].outputs[slot.output]
    if reads_spec(component):
        handed[SPEC] = importer.output
    build = container(step.id, component, read, settings.carrier.image)
    task = build(**{input_name(name, component): value for name, value in handed.items()})
    if task.name != step.id:
        raise PlanError(
            f"step {step.id!r}: KFP would call its task {task.name!r}; rename the component {component.name!r}"
        )
    settings.apply(task, step)
    return task


def _request(pipeline: dict[str, Any], plan: Plan, carrier: Carrier) -> None:
    """Set aside CPU and memory for each step.

    The SDK's own setters refuse quantities that Kubernetes takes, such as 1.5Gi, and are slow: each reads the sources
    of the whole call stack for its error message.
    """
    for step in (*plan.steps, plan.finally_):
        label = pipeline["components"][f"comp-{step.id}"]["executorLabel"]
        requests = requests_of(find_component(step.component), carrier)
        pipeline["deploymentSpec"]["executors"][label]["container"]["resources"] = {
            "resourceCpuRequest": requests.cpu,
            "resourceMemoryRequest": requests.memory,
        }


def _keep_order(pipeline: dict[str, Any], plan: Plan) -> None:
    """Put the tasks of each graph into the plan's order, which KFP's own maps do not keep."""
    order = {step.id: number for number, step in enumerate((*plan.steps, plan.finally_))}
    for holder in (pipeline[ROOT], *pipeline["components"].values()):
        if "dag" in holder:
            tasks = holder["dag"][TASKS]
            holder["dag"][TASKS] = {
                name: tasks[name] for name in sorted(tasks, key=lambda name: (order.get(name, -1), name))
            }


def _header(plan: Plan, carrier: Carrier) -> Iterator[str]:
    namespace = f', namespace="{carrier.namespace}"' if carrier.namespace else ""
    origin = f"from the spec {plan.name}, {plan.spec_digest}"
    yield f"Generated by `chaosgate compile --to kfp` {origin}. Do not edit: change the spec and compile it again."
    yield "A package cannot carry the service account: give it when the run is created, with the spec's file, such as"
    yield '  client.create_run_from_pipeline_package("kfp.yaml", arguments={"spec_uri": "minio://bucket/spec.json"},'
    yield f'      service_account="{carrier.service_account}"{namespace})'
