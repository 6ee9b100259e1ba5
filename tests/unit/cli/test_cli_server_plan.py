"""`plan --dry-run=server` on the command line: what it prints, and when it ends with 0."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from cluster_drills import EMBEDDED, LOST, SERVICE, SLOW, drill, drill_text, fault
from fake_cluster import FakeCluster, namespace, node, pod

from chaosgate.cli import server_plan
from chaosgate.cli.main import chaosgate
from chaosgate.cli.server_plan import pods_at_peak
from chaosgate.model.carrier import Carrier

ALLOWED = {"chaosgate/allowed": "true"}
WEB = {"app": "vllm", "chaos-injectable": "true"}
TWO = "{overrides: [{rule: max-pods, reason: both go at once in a node failure}]}"


def image_on(name: str) -> dict[str, object]:
    found = node(name, **{"chaos-injectable": "true"})
    found["status"]["images"] = [{"names": [Carrier().image]}]
    return found


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    """A cluster that has all that a run on an existing server needs."""
    found = FakeCluster(
        "chaos",
        namespace("chaos", **ALLOWED),
        namespace("models", **ALLOWED),
        {"kind": "ServiceAccount", "metadata": {"name": "chaosgate"}},
        {"kind": "Secret", "metadata": {"name": "chaosgate-gateway"}, "data": {"key": "eA=="}},
        {
            "kind": "Service",
            "metadata": {"name": "vllm", "namespace": "models"},
            "spec": {"ports": [{"port": 8000}], "selector": {"app": "vllm"}},
        },
        *(pod(f"vllm-{index}", "models", node=f"node-{index}", **WEB) for index in range(2)),
        *(image_on(f"node-{index}") for index in range(2)),
    )
    monkeypatch.setattr(server_plan, "open_cluster", lambda place: found)
    return found


def call(folder: Path, *words: str, faults: tuple[str, ...] = (LOST,), safety: str = "{}") -> Result:
    file = folder / "drill.yaml"
    file.write_text(drill_text(faults, SERVICE, safety))
    return CliRunner().invoke(chaosgate, ["plan", str(file), "--dry-run=server", *words])


def test_a_run_that_may_be_started(cluster: FakeCluster, tmp_path: Path) -> None:
    done = call(tmp_path)
    lines = done.stdout.splitlines()

    assert done.exit_code == 0, done.output
    assert lines[0].endswith("on https://fake.invalid:6443, Kubernetes v1.34.4, namespace chaos")
    assert "  ok       namespace  models allows faults (chaosgate/allowed=true)" in lines
    assert lines[lines.index("what would be hit") :] == [
        "what would be hit",
        "  pod-delete (pod.delete): pods with app=vllm in namespace models",
        f"    {'vllm-0':<48} {'node-0':<24} ready",
        f"    {'vllm-1':<48} {'node-1':<24} ready",
        "    dose 1: 1 of 2 pods at once: vllm-0, vllm-1",
        "",
        "a run may be started",
    ]
    assert cluster.calls == []


def test_what_is_missing_is_seen_and_ends_with_3(cluster: FakeCluster, tmp_path: Path) -> None:
    cluster.put(namespace("models"))
    done = call(tmp_path)

    assert done.exit_code == 3
    assert "  MISSING  namespace  models does not allow faults; who answers for it allows them" in done.stdout
    assert "    refused: namespace-opt-in: namespace models has no label chaosgate/allowed;" in done.stdout
    assert done.stdout.endswith("\na run would not get through: see MISSING and refused above\n")


def test_doses_that_are_refused_and_rules_that_are_overridden(cluster: FakeCluster, tmp_path: Path) -> None:
    done = call(tmp_path, faults=(fault("pod.delete", values="[1, 2]"),), safety=TWO)
    lines = done.stdout.splitlines()

    assert done.exit_code == 3
    assert "    dose 2: 2 of 2 pods at once: vllm-0, vllm-1: REFUSED" in lines
    assert "      overridden: max-pods: 2 pods would be hit at once; safety.maxPods allows 1" in done.stdout
    assert any(line.startswith("      refused: max-share: 2 of 2 pods would be hit at once") for line in lines)
    assert lines[-3].split(maxsplit=1) == ["max-pods", "both go at once in a node failure"]


def test_the_injectors_own_objections_are_heard(cluster: FakeCluster, tmp_path: Path) -> None:
    closed = image_on("node-0")
    closed["spec"] = {"unschedulable": True}
    cluster.put(closed)
    done = call(tmp_path, faults=(fault("node.cordon", "nodes", "[2]"),), safety="{maxPods: 2, maxShare: 100 %}")

    assert done.exit_code == 3
    assert "refused: node-cordon: node node-0 is cordoned already, by somebody else" in done.stdout


def test_the_same_for_machines(cluster: FakeCluster, tmp_path: Path) -> None:
    done = call(tmp_path, "-o", "json")
    found = json.loads(done.stdout)

    assert done.exit_code == 0
    assert (found["ready"], found["namespace"], found["version"]) == (True, "chaos", "v1.34.4")
    assert found["faults"][0]["doses"][0]["allowed"] is True


def test_the_namespace_is_the_options_then_the_profiles(
    cluster: FakeCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str | None] = []
    monkeypatch.setattr(server_plan, "open_cluster", lambda place: asked.append(place) or cluster)
    profile = tmp_path / "profile.yaml"
    profile.write_text(
        "apiVersion: chaosgate/v1\nkind: ChaosProfile\nmetadata: {name: p}\nspec: {carrier: {namespace: drills}}\n"
    )
    call(tmp_path)
    call(tmp_path, "--profile", str(profile))
    call(tmp_path, "--profile", str(profile), "--namespace", "chaos")

    assert asked == [None, "drills", "chaos"]


def test_faults_of_the_wire_hit_no_object(cluster: FakeCluster, tmp_path: Path) -> None:
    done = call(tmp_path, faults=(SLOW,))

    assert done.exit_code == 0
    assert "  no object of the cluster: the faults act on the run's own requests" in done.stdout


def test_what_is_about_a_cluster_goes_with_a_look_at_one(tmp_path: Path) -> None:
    file = tmp_path / "drill.yaml"
    file.write_text(drill_text([SLOW], EMBEDDED))
    done = CliRunner().invoke(chaosgate, ["plan", str(file), "--namespace", "chaos"])

    assert done.exit_code == 2
    assert done.stderr == "--namespace: is about a cluster; give --dry-run=server with it, or leave it out\n"


def test_a_plan_without_a_cluster_shows_what_is_overridden(tmp_path: Path) -> None:
    file = tmp_path / "drill.yaml"
    file.write_text(drill_text([LOST], SERVICE, TWO))
    text = CliRunner().invoke(chaosgate, ["plan", str(file)]).stdout
    data = json.loads(CliRunner().invoke(chaosgate, ["plan", str(file), "-o", "json"]).stdout)

    assert text.endswith("rules of safety that do not hold\n  max-pods             both go at once in a node failure\n")
    assert data["overrides"] == [{"rule": "max-pods", "reason": "both go at once in a node failure"}]


def test_the_peak_of_a_run() -> None:
    embedded = pods_at_peak(drill(LOST, target=EMBEDDED), Carrier())

    assert [(one.what, one.count) for one in embedded] == [
        ("engine", 2),
        ("gateway", 1),
        ("sweeper", 1),
        ("measure", 1),
        ("inject", 1),
    ]
    assert "engine" not in [one.what for one in pods_at_peak(drill(LOST, target=SERVICE), Carrier())]
    greedy = Carrier.model_validate({"resources": {"conclude": {"cpu": "4"}}})
    assert [one.what for one in pods_at_peak(drill(LOST), greedy)][-1] == "conclude"
