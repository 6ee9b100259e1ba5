"""Each fault of the cluster on a real one: what it does, who else sees it, and that it is undone; then whole runs."""

from __future__ import annotations

import asyncio
import itertools
import json
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from cluster_rig import Command, Finished, Ground, Run, Submit
from cluster_targets import cluster_fault
from simulated_run import OBJECTIVES, stream_spec

from chaosgate.cluster.api import Cluster, open_cluster
from chaosgate.cluster.command import run_command
from chaosgate.cluster.names import hit_selector
from chaosgate.cluster.targets import enforced, find_pods, is_ready
from chaosgate.deploy.cluster.rbac import rbac_manifests
from chaosgate.inject.cluster.switch import ClusterSwitch
from chaosgate.inject.sweep import Refused
from chaosgate.loadgen.cluster_gauges import TargetWatch
from chaosgate.model.fault import ClusterFault, ClusterTarget
from chaosgate.model.load import load_spec
from chaosgate.model.observation import TimelineEvent

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

LABELS = {"app": "llm", "chaos-injectable": "true"}
ENGINE = ["python", "-P", "-m", "chaosgate.engine", "--host", "0.0.0.0", "--port", "8000", "--lifetime", "900"]
RUN_SPEC = """\
apiVersion: chaosgate/v1
kind: ChaosSpec
metadata: {{name: faults}}
spec:
  target: {target}
  workload:
    arrivals: {{process: constant, rate: 20/s}}
    prompts: {{set: recall-24}}
    maxTokens: 4
    warmup: 500ms
    timeout: 2s
    seed: 5
  steadyState:
    windows: 3
    hold: 1s
    objectives: [{{sli: error-rate, bound: "<= 20 %"}}]
  faults:
{faults}
  objectives: [{{name: up, sli: error-rate, bound: "<= 60 %", at: {{dose: all}}, fault: {first}}}]
  safety: {safety}
  tracking: {{experiment: chaosgate/tests}}
"""
OWN_TARGET = "{engine: embedded, model: embedded/tiny, replicas: 2}"
EXISTING = "{engine: endpoint, model: embedded/tiny, kubernetes: {deployment: llm, port: 8000}}"
_WINDOWS = itertools.count()


class Clock:
    """A gateway that only tells the time."""

    async def on(self, fault: str, dose: float, window: int, ttl: float) -> float:
        return asyncio.get_running_loop().time()

    async def off(self, fault: str) -> tuple[float, int]:
        return asyncio.get_running_loop().time(), 0

    async def post(self, event: str, **fields: object) -> float:
        return asyncio.get_running_loop().time()

    async def timeline(self, phase: str) -> list[TimelineEvent]:
        return []

    async def halted(self) -> str | None:
        return None


@dataclass(frozen=True)
class Served:
    """Two replicas of the engine in a namespace, which a run did not start."""

    ground: Ground
    cluster: Cluster
    namespace: str
    run: str

    @property
    def target(self) -> ClusterTarget:
        """Its pods."""
        return ClusterTarget(namespace=self.namespace, labels={"app": "llm"})

    def pods(self) -> list[dict[str, Any]]:
        """Those that run and stay."""
        return find_pods(self.cluster, self.target)

    def whole(self) -> bool:
        """Whether both replicas are there and ready."""
        pods = self.pods()
        return len(pods) == 2 and all(map(is_ready, pods))

    def untouched(self) -> bool:
        """Whether no object carries the note of the run any more."""
        kinds = ("Pod", "Deployment", "Node", "NetworkPolicy")
        return not any(self.cluster.select(kind, hit_selector(self.run)) for kind in kinds)

    @asynccontextmanager
    async def hit(self, fault: ClusterFault, dose: float) -> AsyncIterator[TargetWatch]:
        """One window of `fault`, with who watches its target; afterwards the target is whole and nothing is left."""
        self.ground.eventually(self.whole, "two ready replicas", 90)
        spec = stream_spec(faults=(fault.to_json(),), fits=(), objectives=OBJECTIVES[3:])
        switch = ClusterSwitch(Clock(), self.cluster, self.run, spec, "block1", self.target, lambda fault, changes: [])
        watch = TargetWatch(self.cluster, fault, self.target)
        watch.read()
        await switch.on(fault.name, dose, next(_WINDOWS), 5.0)
        try:
            yield watch
        finally:
            _, applied = await switch.off(fault.name)
        assert applied == 1
        assert self.untouched()
        self.ground.eventually(self.whole, "two ready replicas", 90)

    def gauge(self, watch: TargetWatch, name: str, wanted: Callable[[float], bool]) -> float:
        """A gauge once it is as wanted."""
        seen: list[float] = []

        def reads() -> bool:
            seen.append(watch.read()[f"k8s:mine:{name}"])
            return wanted(seen[-1])

        self.ground.eventually(reads, f"the gauge {name} as wanted", 30)
        return seen[-1]


def deployment(image: str) -> dict[str, Any]:
    """The engine, with limits that can be cut."""
    container = {
        "name": "engine",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ENGINE,
        "readinessProbe": {"tcpSocket": {"port": 8000}, "periodSeconds": 1},
        "resources": {
            "requests": {"cpu": "50m", "memory": "128Mi"},
            "limits": {"cpu": "1", "memory": "512Mi"},
        },
    }
    template = {
        "metadata": {"labels": LABELS},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 1, "automountServiceAccountToken": False},
    }
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "llm"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "llm"}, "spec": spec}


@pytest.fixture
def served(cluster: Ground, namespace: str, chaosgate: Command, monkeypatch: pytest.MonkeyPatch) -> Served:
    """The engine as somebody else serves it."""
    monkeypatch.setenv("KUBECONFIG", chaosgate.env["KUBECONFIG"])
    made = deployment(cluster.image)
    made["metadata"]["namespace"] = namespace
    cluster.api.apply(made)
    return Served(cluster, open_cluster(namespace), namespace, f"faults-{secrets.token_hex(3)}")


async def test_pod_delete_takes_a_pod_and_its_owner_makes_another(served: Served) -> None:
    async with served.hit(cluster_fault("pod.delete", grace=0), 1) as watch:
        assert watch.read()["k8s:mine:lost"] == 1
        served.gauge(watch, "ready", lambda ready: ready == 2)


async def test_container_kill_ends_the_server_and_the_kubelet_starts_it_again(served: Served) -> None:
    before = {pod["metadata"]["uid"] for pod in served.pods()}
    async with served.hit(cluster_fault("container.kill"), 1) as watch:
        served.gauge(watch, "deaths", lambda deaths: deaths == 1)
        served.gauge(watch, "ready", lambda ready: ready == 2)
    assert {pod["metadata"]["uid"] for pod in served.pods()} >= before


@pytest.mark.parametrize(
    ("kind", "resource", "limit"), [("pod.cpu-limit", "cpu", 1.0), ("pod.memory-limit", "memory", 2.0**29)]
)
async def test_a_limit_is_cut_in_place_and_given_back(served: Served, kind: str, resource: Any, limit: float) -> None:
    async with served.hit(cluster_fault(kind, share="50 %"), 0.5) as watch:
        assert served.gauge(watch, resource, lambda share: share < 1) == pytest.approx(0.75)
        in_force = sorted(enforced(pod, "engine")[resource] for pod in served.pods())
        assert in_force == [limit / 2, limit]
        assert watch.read()["k8s:mine:lost"] == 0
    assert [enforced(pod, "engine")[resource] for pod in served.pods()] == [limit, limit]


async def test_deployment_replica_loss_takes_a_replica_and_gives_it_back(served: Served) -> None:
    async with served.hit(cluster_fault("deployment.replica-loss"), 1) as watch:
        served.gauge(watch, "ready", lambda ready: ready == 1)
        assert watch.read()["k8s:mine:replicas"] == 1


async def test_what_somebody_else_scaled_meanwhile_is_left_alone(served: Served) -> None:
    async with served.hit(cluster_fault("deployment.replica-loss"), 1):
        served.cluster.patch("Deployment", "llm", {"spec": {"replicas": 2}})
        served.ground.eventually(served.whole, "two ready replicas", 90)


@pytest.mark.parametrize(("kind", "gauge"), [("node.cordon", "unschedulable"), ("node.taint", "tainted")])
async def test_a_closed_node_moves_nobody_and_is_opened_again(served: Served, kind: str, gauge: str) -> None:
    async with served.hit(cluster_fault(kind), 1) as watch:
        found = watch.read()
        assert (found[f"k8s:mine:{gauge}"], found["k8s:mine:lost"], found["k8s:mine:ready"]) == (1, 0, 2)


async def test_a_taint_that_would_evict_the_run_itself_is_refused(served: Served) -> None:
    bystander = {**deployment(served.ground.image), "metadata": {"name": "gateway", "namespace": served.namespace}}
    labels = {"matchLabels": {"app": "gateway"}}
    bystander["spec"] = {**bystander["spec"], "replicas": 1, "selector": labels}
    bystander["spec"]["template"]["metadata"]["labels"] = labels["matchLabels"]
    served.ground.api.apply(bystander)
    served.ground.eventually(
        lambda: find_pods(served.cluster, ClusterTarget(labels={"app": "gateway"})), "another pod on the node", 60
    )
    with pytest.raises(Refused, match=r"a NoExecute taint on node .* would evict 1 other pods of the run's namespace"):
        async with served.hit(cluster_fault("node.taint", effect="NoExecute"), 1):
            pass


async def test_net_policy_block_makes_a_policy_for_one_pod_and_removes_it(served: Served) -> None:
    async with served.hit(cluster_fault("net.policy-block"), 1):
        (policy,) = served.cluster.select("NetworkPolicy", f"chaosgate/run={served.run}")
        assert len(served.cluster.select("Pod", hit_selector(served.run))) == 1
        assert policy["spec"]["podSelector"]["matchLabels"] == {"chaosgate/hit": served.run}
    assert served.cluster.select("NetworkPolicy", f"chaosgate/run={served.run}") == []


@pytest.fixture
def start(cluster: Ground, namespace: str, submit: Submit, tmp_path: Path) -> Callable[..., Run]:
    """`start(target, *faults)` submits a run of these faults, whose account may do what `chaosgate rbac` prints."""

    def started(target: str, *faults: str, safety: str = "{sweepAfter: 5s}") -> Run:
        lines, first = "\n".join(f"    - {fault}" for fault in faults), yaml.safe_load(faults[0])["name"]
        file = tmp_path / "faults.yaml"
        file.write_text(RUN_SPEC.format(target=target, faults=lines, first=first, safety=safety))
        for document in rbac_manifests(load_spec(file), namespace):
            cluster.api.apply(document)
        run: Run = submit(file)
        return run

    return started


def reasons(finished: Finished, folder: Path) -> dict[str, list[str]]:
    """The reasons of the verdict, by what they say of it."""
    found: dict[str, list[str]] = {}
    for reason in finished.verdict(folder).reasons:
        found.setdefault(reason.verdict, []).append(reason.text)
    return found


@pytest.mark.thorough
def test_a_pod_lost_under_load_is_seen_to_go_and_to_come_back(start: Callable[..., Run], tmp_path: Path) -> None:
    dose = "{parameter: pods, values: [1], hold: 4s, washout: 2s}"
    finished = start(OWN_TARGET, f"{{name: lost-pod, kind: pod.delete, grace: 0, dose: {dose}}}").wait()

    said = reasons(finished, tmp_path)
    seen = (
        "lost-pod came and went: the number of pods lost in a window was 0 before, 1 during and 0 after it (3 objects"
    )
    assert any(text.startswith(seen) for text in said.get("pass", ())), said
    assert finished.seal(tmp_path).clean


def test_where_a_cluster_gives_no_effect_the_run_says_so_and_does_not_pass(
    start: Callable[..., Run], node_that_may_be_hit: str, tmp_path: Path
) -> None:
    """Policies that nobody enforces, and a cordon under pods that run already."""
    windows = "values: [1], hold: 1500ms, washout: 500ms"
    overrides = [{"rule": rule, "reason": "the cluster has one node"} for rule in ("max-share", "min-healthy")]
    finished = start(
        OWN_TARGET,
        f"{{name: block, kind: net.policy-block, dose: {{parameter: pods, {windows}}}}}",
        f"{{name: cordon, kind: node.cordon, dose: {{parameter: nodes, {windows}}}}}",
        safety=json.dumps({"overrides": overrides}),
    ).wait()

    assert finished.verdict(tmp_path).verdict == "inconclusive"
    said = " ".join(reasons(finished, tmp_path).get("inconclusive", ()))
    assert "block was not seen by the client: the share of failed requests went from " in said
    assert "expected; a network plug-in that enforces no NetworkPolicy gives no effect" in said
    assert "cordon was not seen at the API server: the number of pods lost in a window went from 0 to 0" in said
    assert "expected; pods that run already stay: write `evict: true`" in said
    assert finished.seal(tmp_path).clean


@pytest.fixture
def node_that_may_be_hit(cluster: Ground, namespace: str) -> Iterator[str]:
    """The first node, whose owner allows faults for a while."""
    name = (cluster.api.get("/api/v1/nodes") or {})["items"][0]["metadata"]["name"]
    path, label = f"/api/v1/nodes/{name}", "chaos-injectable"
    cluster.api.patch(path, {"metadata": {"labels": {label: "true"}}})
    yield name
    cluster.api.patch(path, {"metadata": {"labels": {label: None}}})


@pytest.mark.thorough
def test_an_injector_that_dies_in_a_window_leaves_nothing_behind(
    start: Callable[..., Run], served: Served, tmp_path: Path
) -> None:
    served.ground.eventually(served.whole, "two ready replicas", 90)
    dose = "{parameter: cut, values: [50 %], hold: 20s, washout: 1s}"
    run = start(EXISTING, f"{{name: cut, kind: pod.cpu-limit, share: 50 %, dose: {dose}}}")

    def in_force() -> list[float]:
        return sorted(enforced(pod, "engine")["cpu"] for pod in served.pods())

    served.ground.eventually(lambda: in_force() == [0.5, 1.0], "a limit that is cut")
    # A pod that is deleted is asked to end, and inject undoes its fault then; so its process is killed.
    run_command(served.cluster, run.pod("block1-inject")["metadata"]["name"], "main", ("sh", "-c", "kill -KILL -1"))
    finished = run.wait()

    assert finished.phase == "Failed"
    seal = finished.seal(tmp_path)
    assert seal.clean
    assert any(action.startswith("gave back the cpu limit of pod llm-") for action in seal.actions)
    assert in_force() == [1.0, 1.0]
    assert not served.cluster.select("Pod", hit_selector(run.run))
