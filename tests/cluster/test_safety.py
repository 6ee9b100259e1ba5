"""The rules of safety and the printed rights on a real cluster: what each refuses, and that nothing more is needed."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from cluster_drills import LOST, drill_text, fault
from cluster_rig import Command, Finished, Ground, Submit
from small_drill import eventually

from chaosgate.artifacts import RECORD
from chaosgate.cluster.api import Cluster, Forbidden, open_cluster
from chaosgate.deploy.cluster.rbac import cluster_faults
from chaosgate.deploy.cluster.ready import events
from chaosgate.deploy.cluster.safety import Guard
from chaosgate.deploy.cluster.subject import own_pods
from chaosgate.model.change import DeletePod
from chaosgate.model.load import load_spec
from chaosgate.model.profile import read_profile
from chaosgate.submit.argo import requests
from chaosgate.submit.argo.pods import pods_of
from chaosgate.submit.argo.preflight import check_cluster

pytestmark = pytest.mark.slow

WEB = {"app": "web", "chaos-injectable": "true"}
SLEEP = ["python", "-c", "import signal; signal.pause()"]
RUN_SPEC = """\
apiVersion: chaosgate/v1
kind: ChaosSpec
metadata: {{name: lost}}
spec:
  target: {{engine: embedded, model: embedded/tiny, replicas: 2}}
  workload: {{arrivals: {{process: constant, rate: 5/s}}, prompts: {{set: recall-24}}, maxTokens: 2, warmup: 500ms}}
  steadyState: {{hold: 800ms, objectives: [{{sli: error-rate, bound: "<= 20 %"}}]}}
  faults:
    - {{name: lost, kind: pod.delete, dose: {{parameter: pods, values: [1], hold: 2s, washout: 6s}}}}
  objectives: [{{name: up, sli: error-rate, bound: "<= 90 %", at: {{dose: all}}}}]
  safety: {safety}
  tracking: {{experiment: chaosgate/tests}}
"""


@dataclass(frozen=True)
class Models:
    """A namespace that allows faults, with a Service `web` in front of two pods that do nothing."""

    ground: Ground
    name: str

    @property
    def pods(self) -> list[str]:
        """The names of its pods that are not on their way out."""
        found = self.ground.api.get(f"/api/v1/namespaces/{self.name}/pods", labelSelector="app=web") or {}
        return sorted(pod["metadata"]["name"] for pod in found["items"] if is_ready(pod))

    @property
    def target(self) -> str:
        """It as the target of a spec."""
        return f"{{engine: endpoint, model: m, kubernetes: {{service: web, namespace: {self.name}, port: 8000}}}}"

    @contextmanager
    def labelled(self, path: str, label: str, value: str | None) -> Iterator[None]:
        """A label of an object is another for a while; None takes it away."""
        before = (self.ground.api.get(path) or {})["metadata"].get("labels", {}).get(label)
        self.ground.api.patch(path, {"metadata": {"labels": {label: value}}})
        try:
            yield
        finally:
            self.ground.api.patch(path, {"metadata": {"labels": {label: before}}})

    @contextmanager
    def holding(self, document: dict[str, Any], until: Callable[[dict[str, Any]], bool]) -> Iterator[None]:
        """An object is there for a while, once it is as it must be."""
        path = self.ground.api.path_of(document)
        self.ground.api.apply(document)
        try:
            eventually(lambda: until(self.ground.api.get(path) or {}), f"{path} as it must be", 60)
            yield
        finally:
            self.ground.api.delete(path)


def is_ready(pod: dict[str, Any]) -> bool:
    conditions = pod.get("status", {}).get("conditions", [])
    going = "deletionTimestamp" in pod["metadata"]
    return not going and any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


@pytest.fixture(scope="module")
def models(cluster: Ground) -> Iterator[Models]:
    """Somebody's model server, as far as a cluster can tell."""
    found = Models(cluster, f"models-{secrets.token_hex(3)}")
    for document in server(found.name, cluster.image):
        cluster.api.apply(document)
    eventually(lambda: len(found.pods) == 2, "two ready pods", 120)
    yield found
    cluster.api.delete(f"/api/v1/namespaces/{found.name}")


def server(namespace: str, image: str) -> Iterator[dict[str, Any]]:
    metadata = {"name": "web", "namespace": namespace}
    yield {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": namespace, "labels": {"chaosgate/allowed": "true"}},
    }
    container = {"name": "web", "image": image, "imagePullPolicy": "IfNotPresent", "command": SLEEP}
    yield {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": WEB},
                "spec": {"containers": [container], "terminationGracePeriodSeconds": 0},
            },
        },
    }
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 8000}]},
    }


@dataclass(frozen=True)
class Planner:
    """`plan --dry-run=server` of a spec on the pods of `models`, in a namespace with the printed rights."""

    chaosgate: Command
    models: Models
    namespace: str
    folder: Path

    def spec(self, *faults: str, safety: str = "{}") -> Path:
        """The spec's file."""
        file = self.folder / "drill.yaml"
        file.write_text(drill_text(faults or (LOST,), self.models.target, safety))
        return file

    def grant(self, spec: Path) -> None:
        """Give the account what `chaosgate rbac` prints for the spec."""
        text = self.chaosgate("rbac", spec, "--namespace", self.namespace).stdout
        for document in yaml.safe_load_all(text):
            self.models.ground.api.apply(document)

    def plan(self, *faults: str, safety: str = "{}", code: int = 0) -> dict[str, Any]:
        """What the dry run finds; it must end with `code`."""
        spec = self.spec(*faults, safety=safety)
        self.grant(spec)
        image = self.models.ground.image
        words = ("--dry-run=server", "--namespace", self.namespace, "--image", image, "-o", "json")
        found: dict[str, Any] = json.loads(self.chaosgate("plan", spec, *words, code=code).stdout)
        return found


@pytest.fixture
def planner(chaosgate: Command, models: Models, namespace: str, tmp_path: Path) -> Planner:
    """Plans on the server."""
    return Planner(chaosgate, models, namespace, tmp_path)


def refusals(found: dict[str, Any]) -> dict[str, str]:
    """Rule and sentence of what speaks against the first dose of the only fault."""
    (only,) = found["faults"]
    return {one["rule"]: one["text"] for one in only["doses"][0]["objections"] if one["overridden"] is None}


def test_the_exact_pods_are_named_and_nothing_is_changed(planner: Planner, models: Models) -> None:
    before = models.pods
    found = planner.plan()

    assert found["ready"] is True, found["findings"]
    (only,) = found["faults"]
    assert [one["name"] for one in only["candidates"]] == before
    assert all(one["ready"] and one["node"] for one in only["candidates"])
    assert set(only["doses"][0]["pods"]) <= set(before)
    assert only["doses"][0]["at_once"] == 1
    assert models.pods == before


def test_a_namespace_that_did_not_allow_it_is_refused(planner: Planner, models: Models) -> None:
    with models.labelled(f"/api/v1/namespaces/{models.name}", "chaosgate/allowed", None):
        found = planner.plan(code=3)

    assert refusals(found) == {
        "namespace-opt-in": f"namespace {models.name} has no label chaosgate/allowed; faults are injected where it is "
        f"true: who answers for it allows it with `kubectl label namespace {models.name} chaosgate/allowed=true`"
    }


def test_a_pod_that_did_not_opt_in_is_refused(planner: Planner, models: Models) -> None:
    every = fault("pod.delete", values="[2]")
    one = models.pods[0]
    with models.labelled(f"/api/v1/namespaces/{models.name}/pods/{one}", "chaos-injectable", None):
        found = planner.plan(every, safety="{maxPods: 2, maxShare: 100 %}", code=3)

    assert refusals(found).keys() == {"pod-opt-in", "min-healthy"}
    assert refusals(found)["pod-opt-in"].startswith(f"pod {one} has no label chaos-injectable; ")


def test_a_minimum_is_left_healthy(planner: Planner) -> None:
    found = planner.plan(safety="{minHealthy: 2}", code=3)

    assert refusals(found)["min-healthy"].startswith("1 ready pods of the target in namespace ")


def test_a_protected_namespace_is_refused(planner: Planner, models: Models) -> None:
    found = planner.plan(safety=f"{{protectedNamespaces: [{models.name}]}}", code=3)

    assert refusals(found).keys() == {"protected-namespace"}
    assert f"{models.name} is protected: nothing is changed there; choose another target" in json.dumps(found)


def test_what_is_protected_always_is_refused_before_any_cluster_is_asked(planner: Planner) -> None:
    file = planner.spec(fault("pod.delete", target="{namespace: kube-system, labels: {app: web}}"))
    said = planner.chaosgate("plan", file, "--dry-run=server", code=2).stderr

    assert "read 'kube-system'; nothing is changed in argo, kube-node-lease, kube-public, kube-system" in said


def test_a_budget_is_kept(planner: Planner, models: Models) -> None:
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": models.name},
        "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}},
    }
    with models.holding(budget, lambda found: found.get("status", {}).get("currentHealthy") == 2):
        found = planner.plan(code=3)
        lifted = planner.plan(safety="{overrides: [{rule: disruption-budget, reason: agreed with the team}]}")

    assert refusals(found).keys() == {"disruption-budget"}
    assert lifted["ready"] is True
    assert lifted["overrides"] == [{"rule": "disruption-budget", "reason": "agreed with the team"}]


def test_a_pod_that_another_run_works_on_is_refused(planner: Planner, models: Models) -> None:
    both = fault("pod.delete", values="[2]")
    path = f"/api/v1/namespaces/{models.name}/pods/{models.pods[0]}"
    with models.labelled(path, "chaosgate/hit", "another-run"):
        found = planner.plan(both, safety="{maxPods: 2, maxShare: 100 %}", code=3)

    assert "chaosgate/hit reads another-run" in refusals(found)["one-fault-per-target"]


def account(cluster: Ground, namespace: str, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """The cluster as the run's account sees it."""
    monkeypatch.setenv("KUBECONFIG", str(cluster.kubeconfig))
    return open_cluster(namespace).as_user(f"system:serviceaccount:{namespace}:chaosgate")


def test_the_guard_works_with_the_printed_rights_and_not_with_one_less(
    cluster: Ground, planner: Planner, models: Models, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = planner.spec()
    planner.grant(file)
    spec = load_spec(file)
    eyes = account(cluster, namespace, monkeypatch)
    guard = Guard(eyes, spec, "a-run", own_pods(eyes, spec, "a-run"))
    deletion = [DeletePod(models.pods[0], "uid", None)]

    assert guard.check(cluster_faults(spec)[0], deletion) == []
    take(cluster, models.name, f"chaosgate-{namespace}", "poddisruptionbudgets", "list")

    def refused() -> str | None:
        try:
            guard.check(cluster_faults(spec)[0], deletion)
        except Forbidden as error:
            return str(error)
        return None

    said = eventually(refused, "a refusal", 30)
    assert "poddisruptionbudgets.policy is forbidden" in said
    assert said.endswith("`chaosgate rbac SPEC` prints what is needed")


def take(cluster: Ground, namespace: str, role: str, resource: str, verb: str) -> None:
    """Take one verb on one resource out of a role."""
    path = cluster.api.path("rbac.authorization.k8s.io/v1", "Role", namespace, role)
    rules = (cluster.api.get(path) or {})["rules"]
    for one in [one for one in rules if resource in one["resources"]]:
        one["resources"].remove(resource)
        rules.append({**one, "resources": [resource], "verbs": [word for word in one["verbs"] if word != verb]})
    cluster.api.patch(path, {"rules": [one for one in rules if one["resources"] and one["verbs"]]})


def test_who_submits_gets_along_with_the_printed_rights(
    cluster: Ground, namespace: str, profile: Path, chaosgate: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = lost(tmp_path)
    rights = chaosgate("rbac", spec, "--namespace", namespace, "--submitter", "alice").stdout
    for document in yaml.safe_load_all(rights):
        cluster.api.apply(document)
    text = chaosgate("compile", spec, "--to", "argo", "--profile", profile).stdout
    monkeypatch.setenv("KUBECONFIG", str(cluster.kubeconfig))
    alice = open_cluster(namespace).as_user("alice")

    check_cluster(alice, read_profile(profile).carrier)
    requests.submit(alice, text, "by-alice")
    assert [one.run for one in requests.list_workflows(alice)] == ["by-alice"]
    pods = eventually(lambda: pods_of(alice, "by-alice"), "the pod of a step", 60)
    assert all(list(events(alice, pod["metadata"]["name"])) == [] for pod in pods.values())
    requests.shut_down(alice, "by-alice", "Terminate")
    with pytest.raises(Forbidden, match=r'User "alice" cannot delete resource "workflows"'):
        alice.delete("Workflow", "by-alice")
    cluster.api.delete(cluster.api.path("argoproj.io/v1alpha1", "Workflow", namespace, "by-alice"))


def lost(folder: Path, safety: str = "{}") -> Path:
    """A drill that deletes one of two replicas."""
    file = folder / "lost.yaml"
    file.write_text(RUN_SPEC.format(safety=safety))
    return file


def reasons(done: Finished, folder: Path) -> str:
    return " | ".join(reason.text for reason in done.verdict(folder).reasons)


@pytest.mark.timeout(600)
def test_a_run_gets_along_with_the_printed_rights(submit: Submit, tmp_path: Path) -> None:
    done = submit(lost(tmp_path)).wait()

    assert done.verdict(tmp_path).verdict != "error"
    assert "lost came and went" in reasons(done, tmp_path)
    assert done.seal(tmp_path).clean
    subject = done.verdict(tmp_path).subject
    assert subject is not None
    assert str(subject.image_digest).startswith("sha256:")


@pytest.mark.timeout(600)
@pytest.mark.thorough
@pytest.mark.parametrize(("resource", "verb"), [("deployments", "create"), ("poddisruptionbudgets", "list")])
def test_a_run_that_lacks_one_right_says_how_to_get_it(
    resource: str, verb: str, cluster: Ground, namespace: str, submit: Submit, tmp_path: Path
) -> None:
    done = submit(lost(tmp_path), lambda workflow: take(cluster, namespace, "chaosgate", resource, verb)).wait()

    assert done.verdict(tmp_path).verdict not in ("pass", "warn")
    assert f"{resource}." in reasons(done, tmp_path)
    assert "`chaosgate rbac SPEC` prints what is needed" in reasons(done, tmp_path)
    assert done.seal(tmp_path).clean


@pytest.mark.timeout(600)
@pytest.mark.thorough
def test_a_run_hits_nothing_where_nobody_allowed_it_and_its_overrides_are_recorded(
    cluster: Ground, namespace: str, submit: Submit, tmp_path: Path
) -> None:
    spec = lost(tmp_path, "{overrides: [{rule: max-share, reason: it is a drill}]}")
    cluster.api.patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": {"chaosgate/allowed": None}}})
    done = submit(spec).wait()

    assert done.verdict(tmp_path).verdict == "inconclusive"
    assert f"namespace {namespace} has no label chaosgate/allowed" in reasons(done, tmp_path)
    record = done.document("conclude", RECORD, tmp_path)
    assert [(one.rule, one.reason) for one in record.overrides] == [("max-share", "it is a drill")]
