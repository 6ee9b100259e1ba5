"""Specs, carriers and packages for the tests of the KFP compiler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

from chaosgate.compile.kfp import compile_kfp
from chaosgate.components.definition import COMPONENTS, Component, ports
from chaosgate.model.carrier import Carrier, ExtraStep, Resources, SecretVariable
from chaosgate.model.load import load_spec, spec_from_data
from chaosgate.model.plan import Plan
from chaosgate.model.spec import ChaosSpec
from chaosgate.planner import CLUSTER, make_plan

Data = dict[str, Any]
SCENARIOS = sorted(Path("chaos-specs/scenarios").glob("*.yaml"))
SPEC = load_spec(Path("chaos-specs/scenarios/stream-degradation.yaml"))
SECRET = SecretVariable(env="MLFLOW_TRACKING_PASSWORD", secret="mlflow", key="password")
FULL = Carrier(
    image="registry.example.com:5000/chaosgate:1.2.3",
    pull_policy="Always",
    namespace="serving",
    service_account="drills",
    labels={"team": "inference"},
    secrets=(SECRET,),
    node_selector={"pool": "load"},
    resources={"measure": Resources(cpu="1", memory="1.5Gi")},
    steps=(
        ExtraStep(component="tell.team", arguments={"web-hook": "drills"}),
        ExtraStep(component="count-requests"),
    ),
)
"""Everything a profile may say of a carrier; its extra steps need `plug_ins`."""
PLUG_INS = (
    Component("tell.team", "tell a team", "x:run", arguments=("web-hook",), inputs=ports("verdict", "report")),
    Component(
        "count-requests",
        "count what was sent",
        "x:run",
        inputs=(*ports("spec"), *ports("observations", many=True)),
        outputs=ports("summary", "status"),
    ),
    # Its argument is called as its output is: KFP has one name for everything that a component is given and gives.
    Component("note", "write something down", "x:run", arguments=("status",), outputs=ports("status")),
    Component("importer", "be mistaken for KFP's own", "x:run", outputs=ports("status")),
    Component("reserved", "have an argument that Python keeps", "x:run", arguments=("class",)),
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
    """The plan that a package is compiled from."""
    return make_plan(spec, CLUSTER, carrier.steps)


def compiled(spec: ChaosSpec = SPEC, carrier: Carrier | None = None) -> str:
    """The package's text."""
    carrier = carrier or Carrier()
    return compile_kfp(plan_of(spec, carrier), spec, carrier)


def documents_of(text: str) -> list[Data]:
    """The package as data, its tasks in the order of the text."""
    return list(yaml.load_all(text, yaml.CSafeLoader))


def text_of(documents: list[Data]) -> str:
    """Data as text, without a comment."""
    text: str = yaml.dump_all(documents, Dumper=yaml.CSafeDumper, sort_keys=False)
    return text


def tasks(documents: list[Data]) -> dict[str, Data]:
    """The specs of all tasks by name, cleanup's too."""
    group = documents[0]["components"]["comp-exit-handler-1"]["dag"]["tasks"]
    return {**documents[0]["root"]["dag"]["tasks"], **group}


def executors(documents: list[Data]) -> dict[str, Data]:
    """What runs each task, by its label."""
    found: dict[str, Data] = documents[0]["deploymentSpec"]["executors"]
    return found


def settings_of(documents: list[Data], label: str) -> Data:
    """What the platform says of an executor."""
    found: Data = documents[1]["platforms"]["kubernetes"]["deploymentSpec"]["executors"][label]
    return found


WORDS = st.from_regex(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,20}[A-Za-z0-9])?", fullmatch=True)
TEXTS = st.text(st.characters(exclude_categories=("C",)), max_size=12).filter(lambda text: "{{" not in text)
"""Arguments that a package can carry."""


@st.composite
def specs(draw: st.DrawFn) -> ChaosSpec:
    """Valid specs with one to three faults, doses, labels and any text in their annotations."""
    data = SPEC.to_json()
    fault = data["spec"]["faults"][0]
    data["metadata"] = {
        "name": draw(st.from_regex(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", fullmatch=True)),
        "labels": draw(st.dictionaries(WORDS, WORDS, max_size=3)),
        "annotations": draw(st.dictionaries(TEXTS, TEXTS, max_size=2)),
    }
    data["spec"] |= {
        "faults": [
            {**fault, "name": f"fault-{number}", "dose": {**fault["dose"], "windows": draw(st.integers(3, 6))}}
            for number in range(draw(st.integers(1, 3)))
        ],
        "fits": [],
        "objectives": [{"name": "back", "sli": "error-rate", "bound": "<= 5 %", "at": "recovery", "within": "2s"}],
    }
    return spec_from_data(data, "drawn")


@st.composite
def carriers(draw: st.DrawFn) -> Carrier:
    """Carriers with and without secrets, labels, resources and steps of plug-ins."""
    note = ExtraStep(component="note", arguments={"status": draw(TEXTS)})
    steps = draw(st.lists(st.sampled_from((*FULL.steps, note)), unique_by=lambda step: step.component))
    return Carrier(
        image=draw(st.sampled_from(("chaosgate:0.1.0", "a/b@sha256:" + "0" * 64))),
        labels=draw(st.dictionaries(WORDS, WORDS, max_size=2)),
        secrets=draw(st.sampled_from(((), (SECRET,)))),
        resources=draw(st.sampled_from(({}, FULL.resources))),
        steps=tuple(steps),
    )
