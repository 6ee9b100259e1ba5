"""How a pipeline runs on a cluster: image, account, secrets, resources, a team's own steps. No part of a spec."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from chaosgate import __version__
from chaosgate.model.base import ENVIRONMENT_NAME, Frozen, Name
from chaosgate.model.labels import Labels
from chaosgate.model.spec import SUBDOMAIN_PATTERN
from chaosgate.tokens import KEY_VARIABLE
from chaosgate.units import Duration

DEFAULT_IMAGE = f"chaosgate:{__version__}"
"""The image that `make image` builds. Never tagged `latest`: a cluster pulls that anew, so that two runs may differ."""
QUANTITY = r"^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi)?$"
"""A Kubernetes quantity as far as CPUs and memory need it, such as `250m` or `512Mi`."""
_DIGEST = "@sha256:[0-9a-f]{64}"
IMAGE = (
    r"^[A-Za-z0-9][-A-Za-z0-9.]*(:[0-9]+)?(/[a-z0-9][-a-z0-9._]*)*"
    rf"(:[A-Za-z0-9_][-A-Za-z0-9_.]{{0,127}}({_DIGEST})?|{_DIGEST})$"
)
"""From https://github.com/distribution/reference: a registry and a path, with a tag, a digest or both."""
SECRET_KEY = r"^[-._A-Za-z0-9]{1,253}$"
REPLACED = ("{{", "$(", "$$")
"""What Argo and KFP (`{{`) and, in a command line, Kubernetes (`$(` and `$$`) replace by something else."""


def fixed_image(image: str) -> str:
    """`image`; a ValueError for the tag that a cluster pulls anew, so that two runs may differ."""
    if image.endswith(":latest"):
        raise ValueError(
            f"read {image!r}; two runs may pull two images by the tag latest: give another tag or a digest"
        )
    return image


def carried_text(text: str) -> str:
    """`text`; a ValueError for what would not reach a step on a cluster as it is written."""
    if any(mark in text for mark in REPLACED) or not text.replace("\n", "").isprintable():
        raise ValueError(f"read {text!r}; write printable text without '{{{{', '$(' and '$$', which a cluster fills in")
    return text


Quantity = Annotated[str, Field(pattern=QUANTITY)]
Image = Annotated[str, Field(pattern=IMAGE), AfterValidator(fixed_image)]
"""An image with a tag or a digest."""
SecretName = Annotated[str, Field(pattern=SUBDOMAIN_PATTERN, max_length=253)]


class SecretVariable(Frozen):
    """One environment variable that a step gets from a Kubernetes Secret; the secret itself is never written down."""

    env: Annotated[str, Field(pattern=ENVIRONMENT_NAME)]
    """The variable's name."""
    secret: SecretName
    """The Secret's name."""
    key: Annotated[str, Field(pattern=SECRET_KEY)]
    """The key of the Secret under which its value stands."""
    optional: bool = False
    """Start all the same where there is no such Secret or key; the step then says itself what it lacks."""


class Resources(Frozen):
    """What the cluster sets aside for a component, in place of what the component asks for by itself."""

    cpu: Quantity | None = None
    """CPUs, such as 250m."""
    memory: Quantity | None = None
    """Memory, such as 512Mi."""


class ExtraStep(Frozen):
    """A component of a plug-in that looks at what a run leaves, such as one that tells a team."""

    component: str
    """The component's name."""
    arguments: dict[str, Annotated[str, AfterValidator(carried_text)]] = {}
    """Its arguments, by name."""


class Carrier(Frozen):
    """How a cluster carries a plan."""

    image: Image = DEFAULT_IMAGE
    """The image that every step runs in, with its tag or digest."""
    pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    """When the cluster pulls the image, in the words of Kubernetes."""
    namespace: Name | None = None
    """Left out, whoever submits the pipeline decides."""
    service_account: Name = "chaosgate"
    """The Kubernetes service account of every pod."""
    labels: Labels = {}
    """Set on the pipeline and on every pod, besides chaosgate's own."""
    secrets: tuple[SecretVariable, ...] = ()
    """For every step, such as the password of an MLflow server."""
    gateway_secret: SecretName = "chaosgate-gateway"
    """The Secret whose `key` the steps and the gateway of a run derive the gateway's admin token from."""
    node_selector: Labels = {}
    """Labels of the nodes that pods may run on."""
    resources: dict[str, Resources] = {}
    """By component."""
    keep: Annotated[Duration, Field(gt=0)] = 7 * 24 * 3600.0
    """How long Argo keeps a workflow, with its pods and their logs, once it has ended. The record is in MLflow."""
    steps: tuple[ExtraStep, ...] = ()
    """Steps of a team's own, each of which looks at what the run leaves."""

    @property
    def variables(self) -> tuple[SecretVariable, ...]:
        """Every environment variable of a step that comes from a Secret."""
        key = SecretVariable(env=KEY_VARIABLE, secret=self.gateway_secret, key="key", optional=True)
        return (*self.secrets, key)
