"""Calls of the Kubernetes API: what is asked for, and how a cluster is found."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from chaosgate.cluster.api import Cluster, open_cluster
from chaosgate.errors import ClusterError


class Client:
    """Answers every call with `answer`, and keeps what was asked."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer if isinstance(answer, str) else json.dumps(answer)
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        self.configuration = SimpleNamespace(host="https://10.0.0.1:6443")

    def call_api(self, path: str, method: str, *, query_params: Any, **more: Any) -> Any:
        self.asked.append((method, path, dict(query_params)))
        return [SimpleNamespace(data=self.answer.encode())]


@pytest.mark.parametrize(
    ("asked", "query"),
    [
        ({}, {}),
        ({"container": "main", "lines": 5}, {"container": "main", "tailLines": "5"}),
        ({"previous": True}, {"previous": "true"}),
        (
            {"since": "2027-01-15T08:00:00Z", "stamped": True},
            {"sinceTime": "2027-01-15T08:00:00Z", "timestamps": "true"},
        ),
    ],
)
def test_a_part_of_a_log_is_asked_for_in_the_server_s_words(asked: dict[str, Any], query: dict[str, str]) -> None:
    client = Client("hello\n")
    assert Cluster(client, "chaos").logs("p", **asked) == "hello\n"
    assert client.asked == [("GET", "/api/v1/namespaces/chaos/pods/p/log", query)]


@pytest.mark.parametrize(("names", "served"), [(["workflows", "cronworkflows"], True), (["cronworkflows"], False)])
def test_whether_a_kind_is_served_is_read_from_its_group(names: list[str], served: bool) -> None:
    client = Client({"resources": [{"name": name} for name in names]})
    assert Cluster(client, "chaos").serves("Workflow") is served
    assert client.asked == [("GET", "/apis/argoproj.io/v1alpha1", {})]


def kubeconfig(folder: Path) -> Path:
    """Two contexts, of which the second is the current one."""
    clusters = [{"name": name, "cluster": {"server": f"https://{name}:6443"}} for name in ("one", "two")]
    contexts = [
        {"name": "first", "context": {"cluster": "one", "user": "me", "namespace": "drills"}},
        {"name": "second", "context": {"cluster": "two", "user": "me"}},
    ]
    users = [{"name": "me", "user": {"token": "t"}}]
    file = folder / "kubeconfig"
    data = {"clusters": clusters, "contexts": contexts, "users": users, "current-context": "second"}
    file.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", **data}))
    return file


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(kubeconfig(tmp_path)))


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, ("https://two:6443", "second", "default")),
        ({"context": "first"}, ("https://one:6443", "first", "drills")),
        ({"context": "first", "namespace": "mine"}, ("https://one:6443", "first", "mine")),
    ],
)
def test_a_context_leads_to_its_cluster_and_namespace(
    config: None, given: dict[str, str], found: tuple[str, str, str]
) -> None:
    cluster = open_cluster(**given)
    assert (cluster.server, cluster.context, cluster.namespace) == found


def test_a_context_that_is_not_there_is_refused(config: None) -> None:
    with pytest.raises(ClusterError, match=r"no cluster is configured: .*third.*; set KUBECONFIG"):
        open_cluster(context="third")
