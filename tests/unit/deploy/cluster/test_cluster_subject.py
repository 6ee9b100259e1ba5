"""What serves the target: an existing Service or Deployment, its pods, and the image that they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from cluster_drills import ADDRESS, DEPLOYMENT, EMBEDDED, SERVICE, SLOW, drill
from fake_cluster import IMAGE, FakeCluster, namespace, pod

from chaosgate.cluster.names import labels
from chaosgate.deploy.cluster import subject
from chaosgate.deploy.cluster.subject import Served, image_of, one_image, own_pods, reach, read_image
from chaosgate.errors import DeployError
from chaosgate.model.fault import ClusterTarget
from chaosgate.model.spec import KubernetesTarget

RUN = "drill-1"
DIGEST = IMAGE.rpartition("@")[2]
MODELS = ClusterTarget(namespace="models", labels={"app": "vllm"})


def service(selector: dict[str, str] | None, *ports: int) -> dict[str, Any]:
    spec = {"ports": [{"port": port} for port in ports], **({"selector": selector} if selector else {})}
    return {"kind": "Service", "metadata": {"name": "vllm", "namespace": "models"}, "spec": spec}


def deployment(selector: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": "Deployment",
        "metadata": {"name": "vllm", "namespace": "chaos", "generation": 1},
        "spec": {"selector": selector, "replicas": 1},
        "status": {"observedGeneration": 1, "updatedReplicas": 1, "readyReplicas": 1, "replicas": 1},
    }


def found(target: str, *objects: dict[str, Any]) -> ClusterTarget | None:
    return own_pods(FakeCluster("chaos", namespace("models"), *objects), drill(SLOW, target=target), RUN)


def test_whose_pods_serve_the_target() -> None:
    assert found(EMBEDDED) == ClusterTarget(namespace="chaos", labels=labels(RUN, "engine"))
    assert found(ADDRESS) is None
    assert found(SERVICE, service({"app": "vllm"}, 8000)) == MODELS
    assert found(SERVICE, service(None, 8000)) is None
    here = found(DEPLOYMENT, deployment({"matchLabels": {"app": "vllm"}}))
    assert here == ClusterTarget(namespace="chaos", labels={"app": "vllm"})


WRONG: dict[str, tuple[str, tuple[dict[str, Any], ...], str]] = {
    "no such service": (
        SERVICE,
        (),
        "namespace models has no Service vllm; `kubectl get services --namespace models` lists what is there: write "
        "its name as target.kubernetes.service",
    ),
    "another port": (
        SERVICE,
        (service({"app": "vllm"}, 80, 8001),),
        "Service vllm in namespace models has the ports 80, 8001, not 8000; write one of them as "
        "target.kubernetes.port",
    ),
    "no such deployment": (
        DEPLOYMENT,
        (),
        "namespace chaos has no Deployment vllm; run the spec in the Deployment's namespace, or name the Service in "
        "front of it with target.kubernetes.service and its namespace",
    ),
    "a deployment by expressions": (
        DEPLOYMENT,
        (deployment({"matchExpressions": [{"key": "app", "operator": "Exists"}], "matchLabels": {"app": "vllm"}}),),
        "Deployment vllm finds its pods by expressions, which a Service cannot; make a Service for it and name that "
        "with target.kubernetes.service",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_what_the_spec_names(case: str) -> None:
    target, objects, says = WRONG[case]

    with pytest.raises(DeployError) as error:
        found(target, *objects)
    assert str(error.value) == says


def ready_pod(namespace: str) -> dict[str, Any]:
    """A pod behind the Service."""
    metadata = {"name": "vllm-0", "namespace": namespace, "labels": {"app": "vllm"}}
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    return {"kind": "Pod", "metadata": metadata, "status": status}


def test_a_service_is_reached_at_its_name() -> None:
    cluster = FakeCluster("chaos", namespace("models"), service({"app": "vllm"}, 8000), ready_pod("models"))
    target = KubernetesTarget(service="vllm", namespace="models", port=8000)

    assert reach(cluster, RUN, target) == Served("http://vllm.models.svc:8000", MODELS)
    assert cluster.calls == []


def test_a_service_without_a_namespace_is_the_runs_neighbour() -> None:
    here = {**service({"app": "vllm"}, 8000), "metadata": {"name": "vllm", "namespace": "chaos"}}
    served = reach(FakeCluster("chaos", here, ready_pod("chaos")), RUN, KubernetesTarget(service="vllm", port=8000))

    assert served.url == "http://vllm.chaos.svc:8000"


def test_a_deployment_gets_a_service_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(subject, "wait_reachable", lambda *words: asked.append(words))
    cluster = FakeCluster("chaos", deployment({"matchLabels": {"app": "vllm"}}))
    served = reach(cluster, RUN, KubernetesTarget(deployment="vllm", port=8000))
    made = cluster.get("Service", "drill-1-target")

    assert served.url == "http://drill-1-target.chaos.svc:8000"
    assert made is not None
    assert made["spec"]["selector"] == {"app": "vllm"}
    # By this label cleanup finds it.
    assert made["metadata"]["labels"]["chaosgate/run"] == RUN
    assert asked == [("drill-1-target.chaos.svc", 8000, subject.REACHABLE_DEADLINE)]


def with_images(name: str, **images: str) -> dict[str, Any]:
    one = pod(name, "models", app="vllm")
    one["status"]["containerStatuses"] = [{"name": key, "imageID": value} for key, value in images.items()]
    return one


@pytest.mark.parametrize(
    ("images", "digest"),
    [
        ({"engine": f"docker.io/vllm/vllm-openai@{DIGEST}"}, DIGEST),
        ({"engine": f"docker-pullable://vllm@{DIGEST}"}, DIGEST),
        ({"engine": DIGEST}, DIGEST),
        ({"engine": ""}, None),
        ({}, None),
        ({"vllm": "a@sha256:1", "proxy": "b@sha256:2"}, "proxy=sha256:2 vllm=sha256:1"),
        ({"vllm": "a@sha256:1", "proxy": ""}, None),
    ],
)
def test_the_image_of_a_pod(images: dict[str, str], digest: str | None) -> None:
    assert image_of(with_images("vllm-0", **images)) == digest


def test_a_pod_on_its_way_out_does_not_count() -> None:
    going = with_images("vllm-0", engine="a@sha256:old")
    going["metadata"]["deletionTimestamp"] = "2026-03-25T12:00:00Z"
    cluster = FakeCluster("chaos", namespace("models"), going, with_images("vllm-1", engine="a@sha256:new"))

    assert one_image(cluster, MODELS) == "sha256:new"


def test_while_a_rollout_is_under_way_there_is_no_subject() -> None:
    pods = (with_images("vllm-0", engine="a@sha256:old"), with_images("vllm-1", engine="a@sha256:new"))
    cluster = FakeCluster("chaos", namespace("models"), *pods)

    assert read_image(cluster, MODELS) == "sha256:new, sha256:old"
    with pytest.raises(DeployError) as error:
        one_image(cluster, MODELS)
    assert str(error.value) == (
        "the target's pods run different images: sha256:new, sha256:old; a rollout is under way: wait until it is over"
    )


@pytest.mark.parametrize("read", [read_image, one_image])
def test_without_a_pod_there_is_no_image(read: Callable[[FakeCluster, ClusterTarget], str]) -> None:
    with pytest.raises(DeployError) as error:
        read(FakeCluster("chaos", namespace("models"), pod("other", "models", app="db")), MODELS)
    assert str(error.value) == ("no running pod with the labels app=vllm in namespace models says which image it runs")
