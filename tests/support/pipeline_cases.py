"""What the tests of both compilers compile: the scenarios, specs drawn at random, components of a stranger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from chaosgate.components.definition import COMPONENTS, Component, ports
from chaosgate.model.carrier import REPLACED, Carrier
from chaosgate.model.load import load_spec, spec_from_data
from chaosgate.model.plan import Plan
from chaosgate.model.spec import ChaosSpec
from chaosgate.planner import CLUSTER, make_plan

SCENARIOS = sorted(Path("chaos-specs/scenarios").glob("*.yaml"))
SPEC = load_spec(Path("chaos-specs/scenarios/stream-degradation.yaml"))
COUNT_REQUESTS = Component(
    "count-requests",
    "count what was sent",
    "x:run",
    inputs=(*ports("spec"), *ports("observations", many=True)),
    outputs=ports("summary", "status"),
)
"""A stranger's component that reads the spec and one file of every step that writes it."""

ANY_TEXT = st.text(st.characters(exclude_categories=("Cs",)) | st.sampled_from('{}\\"\n\x85\u2028\ufeff'), max_size=20)
PRINTABLE = st.text(st.characters(exclude_categories=("C", "Z")), max_size=12).filter(
    lambda text: not any(mark in text for mark in REPLACED)
)
"""Arguments that a pipeline can carry."""
WORDS = st.from_regex(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,20}[A-Za-z0-9])?", fullmatch=True)
"""Keys and values of labels."""
IMAGES = st.sampled_from(("chaosgate:0.1.0", "a/b@sha256:" + "0" * 64))

_DOSES = {
    "wire.latency": ("delay", ("20ms", "50ms", "1s")),
    "wire.error": ("probability", ("5 %", "50 %")),
    "stream.cut": ("probability", ("10 %", "100 %")),
}


@contextmanager
def known(components: Iterable[Component]) -> Iterator[None]:
    """The components of a stranger, known as long as this lasts."""
    found = {component.name: component for component in components}
    COMPONENTS.update(found)
    try:
        yield
    finally:
        for name in found:
            del COMPONENTS[name]


def plan_of(spec: ChaosSpec, carrier: Carrier) -> Plan:
    """The plan that a pipeline is compiled from."""
    return make_plan(spec, CLUSTER, carrier.steps)


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
