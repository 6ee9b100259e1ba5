"""How a pipeline runs on a cluster: image, account, secrets, resources, a team's own steps. No part of a spec."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from chaosgate import __version__
from chaosgate.model.base import Frozen, Name
from chaosgate.tokens import KEY_VARIABLE

DEFAULT_IMAGE = f"chaosgate:{__version__}"
"""The image that `make image` builds. Never tagged `latest`: a cluster pulls that anew, so that two runs may differ."""
QUANTITY = r"^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi)?$"
"""A Kubernetes quantity as far as CPUs and memory need it, such as `250m` or `512Mi`."""
ENVIRONMENT_NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"
IMAGE = r"^[^\s]+(:[^\s:/]+|@sha256:[0-9a-f]{64})$"

Quantity = Annotated[str, Field(pattern=QUANTITY)]
Image = Annotated[str, Field(pattern=IMAGE)]
"""An image with a tag or a digest."""


class SecretVariable(Frozen):
    """One environment variable that a step gets from a Kubernetes Secret; the secret itself is never written down."""

    env: Annotated[str, Field(pattern=ENVIRONMENT_NAME)]
    """The variable's name."""
    secret: Annotated[str, Field(min_length=1, max_length=253)]
    """The Secret's name."""
    key: Annotated[str, Field(min_length=1, max_length=253)]
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
    arguments: dict[str, str] = {}
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
    labels: dict[str, str] = {}
    """Set on the pipeline and on every pod, besides chaosgate's own."""
    secrets: tuple[SecretVariable, ...] = ()
    """For every step, such as the password of an MLflow server."""
    gateway_secret: Annotated[str, Field(min_length=1, max_length=253)] = "chaosgate-gateway"
    """The Secret whose `key` the steps and the gateway of a run derive the gateway's admin token from."""
    node_selector: dict[str, str] = {}
    """Labels of the nodes that pods may run on."""
    resources: dict[str, Resources] = {}
    """By component."""
    steps: tuple[ExtraStep, ...] = ()
    """Steps of a team's own, each of which looks at what the run leaves."""

    @property
    def variables(self) -> tuple[SecretVariable, ...]:
        """Every environment variable of a step that comes from a Secret."""
        key = SecretVariable(env=KEY_VARIABLE, secret=self.gateway_secret, key="key", optional=True)
        return (*self.secrets, key)
