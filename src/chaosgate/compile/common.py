"""What both compilers say of a step: how its inputs are called, what it is labelled, what it asks the cluster for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chaosgate.components.definition import Component, Requests, find_component
from chaosgate.model.carrier import Carrier, Resources
from chaosgate.model.plan import Plan, Step
from chaosgate.model.spec import ChaosSpec

PYTHON = "python"
"""The interpreter of the image: always named, for Argo's executor cannot look up an image's own entry point."""
USER = 65532
"""The numeric user and group of the image, for Kubernetes refuses a user it cannot tell from root."""
PART_OF = "chaosgate"
LABEL_LIMIT = 63
"""Characters of a label's value in Kubernetes."""


@dataclass(frozen=True)
class Slot:
    """One artifact a step reads, under a name of its own: two ports of one kind would else be called the same."""

    name: str
    """`endpoint`, or `block1-measure-ledger` at a port that takes many."""
    port: str
    step: str
    output: str


def slots(step: Step) -> Iterator[Slot]:
    """The artifacts `step` reads from other steps, in the order of its ports. The spec is none of them."""
    many = {port.name for port in find_component(step.component).inputs if port.many}
    for read in step.inputs:
        name = f"{read.step}-{read.port}" if read.port in many else read.port
        yield Slot(name, read.port, read.step, read.output)


def reads_spec(component: Component) -> bool:
    """Whether the carrier hands the spec to it."""
    return any(port.name == "spec" for port in component.inputs)


def requests_of(component: Component, carrier: Carrier) -> Requests:
    """CPU and memory to set aside: the carrier's word, else the component's own."""
    given = carrier.resources.get(component.name, Resources())
    return Requests(given.cpu or component.requests.cpu, given.memory or component.requests.memory)


def labels(plan: Plan, spec: ChaosSpec, carrier: Carrier) -> dict[str, str]:
    """The labels of everything a pipeline makes; chaosgate's own win over the spec's and the carrier's."""
    return {
        **spec.metadata.labels,
        **carrier.labels,
        "app.kubernetes.io/part-of": PART_OF,
        "chaosgate/spec": plan.name,
        "chaosgate/spec-digest": plan.spec_digest.removeprefix("sha256:")[:LABEL_LIMIT],
    }
