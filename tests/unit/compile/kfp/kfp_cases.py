"""Specs, carriers and packages for the tests of the KFP compiler."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import yaml
from hypothesis import strategies as st
from pipeline_cases import COUNT_REQUESTS, IMAGES, PRINTABLE, SPEC, WORDS, known, plan_of

from chaosgate.compile.kfp import compile_kfp
from chaosgate.components.definition import Component, ports
from chaosgate.model.carrier import Carrier, ExtraStep, Resources, SecretVariable
from chaosgate.model.spec import ChaosSpec

Data = dict[str, Any]
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
    COUNT_REQUESTS,
    # Its argument is called as its output is: KFP has one name for everything that a component is given and gives.
    Component("note", "write something down", "x:run", arguments=("status",), outputs=ports("status")),
    Component("importer", "be mistaken for KFP's own", "x:run", outputs=ports("status")),
    Component("reserved", "have an argument that Python keeps", "x:run", arguments=("class",)),
)


def plug_ins() -> AbstractContextManager[None]:
    """The components of a stranger, known as long as this lasts."""
    return known(PLUG_INS)


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


@st.composite
def carriers(draw: st.DrawFn) -> Carrier:
    """Carriers with and without secrets, labels, resources and steps of plug-ins."""
    note = ExtraStep(component="note", arguments={"status": draw(PRINTABLE)})
    steps = draw(st.lists(st.sampled_from((*FULL.steps, note)), unique_by=lambda step: step.component))
    return Carrier(
        image=draw(IMAGES),
        labels=draw(st.dictionaries(WORDS, WORDS, max_size=2)),
        secrets=draw(st.sampled_from(((), (SECRET,)))),
        resources=draw(st.sampled_from(({}, FULL.resources))),
        steps=tuple(steps),
    )
