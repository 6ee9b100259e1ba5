"""Specs, carriers and workflows for the tests of the Argo compiler."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import yaml
from hypothesis import strategies as st
from pipeline_cases import COUNT_REQUESTS, IMAGES, PRINTABLE, SPEC, WORDS, known, plan_of

from chaosgate.compile.argo import compile_argo
from chaosgate.components.definition import Component, ports
from chaosgate.model.carrier import Carrier, ExtraStep, Resources, SecretVariable
from chaosgate.model.spec import ChaosSpec

FULL = Carrier(
    image="registry.example.com:5000/chaosgate:1.2.3",
    namespace="serving",
    service_account="drills",
    labels={"team": "inference", "example.com/cost-centre": "1e3"},
    secrets=(SecretVariable(env="MLFLOW_TRACKING_PASSWORD", secret="mlflow", key="password"),),
    node_selector={"gpu": "y"},
    resources={"measure": Resources(cpu="1")},
    keep="1h",
    steps=(ExtraStep(component="tell.team", arguments={"channel": "drills"}), ExtraStep(component="count-requests")),
)
"""Everything a profile may say of a carrier; its extra steps need `plug_ins`."""

PLUG_INS = (
    Component("tell.team", "tell a team", "x:run", arguments=("channel",), inputs=ports("verdict", "report")),
    COUNT_REQUESTS,
    Component("note", "write something down", "x:run", arguments=("text", "deadline"), outputs=ports("status")),
)


def plug_ins() -> AbstractContextManager[None]:
    """The components of a stranger, known as long as this lasts."""
    return known(PLUG_INS)


def compiled(spec: ChaosSpec = SPEC, carrier: Carrier | None = None) -> str:
    """The workflow's text."""
    carrier = carrier or Carrier()
    return compile_argo(plan_of(spec, carrier), spec, carrier)


def data_of(text: str) -> dict[str, Any]:
    """The workflow as data."""
    data: dict[str, Any] = yaml.load(text, yaml.CSafeLoader)
    return data


def changed(spec: ChaosSpec, **metadata: Any) -> ChaosSpec:
    """The spec with other metadata."""
    return spec.model_copy(update={"metadata": spec.metadata.model_copy(update=metadata)})


@st.composite
def carriers(draw: st.DrawFn) -> Carrier:
    """Carriers with and without secrets, labels, resources and steps of plug-ins."""
    note = ExtraStep(component="note", arguments={"text": draw(PRINTABLE), "deadline": draw(PRINTABLE)})
    steps = draw(st.lists(st.sampled_from((*FULL.steps, note)), unique_by=lambda step: step.component))
    return Carrier(
        image=draw(IMAGES),
        labels=draw(st.dictionaries(WORDS, WORDS, max_size=2)),
        secrets=FULL.secrets if draw(st.booleans()) else (),
        namespace=draw(st.none() | st.just("serving")),
        steps=tuple(steps),
    )
