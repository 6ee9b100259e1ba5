"""What both compilers say of a step: how its inputs are called, what it is labelled, what it asks the cluster for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from chaosgate.components.definition import Component, Requests, find_component
from chaosgate.errors import UsageError
from chaosgate.model.carrier import Carrier, Resources
from chaosgate.model.plan import Plan, Step
from chaosgate.model.spec import ChaosSpec

PYTHON = "python"
"""The interpreter of the image: always named, for Argo's executor cannot look up an image's own entry point."""
USER = 65532
"""The numeric user and group of the image, for Kubernetes refuses a user it cannot tell from root."""
PART_OF = "chaosgate"
LABEL_LIMIT = 63
"""Characters of a label's value in Kubernetes, and of the name in its key."""
PREFIX_LIMIT = 253
"""Characters of the DNS name before the slash of a label's key."""
_WORD = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_DNS_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


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
    """The labels of everything a pipeline makes; chaosgate's own win over the spec's and the carrier's.

    A UsageError names a label that Kubernetes would refuse.
    """
    check_labels("the spec's label", spec.metadata.labels)
    check_labels("the carrier's label", carrier.labels)
    return {
        **spec.metadata.labels,
        **carrier.labels,
        "app.kubernetes.io/part-of": PART_OF,
        "chaosgate/spec": plan.name,
        "chaosgate/spec-digest": plan.spec_digest.removeprefix("sha256:")[:LABEL_LIMIT],
    }


def check_labels(whose: str, found: Mapping[str, str]) -> None:
    """A UsageError for the first label that Kubernetes refuses; `whose` says where it was read.

    The syntax is from https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/.
    """
    for key, value in found.items():
        if not _is_label_key(key):
            raise UsageError(
                f"{whose} {key!r}: Kubernetes wants a name of at most {LABEL_LIMIT} letters, digits, '-', '_' and '.' "
                "that starts and ends with a letter or digit, after an optional DNS name and a slash, such as "
                "example.com/team; rename the label"
            )
        if value and not _is_label_word(value):
            raise UsageError(
                f"{whose} {key!r}: read the value {value!r}; Kubernetes wants at most {LABEL_LIMIT} letters, digits, "
                "'-', '_' and '.' that start and end with a letter or digit; write another value"
            )


def _is_label_key(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    dns = not slash or (len(prefix) <= PREFIX_LIMIT and _DNS_NAME.fullmatch(prefix) is not None)
    return dns and _is_label_word(name)


def _is_label_word(text: str) -> bool:
    return len(text) <= LABEL_LIMIT and _WORD.fullmatch(text) is not None
