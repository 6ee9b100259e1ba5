"""How a pipeline runs on a cluster: image, account, secrets, resources, a team's own steps. No part of a spec."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from chaosgate import __version__
from chaosgate.model.base import Frozen, Name

DEFAULT_IMAGE = f"chaosgate:{__version__}"
"""The image that `make image` builds. Never tagged `latest`: a cluster pulls that anew, so that two runs may differ."""
QUANTITY = r"^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi)?$"
"""A Kubernetes quantity as far as CPUs and memory need it, such as `250m` or `512Mi`."""
ENVIRONMENT_NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"

Quantity = Annotated[str, Field(pattern=QUANTITY)]
Image = Annotated[str, Field(pattern=r"^[^\s]+(:[^\s:/]+|@sha256:[0-9a-f]{64})$")]
"""An image with a tag or a digest."""


class SecretVariable(Frozen):
    """One environment variable that a step gets from a Kubernetes Secret; the secret itself is never written down."""

    env: Annotated[str, Field(pattern=ENVIRONMENT_NAME)]
    secret: Annotated[str, Field(min_length=1, max_length=253)]
    """The Secret's name."""
    key: Annotated[str, Field(min_length=1, max_length=253)]


class Resources(Frozen):
    """What the cluster sets aside for a component, in place of what the component asks for by itself."""

    cpu: Quantity | None = None
    memory: Quantity | None = None


class ExtraStep(Frozen):
    """A component of a plug-in that looks at what a run leaves, such as one that tells a team."""

    component: str
    arguments: dict[str, str] = {}


class Carrier(Frozen):
    """How a cluster carries a plan."""

    image: Image = DEFAULT_IMAGE
    pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    namespace: Name | None = None
    """Left out, whoever submits the pipeline decides."""
    service_account: Name = "chaosgate"
    labels: dict[str, str] = {}
    """Set on the pipeline and on every pod, besides chaosgate's own."""
    secrets: tuple[SecretVariable, ...] = ()
    """For every step, such as the password of an MLflow server."""
    node_selector: dict[str, str] = {}
    resources: dict[str, Resources] = {}
    """By component."""
    steps: tuple[ExtraStep, ...] = ()
