"""From a plan to the workflow that Argo runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from hera.workflows import DAG, Container, Task, Workflow, models

from chaosgate.compile.argo.guards import argo_problems
from chaosgate.compile.argo.templates import Shape, exit_template, shape_of, task_template
from chaosgate.compile.argo.text import generated, spec_text, workflow_text
from chaosgate.compile.argo.wiring import (
    DEADLINE,
    ENTRYPOINT,
    RUN,
    RUN_LABEL,
    SPEC,
    SPEC_SOURCE,
    STEP,
    STEP_LABEL,
    VOLUMES,
    deadline_of,
    task_output,
)
from chaosgate.compile.common import USER, labels, reads_spec, slots
from chaosgate.components.definition import find_component
from chaosgate.errors import PlanError
from chaosgate.model.carrier import Carrier
from chaosgate.model.plan import Plan, Step
from chaosgate.model.spec import ChaosSpec


def compile_argo(plan: Plan, spec: ChaosSpec, carrier: Carrier) -> str:
    """The YAML of an Argo `Workflow` (argoproj.io/v1alpha1, Argo 3.7) that runs `plan` on `spec`.

    The plan is what `make_plan(spec, CLUSTER, carrier.steps)` makes; the bytes are the same each time. A PlanError
    says that the plan is another spec's, or which of Argo's rules would be broken.
    """
    workflow = build_workflow(plan, spec, carrier)
    problems = argo_problems(workflow)
    if problems:
        raise PlanError(f"{plan.name} cannot run on Argo: {'; '.join(problems)}")
    return workflow_text(generated(plan), workflow)


def build_workflow(plan: Plan, spec: ChaosSpec, carrier: Carrier) -> dict[str, Any]:
    """The data of the workflow; errors are as in `compile_argo`, but for Argo's own rules."""
    if plan.spec_digest != spec.digest():
        raise PlanError(f"the plan was made from {plan.spec_digest}, the spec is {spec.digest()}; plan this spec first")
    return _Builder(plan, spec, carrier).workflow()


def workflow_deadline(plan: Plan) -> int:
    """Seconds for the whole workflow: its longest chain of steps, each with all of its deadline.

    The exit handler is not under this deadline, so that its own is the time left for starting pods. The sum is never
    more than what deploy tells the sweeper, which must not act on a run that goes on.
    """
    ends: dict[str, int] = {}
    for step in plan.steps:
        ends[step.id] = deadline_of(step) + max((ends[read.step] for read in step.inputs), default=0)
    return max(ends.values()) + deadline_of(plan.finally_)


@dataclass(frozen=True)
class _Builder:
    plan: Plan
    spec: ChaosSpec
    carrier: Carrier

    def workflow(self) -> dict[str, Any]:
        shapes = self.template_names()
        own = self.labels()
        built: dict[str, Any] = Workflow(
            api_version="argoproj.io/v1alpha1",
            kind="Workflow",
            generate_name=f"{self.plan.name}-",
            namespace=self.carrier.namespace,
            labels=own,
            workflow_metadata=_run_label(),
            pod_metadata=models.Metadata(labels={**own, RUN_LABEL: RUN}),
            entrypoint=ENTRYPOINT,
            on_exit=self.plan.finally_.id,
            active_deadline_seconds=workflow_deadline(self.plan),
            ttl_strategy=models.TTLStrategy(seconds_after_completion=math.ceil(self.carrier.keep)),
            service_account_name=self.carrier.service_account,
            security_context=_no_root(),
            node_selector=self.carrier.node_selector or None,
            volumes=[models.Volume(name=name, empty_dir=models.EmptyDirVolumeSource()) for name in VOLUMES],
            arguments=self.arguments(),
            templates=[self.graph(shapes), *self.containers(shapes)],
        ).to_dict()
        return built

    def labels(self) -> dict[str, str]:
        """What workflow and pods have in common: all but the run and the step."""
        known = labels(self.plan, self.spec, self.carrier)
        return {key: known[key] for key in sorted(known.keys() - {RUN_LABEL, STEP_LABEL})}

    def template_names(self) -> dict[Shape, str]:
        """A name for each shape of steps: the component's, with a number from the second shape of a component on."""
        names: dict[Shape, str] = {}
        for shape in map(shape_of, self.plan.steps):
            if shape not in names:
                before = sum(shape.component == other.component for other in names)
                names[shape] = shape.component.replace(".", "-") + (f"-{before + 1}" if before else "")
        return names

    def arguments(self) -> models.Arguments:
        data = models.RawArtifact(data=spec_text(self.spec))
        return models.Arguments(artifacts=[models.Artifact(name=SPEC, raw=data)])

    def graph(self, shapes: dict[Shape, str]) -> DAG:
        """The tasks. A gate that says no, or an extra step that crashes, keeps no other from being started."""
        tasks: list[Task | models.DAGTask] = [_task(step, shapes[shape_of(step)]) for step in self.plan.steps]
        return DAG(name=ENTRYPOINT, inputs=[models.Artifact(name=SPEC)], fail_fast=False, tasks=tasks)

    def containers(self, shapes: dict[Shape, str]) -> list[Container]:
        shared = [task_template(name, shape, self.carrier) for shape, name in shapes.items()]
        return [*shared, exit_template(self.plan.finally_, self.carrier)]


def _task(step: Step, template: str) -> Task:
    given = {**step.arguments, STEP: step.id, DEADLINE: str(deadline_of(step))}
    artifacts = [models.Artifact(name=slot.name, from_=task_output(slot.step, slot.output)) for slot in slots(step)]
    if reads_spec(find_component(step.component)):
        artifacts.insert(0, models.Artifact(name=SPEC, from_=SPEC_SOURCE))
    return Task(
        name=step.id,
        template=template,
        dependencies=list(dict.fromkeys(read.step for read in step.inputs)) or None,
        arguments=models.Arguments(
            parameters=[models.Parameter(name=name, value=value) for name, value in given.items()],
            artifacts=artifacts or None,
        ),
    )


def _run_label() -> models.WorkflowMetadata:
    """The run's label on the workflow itself, whose name is not known before it was made."""
    return models.WorkflowMetadata(labels_from={RUN_LABEL: models.LabelValueFrom(expression="workflow.name")})


def _no_root() -> models.PodSecurityContext:
    """One user for all containers of a pod, Argo's own too: they write into the same folders."""
    return models.PodSecurityContext(
        run_as_non_root=True,
        run_as_user=USER,
        run_as_group=USER,
        fs_group=USER,
        seccomp_profile=models.SeccompProfile(type="RuntimeDefault"),
    )
