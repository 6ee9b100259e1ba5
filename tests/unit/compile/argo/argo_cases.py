"""Specs, carriers and workflows for the tests of the Argo compiler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

from chaosgate.compile.argo import compile_argo
from chaosgate.components.definition import COMPONENTS, Component, ports
from chaosgate.model.carrier import Carrier, ExtraStep, Resources, SecretVariable
from chaosgate.model.load import load_spec, spec_from_data
from chaosgate.model.plan import Plan
from chaosgate.model.spec import ChaosSpec
from chaosgate.planner import CLUSTER, make_plan

SCENARIOS = sorted(Path("chaos-specs/scenarios").glob("*.yaml"))
SPEC = load_spec(Path("chaos-specs/scenarios/stream-degradation.yaml"))
FULL = Carrier(
    image="registry.example.com:5000/chaosgate:1.2.3",
    namespace="serving",
    service_account="drills",
    labels={"team": "inference", "example.com/cost-centre": "1e3"},
    secrets=(SecretVariable(env="MLFLOW_TRACKING_PASSWORD", secret="mlflow", key="password"),),
    node_selector={"gpu": "y"},
    resources={"measure": Resources(cpu="1")},
    steps=(ExtraStep(component="tell.team", arguments={"channel": "drills"}), ExtraStep(component="count-requests")),
)
"""Everything a profile may say of a carrier; its extra steps need `plug_ins`."""

PLUG_INS = (
    Component("tell.team", "tell a team", "x:run", arguments=("channel",), inputs=ports("verdict", "report")),
    Component(
        "count-requests",
        "count what was sent",
        "x:run",
        inputs=(*ports("spec"), *ports("observations", many=True)),
        outputs=ports("summary", "status"),
    ),
    Component("note", "write something down", "x:run", arguments=("text", "deadline"), outputs=ports("status")),
)


@contextmanager
def plug_ins() -> Iterator[None]:
    """The components of a stranger, known as long as this lasts."""
    for component in PLUG_INS:
        COMPONENTS[component.name] = component
    try:
        yield
    finally:
        for component in PLUG_INS:
            del COMPONENTS[component.name]


def plan_of(spec: ChaosSpec, carrier: Carrier) -> Plan:
    """The plan that a pipeline is compiled from."""
    return make_plan(spec, CLUSTER, carrier.steps)


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


PRINTABLE = st.text(st.characters(exclude_categories=("C", "Z")), max_size=12).filter(
    lambda text: not any(mark in text for mark in ("{{", "$(", "$$"))
)
"""Arguments that a pipeline can carry."""
ANY_TEXT = st.text(st.characters(exclude_categories=("Cs",)) | st.sampled_from('{}\\"\n\x85\u2028\ufeff'), max_size=20)
WORDS = st.from_regex(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,20}[A-Za-z0-9])?", fullmatch=True)

_DOSES = {
    "wire.latency": ("delay", ("20ms", "50ms", "1s")),
    "wire.error": ("probability", ("5 %", "50 %")),
    "stream.cut": ("probability", ("10 %", "100 %")),
}


@st.composite
def faults(draw: st.DrawFn) -> list[dict[str, Any]]:
    """One to four faults, each with its own sweep."""
    found = []
    for number in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(sorted(_DOSES)))
        parameter, values = _DOSES[kind]
        dose = {
            "parameter": parameter,
            "values": [value for value in values if value == values[-1] or draw(st.booleans())],
            "windows": draw(st.integers(3, 6)),
            "hold": draw(st.sampled_from(("700ms", "2s", "90s"))),
            "washout": draw(st.sampled_from(("0s", "100ms"))),
        }
        found.append({"name": f"fault-{number}", "kind": kind, "dose": dose})
    return found


@st.composite
def specs(draw: st.DrawFn) -> ChaosSpec:
    """Valid specs with several faults, doses, labels and any text in their annotations."""
    data = SPEC.to_json()
    data["metadata"] = {
        "name": draw(st.from_regex(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", fullmatch=True)),
        "labels": draw(st.dictionaries(WORDS, WORDS, max_size=3)),
        "annotations": draw(st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=3)),
    }
    data["spec"] |= {
        "faults": draw(faults()),
        "fits": [],
        "objectives": [{"name": "back", "sli": "error-rate", "bound": "<= 5 %", "at": "recovery", "within": "2s"}],
    }
    return spec_from_data(data, "drawn")


@st.composite
def carriers(draw: st.DrawFn) -> Carrier:
    """Carriers with and without secrets, labels, resources and steps of plug-ins."""
    note = ExtraStep(component="note", arguments={"text": draw(PRINTABLE), "deadline": draw(PRINTABLE)})
    steps = draw(st.lists(st.sampled_from((*FULL.steps, note)), unique_by=lambda step: step.component))
    return Carrier(
        image=draw(st.sampled_from(("chaosgate:0.1.0", "a/b@sha256:" + "0" * 64))),
        labels=draw(st.dictionaries(WORDS, WORDS, max_size=2)),
        secrets=FULL.secrets if draw(st.booleans()) else (),
        namespace=draw(st.none() | st.just("serving")),
        steps=tuple(steps),
    )
