"""Container templates: what a kind of step runs in, whichever task asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hera.workflows import Container, models
from hera.workflows.models.io.k8s.apimachinery.pkg.api.resource import Quantity

from chaosgate.compile.argo.wiring import (
    DEADLINE,
    NO_TOKEN,
    RUN,
    SPEC,
    STEP,
    STEP_LABEL,
    TOKEN_FOLDER,
    TOLD,
    WORK,
    WRITABLE,
    deadline_of,
    input_path,
    output_path,
    parameter,
)
from chaosgate.compile.common import PYTHON, reads_spec, requests_of, slots
from chaosgate.components.definition import Component, find_component
from chaosgate.model.carrier import Carrier, SecretVariable
from chaosgate.model.plan import Step


@dataclass(frozen=True)
class Shape:
    """What the steps that share a template have in common."""

    component: str
    slots: tuple[tuple[str, str, str], ...]
    """(slot, port, step) of each artifact; the step only at a port that takes many, whose flag names it."""


@dataclass(frozen=True)
class _Use:
    """What a template is told of the step it runs: by its tasks, or once and for all."""

    arguments: Mapping[str, str]
    step: str
    deadline: int | str
    parameters: tuple[str, ...] = ()
    """What its tasks give."""


def shape_of(step: Step) -> Shape:
    """The shape of `step`."""
    many = {port.name for port in find_component(step.component).inputs if port.many}
    return Shape(
        step.component,
        tuple((slot.name, slot.port, slot.step if slot.port in many else "") for slot in slots(step)),
    )


def task_template(name: str, shape: Shape, carrier: Carrier) -> Container:
    """The template that every task of `shape` runs, with its arguments, deadline and step given by the task."""
    arguments = find_component(shape.component).arguments
    use = _Use(
        arguments={argument: parameter(argument) for argument in arguments},
        step=parameter(STEP),
        deadline=parameter(DEADLINE),
        parameters=(*arguments, STEP, DEADLINE),
    )
    return _template(name, shape, carrier, use)


def exit_template(step: Step, carrier: Carrier) -> Container:
    """The template of the exit handler, to which Argo gives nothing but the run."""
    return _template(step.id, shape_of(step), carrier, _Use(step.arguments, step.id, deadline_of(step)))


def _template(name: str, shape: Shape, carrier: Carrier, use: _Use) -> Container:
    component = find_component(shape.component)
    requests = requests_of(component, carrier)
    return Container(
        name=name,
        inputs=_inputs(component, shape, use),
        outputs=_outputs(component),
        labels={STEP_LABEL: use.step},
        active_deadline_seconds=use.deadline,
        image=carrier.image,
        image_pull_policy=carrier.pull_policy,
        command=[PYTHON],
        args=_command_line(component, shape, use),
        env=[_variable(secret) for secret in carrier.variables],
        resources=models.ResourceRequirements(
            requests={"cpu": Quantity(root=requests.cpu), "memory": Quantity(root=requests.memory)}
        ),
        security_context=_confined(),
        volume_mounts=_mounts(component),
    )


def _command_line(component: Component, shape: Shape, use: _Use) -> list[str]:
    spec = [(SPEC, "", input_path(SPEC))] if reads_spec(component) else []
    inputs = [(port, step, input_path(slot)) for slot, port, step in shape.slots]
    outputs = {port.name: output_path(port.name) for port in component.outputs}
    return component.argv(("--run", RUN), use.arguments, [*spec, *inputs], outputs)


def _inputs(component: Component, shape: Shape, use: _Use) -> list[models.Parameter | models.Artifact]:
    artifacts = [SPEC] * reads_spec(component) + [slot for slot, _, _ in shape.slots]
    return [
        *(models.Parameter(name=name) for name in use.parameters),
        *(models.Artifact(name=name, path=f"{WORK}/in/{name}") for name in artifacts),
    ]


def _outputs(component: Component) -> list[models.Artifact | models.Parameter]:
    """Every file as an artifact; what says how the run ended as a parameter too, which the workflow itself keeps."""
    told = [port for port in component.outputs if port.name in TOLD]
    return [
        *(_output(port.name, port.file) for port in component.outputs),
        *(
            models.Parameter(name=port.name, value_from=models.ValueFrom(path=f"{WORK}/out/{port.file}"))
            for port in told
        ),
    ]


def _output(port: str, file: str) -> models.Artifact:
    """Kept as the file it is: people look at reports and records in the store."""
    return models.Artifact(
        name=port, path=f"{WORK}/out/{file}", archive=models.ArchiveStrategy(none=models.NoneStrategy())
    )


def _variable(secret: SecretVariable) -> models.EnvVar:
    reference = models.SecretKeySelector(name=secret.secret, key=secret.key, optional=secret.optional or None)
    return models.EnvVar(name=secret.env, value_from=models.EnvVarSource(secret_key_ref=reference))


def _confined() -> models.SecurityContext:
    return models.SecurityContext(
        run_as_non_root=True,
        read_only_root_filesystem=True,
        allow_privilege_escalation=False,
        capabilities=models.Capabilities(drop=["ALL"]),
    )


def _mounts(component: Component) -> list[models.VolumeMount]:
    mounts = [models.VolumeMount(name=name, mount_path=folder) for name, folder in WRITABLE.items()]
    if not component.kubernetes:
        mounts.append(models.VolumeMount(name=NO_TOKEN, mount_path=TOKEN_FOLDER, read_only=True))
    return mounts
