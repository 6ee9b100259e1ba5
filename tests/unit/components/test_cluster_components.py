"""A run on a cluster as its components see it: who switches faults, who watches them, who undoes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from cluster_targets import RUN, cluster_fault, engine_deployment, engine_pod
from fake_cluster import FakeCluster, node
from simulated_run import OBJECTIVES, stream_spec
from small_drill import write_spec

from chaosgate.artifacts import SPEC, document_text, spec_identity
from chaosgate.components import inject, on_cluster, watching
from chaosgate.components.measure import Phase
from chaosgate.components.progress import heard
from chaosgate.components.watching import GaugeLog, GaugeWatch
from chaosgate.errors import ClusterError, GatewayError
from chaosgate.inject.cluster.notes import Note
from chaosgate.inject.cluster.switch import ClusterSwitch
from chaosgate.inject.cluster.undo import Place
from chaosgate.inject.http import GatewayAdmin
from chaosgate.inject.sweep import Refused
from chaosgate.loadgen.trace import PhaseClock
from chaosgate.model.blocks import make_blocks
from chaosgate.model.fault import ClusterTarget
from chaosgate.model.load import load_spec
from chaosgate.model.result import Endpoint, SecretRef, Subject
from chaosgate.model.spec import ChaosSpec

OWN = ClusterTarget(namespace="chaos", labels={"chaosgate/run": RUN, "chaosgate/role": "engine"})
ADMIN = cast(GatewayAdmin, object())


def endpoint(namespace: str | None = "chaos") -> Endpoint:
    subject = Subject(model="m", engine="e")
    place: dict[str, Any] = {"namespace": namespace, "target": OWN if namespace else None}
    return Endpoint(url="u", admin="a", token=SecretRef(file="t"), upstream="s", subject=subject, **place)


def spec_of(kind: str, **fields: Any) -> ChaosSpec:
    return stream_spec(faults=(cluster_fault(kind, **fields).to_json(),), fits=(), objectives=OBJECTIVES[3:])


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    found = FakeCluster("chaos", engine_pod("a"), engine_pod("b"), engine_deployment(), node("n0"))
    found.objects["/api/v1/namespaces/chaos"]["metadata"]["labels"] = {"chaosgate/allowed": "true"}
    monkeypatch.setattr(on_cluster, "open_cluster", lambda: found)
    monkeypatch.setattr(on_cluster, "record_seal", lambda run, spec, *, clean: (None, []))
    return found


# who switches and who watches


def test_on_one_machine_and_without_faults_of_the_cluster_the_gateway_switches_alone(
    cluster: FakeCluster, tmp_path: Path
) -> None:
    wire, spec = load_spec(write_spec(tmp_path)), spec_of("pod.delete")
    (block,) = make_blocks(wire)

    assert inject.switch_of(RUN, spec, block, endpoint(None), ADMIN) is ADMIN
    assert inject.switch_of(RUN, wire, block, endpoint(), ADMIN) is ADMIN
    assert inject.why_unsafe(ADMIN, block) is None
    assert on_cluster.watches(wire, endpoint()) == []


def test_on_a_cluster_its_faults_are_held_against_the_rules_of_safety(cluster: FakeCluster) -> None:
    spec = spec_of("pod.delete")
    (block,) = make_blocks(spec)
    switch = inject.switch_of(RUN, spec, block, endpoint(), ADMIN)

    assert isinstance(switch, ClusterSwitch)
    assert inject.why_unsafe(switch, block) is None
    cluster.put(engine_pod("a", ready=False), engine_pod("b", ready=False))
    assert "safety.minHealthy wants 1" in str(inject.why_unsafe(switch, block))


class Refusing:
    """A switch that refuses every window after the second."""

    async def timeline(self, phase: str) -> list[Any]:
        return [type("Started", (), {"event": "started"})]

    async def on(self, fault: str, dose: float, window: int, ttl: float) -> float:
        if window < 2:
            return 10.0
        raise Refused(f"window {window} of mine was not begun: too many")

    async def off(self, fault: str) -> tuple[float, int]:
        return 11.0, 0

    async def post(self, event: str, **fields: object) -> float:
        return 0.0

    async def halted(self) -> str | None:
        return None


async def test_a_refused_window_declines_the_rest_of_the_sweep() -> None:
    fault = cluster_fault("pod.delete")
    short = fault.model_copy(update={"dose": fault.dose.model_copy(update={"hold": 0.01, "washout": 0.0})})
    spec = stream_spec(faults=(short.to_json(),), fits=(), objectives=OBJECTIVES[3:])
    (block,) = make_blocks(spec)

    found = await inject.sweep(cast(Any, Refusing()), spec, block, 1.0)

    assert (found.status.status, found.status.reason) == ("declined", "window 2 of mine was not begun: too many")
    assert [window.window for window in found.windows] == [0, 1]


@pytest.fixture
def phase(tmp_path: Path) -> Phase:
    return Phase(load_spec(write_spec(tmp_path)), endpoint(), "block1", 1.0)


async def test_gauges_of_a_target_are_kept_and_a_gap_is_noted_once(
    phase: Phase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers: Iterator[Any] = iter(
        [{"k8s:mine:ready": 2.0}, ClusterError("it is away"), ClusterError("it is away"), {"k8s:mine:ready": 1.0}]
    )

    def read() -> dict[str, float]:
        answer = next(answers, GatewayError("the test is over"))
        if isinstance(answer, Exception):
            raise answer
        return cast(dict[str, float], answer)

    monkeypatch.setattr(watching, "EVERY", 0.0)
    log = GaugeLog("block1", PhaseClock(), 100.0)
    with pytest.raises(GatewayError, match="the test is over"):
        await GaugeWatch(phase.spec, phase.endpoint, log).target("k8s:mine:*", read)

    kept = [(gauge.name, gauge.value, gauge.reason) for gauge in log.readings]
    assert kept == [
        ("k8s:mine:ready", 2.0, None),
        ("k8s:mine:*", None, "it is away"),
        ("k8s:mine:ready", 1.0, None),
    ]
    assert all(gauge.at >= 100.0 for gauge in log.readings)
    assert [heard(line) for line in capsys.readouterr().out.splitlines()] == [
        {"event": "note", "phase": "block1", "text": "no reading of k8s:mine:*: it is away"}
    ]


def test_a_run_of_this_machine_has_no_targets_to_watch(phase: Phase) -> None:
    assert GaugeWatch(phase.spec, endpoint(None), GaugeLog("block1", PhaseClock(), 0.0)).targets() == []


# who undoes


def marker(text: str) -> dict[str, Any]:
    return {"kind": "ConfigMap", "metadata": {"name": f"{RUN}-run"}, "data": {"spec.json": text}}


def marked(spec: ChaosSpec) -> dict[str, Any]:
    return marker(document_text(SPEC, spec_identity(spec), spec))


def test_cleanup_finds_by_the_run_id_what_faults_changed_and_restores_it(cluster: FakeCluster) -> None:
    note = Note(run=RUN, fault="mine", change="scale", before={"replicas": 2}, put={"replicas": 1})
    cluster.put(marked(spec_of("deployment.replica-loss")))
    cluster.patch("Deployment", "engine", {"metadata": note.marked(), "spec": {"replicas": 1}})

    cleanup, _ = on_cluster.clean_up(RUN)

    assert cleanup.clean
    assert "scaled Deployment engine back to 2 replicas" in cleanup.actions
    assert (cluster.get("Deployment", "engine") or {})["spec"]["replicas"] == 2
    assert cluster.get("ConfigMap", f"{RUN}-run") is None


def test_a_change_that_cannot_be_undone_leaves_the_run_unclean_and_marked(cluster: FakeCluster) -> None:
    note = Note(run=RUN, fault="mine", change="scale", before={"replicas": 2}, put={"replicas": 1})
    cluster.put(marked(spec_of("deployment.replica-loss")))
    cluster.patch("Deployment", "engine", {"metadata": note.marked(), "spec": {"replicas": 1}})
    cluster.forbidden.add(("patch", "deployments"))

    cleanup, _ = on_cluster.clean_up(RUN)

    assert (cleanup.clean, cleanup.exit_code) == (False, 4)
    assert "deployments/engine: refused with 403" in cleanup.left[0]
    assert cluster.get("ConfigMap", f"{RUN}-run") is not None


def test_nodes_are_looked_at_only_where_a_fault_may_have_changed_one(cluster: FakeCluster) -> None:
    assert on_cluster.changed_places(cluster, spec_of("node.cordon")) == (Place("Node", ""),)
    assert on_cluster.changed_places(cluster, spec_of("pod.delete")) == ()
    assert on_cluster.changed_places(cluster, spec_of("net.policy-block", target={"labels": {"a": "b"}})) == (
        Place("NetworkPolicy", "chaos"),
        Place("Pod", "chaos"),
    )
    elsewhere = {"labels": {"app": "llm"}, "namespace": "serving"}
    assert on_cluster.changed_places(cluster, spec_of("pod.cpu-limit", target=elsewhere)) == (Place("Pod", "serving"),)


def test_without_a_spec_only_the_runs_own_namespace_can_be_looked_at(cluster: FakeCluster) -> None:
    assert {place.namespace for place in on_cluster.changed_places(cluster, None)} == {"chaos"}


def test_a_marker_that_cannot_be_read_leaves_the_rest_unproved(cluster: FakeCluster) -> None:
    cluster.put(marker("{"))

    cleanup, digest = on_cluster.clean_up(RUN)

    assert (cleanup.clean, digest) == (False, "unknown")
    assert cleanup.left == (
        f"the spec in ConfigMap {RUN}-run cannot be read, so that what faults changed outside of namespace chaos is "
        f"unknown; look for the label chaosgate/hit={RUN}, then delete the ConfigMap",
    )
