"""How deploy finds the pod that it runs in."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from fake_cluster import FakeCluster

from chaosgate.deploy.cluster.manifests import sweeper_job
from chaosgate.deploy.cluster.own_pod import own_pod, read_own_pod
from chaosgate.errors import DeployError


def a_pod(name: str) -> dict[str, Any]:
    container = {"name": "main", "image": f"image-of:{name[-1]}", "env": [{"name": "CHAOSGATE_GATEWAY_KEY"}]}
    return {"kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}


LONG = "n" * 55 + "-20270115-080000-abcdef-deploy-1"


@pytest.mark.parametrize("host", ["short-deploy-1", LONG[:63], LONG[:61]])
def test_a_host_name_is_the_pod_s_name_or_its_beginning(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: host)
    cluster = FakeCluster("chaos", a_pod("short-deploy-1"), a_pod(LONG), a_pod("other-2"))
    assert read_own_pod(cluster).image == "image-of:1"


@pytest.mark.parametrize("host", ["short", "n" * 63])
def test_a_host_that_is_no_pod_is_said(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: host)
    with pytest.raises(DeployError) as error:
        read_own_pod(FakeCluster("chaos", a_pod("short-deploy-1"), a_pod(LONG)))
    assert str(error.value) == f"this process is no pod of namespace chaos: there is no pod {host}"


@pytest.mark.parametrize(
    ("owners", "flags"),
    [([{"kind": "Workflow", "name": "drill-1"}], ["--carried"]), ([{"kind": "Job", "name": "drill-1"}], []), ([], [])],
)
def test_the_sweeper_knows_whether_a_workflow_carries_the_run(owners: list[dict[str, str]], flags: list[str]) -> None:
    pod = a_pod("short-deploy-1")
    pod["metadata"]["ownerReferences"] = owners
    (sweeper,) = sweeper_job("drill-1", own_pod(pod), 60.0)["spec"]["template"]["spec"]["containers"]
    assert sweeper["command"][4:] == ["--run", "drill-1", "--seconds", "60.0", *flags]


def test_of_the_pod_s_environment_only_the_key_and_the_way_to_the_record_are_kept() -> None:
    pod = a_pod("short-deploy-1")
    pod["spec"]["containers"][0]["env"] += [{"name": "MLFLOW_TRACKING_URI"}, {"name": "CHAOSGATE_STATE"}, {"name": "A"}]
    assert [one["name"] for one in own_pod(pod).environment] == ["CHAOSGATE_GATEWAY_KEY", "MLFLOW_TRACKING_URI"]
