"""Whose pods a fault of the cluster may hit, as a spec says it; what is unclear is refused where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosgate.errors import SpecError
from chaosgate.model.fault import ClusterFault, ClusterTarget
from chaosgate.model.load import parse_spec

BASE = (Path(__file__).parent / "base_spec.yaml").read_text()
WIRE = """\
      kind: wire.latency
      jitter: 5ms
      select: {share: 50 %, path: /v1/chat/completions}
      dose: {parameter: delay, values: [100ms, 200ms]"""
EMBEDDED = "{engine: embedded, model: embedded/tiny}"
URL = "{engine: endpoint, model: m, endpoint: http://llm:8000}"
SERVICE = "{engine: endpoint, model: m, kubernetes: {service: llm, port: 8000}}"


def spec(more: str = "", target: str = EMBEDDED) -> str:
    assert WIRE in BASE
    cut = f"      kind: pod.cpu-limit\n{more}      dose: {{parameter: cut, values: [10 %, 50 %]"
    return BASE.replace(WIRE, cut).replace(EMBEDDED, target).replace(">= 100ms", ">= 10 %")


def refusal(text: str) -> list[str]:
    with pytest.raises(SpecError) as refused:
        parse_spec(text, "spec.yaml")
    return str(refused.value).split("\n")


@pytest.mark.parametrize(
    ("more", "target", "meant"),
    [
        ("", EMBEDDED, ClusterTarget()),
        ("", SERVICE, ClusterTarget()),
        ("      target: {labels: {app.kubernetes.io/name: llm}}\n", URL, {"app.kubernetes.io/name": "llm"}),
    ],
)
def test_pods_are_named_where_the_target_does_not_tell_them(more: str, target: str, meant: object) -> None:
    (fault,) = parse_spec(spec(more, target), "spec.yaml").spec.faults
    assert isinstance(fault, ClusterFault)
    assert meant in (fault.target, fault.target.labels)


def test_nothing_tells_which_pods_serve_a_url() -> None:
    assert refusal(spec(target=URL)) == [
        "spec.yaml:17:7 spec.faults[0].target: names no labels, and nothing tells which pods serve a URL; write "
        "`target: {labels: ...}`, or the server's Service as spec.target.kubernetes"
    ]


def test_a_namespace_alone_does_not_mean_everything_in_it() -> None:
    assert refusal(spec("      target: {namespace: serving}\n")) == [
        "spec.yaml:19:27 spec.faults[0].target.namespace: read 'serving' without labels; write `labels:`, too: not "
        "every pod there is meant"
    ]


def test_a_fault_of_the_cluster_selects_no_requests() -> None:
    (said,) = refusal(spec("      select: {share: 50 %}\n"))
    assert said.startswith(
        "spec.yaml:19:7 spec.faults[0].select: unknown key 'select'; allowed: container, dose, driver,"
    )


def test_only_this_driver_carries_faults_of_the_cluster_yet() -> None:
    assert refusal(spec("      driver: litmus\n")) == [
        "spec.yaml:19:15 spec.faults[0].driver: read 'litmus'; write 'kubernetes'"
    ]
