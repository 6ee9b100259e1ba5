"""A server that runs already on the cluster: reached by its Service or Deployment, hit there, and left as it was."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cluster_rig import Finished, Ground, Submit
from small_drill import eventually

pytestmark = pytest.mark.slow

SERVE = ["python", "-P", "-m", "chaosgate.engine", "--host", "0.0.0.0", "--port", "8000", "--model", "embedded/tiny"]
SPEC = """\
apiVersion: chaosgate/v1
kind: ChaosSpec
metadata: {{name: existing}}
spec:
  target: {{engine: endpoint, model: embedded/tiny, kubernetes: {target}}}
  workload: {{arrivals: {{process: constant, rate: 5/s}}, prompts: {{set: recall-24}}, maxTokens: 2, warmup: 500ms}}
  steadyState: {{hold: 800ms, objectives: [{{sli: error-rate, bound: "<= 20 %"}}]}}
  faults:
    - {fault}
  objectives: [{{name: up, sli: error-rate, bound: "<= 90 %", at: {{dose: all}}}}]
  tracking: {{experiment: chaosgate/tests}}
"""
LOST = "{name: hit, kind: pod.delete, dose: {parameter: pods, values: [1], hold: 2s, washout: 6s}}"
SLOW = "{name: hit, kind: wire.latency, dose: {parameter: delay, values: [200ms], hold: 1s, washout: 200ms}}"


@dataclass(frozen=True)
class Served:
    """A model server of two replicas as a team has one: Deployment and Service."""

    ground: Ground
    namespace: str

    def pods(self) -> list[dict[str, Any]]:
        """Its pods that take requests."""
        found = self.ground.api.get(f"/api/v1/namespaces/{self.namespace}/pods", labelSelector="app=llm") or {}
        return [pod for pod in found.get("items", []) if is_ready(pod)]

    def bring_up(self, *, service: bool) -> None:
        """Make it and wait until it serves."""
        for document in objects(self.namespace, self.ground.image, service=service):
            self.ground.api.apply(document)
        eventually(lambda: len(self.pods()) == 2, "two ready pods", 120)


def is_ready(pod: dict[str, Any]) -> bool:
    conditions = pod.get("status", {}).get("conditions", [])
    going = "deletionTimestamp" in pod["metadata"]
    return not going and any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def objects(namespace: str, image: str, *, service: bool) -> Iterator[dict[str, Any]]:
    metadata = {"name": "llm", "namespace": namespace}
    labels = {"app": "llm", "chaos-injectable": "true"}
    container = {
        "name": "engine",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": SERVE,
        "readinessProbe": {"tcpSocket": {"port": 8000}, "periodSeconds": 1},
    }
    yield {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "llm"}},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }
    if service:
        spec = {"selector": {"app": "llm"}, "ports": [{"port": 80, "targetPort": 8000}]}
        yield {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


@pytest.fixture
def models(cluster: Ground) -> Iterator[str]:
    """Somebody's namespace, which allows faults."""
    name = f"models-{secrets.token_hex(3)}"
    labels = {"chaosgate/allowed": "true"}
    cluster.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    yield name
    cluster.api.delete(f"/api/v1/namespaces/{name}")


def write(folder: Path, target: str, fault: str) -> Path:
    """The spec's file."""
    file = folder / "existing.yaml"
    file.write_text(SPEC.format(target=target, fault=fault))
    return file


def said(done: Finished, folder: Path) -> str:
    return " | ".join(reason.text for reason in done.verdict(folder).reasons)


@pytest.mark.timeout(600)
@pytest.mark.thorough
def test_pods_behind_a_service_of_another_namespace_are_hit_there(
    cluster: Ground, models: str, submit: Submit, tmp_path: Path
) -> None:
    served = Served(cluster, models)
    served.bring_up(service=True)
    before = {pod["metadata"]["uid"] for pod in served.pods()}
    done = submit(write(tmp_path, f"{{service: llm, namespace: {models}, port: 80}}", LOST)).wait()

    assert "hit came and went" in said(done, tmp_path)
    assert done.verdict(tmp_path).verdict != "error"
    (image,) = {pod["status"]["containerStatuses"][0]["imageID"].rpartition("@")[2] for pod in served.pods()}
    subject = done.verdict(tmp_path).subject
    assert subject is not None
    assert subject.image_digest == image
    assert {pod["metadata"]["uid"] for pod in served.pods()} != before
    done.of.gone()


@pytest.mark.timeout(600)
@pytest.mark.thorough
def test_a_deployment_gets_a_service_for_the_time_of_the_run(
    cluster: Ground, namespace: str, submit: Submit, tmp_path: Path
) -> None:
    served = Served(cluster, namespace)
    served.bring_up(service=False)
    done = submit(write(tmp_path, "{deployment: llm, port: 8000}", SLOW)).wait()

    assert "hit came and went" in said(done, tmp_path)
    assert done.verdict(tmp_path).subject is not None
    assert f"removed Service {done.of.run}-target" in done.seal(tmp_path).actions
    assert len(served.pods()) == 2
    done.of.gone()
