"""The pods of a run: by what they are called, why one does not start, and what one printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from argo_run import RUN, ArgoRun, stamped
from fake_cluster import FakeCluster
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.submit.argo.pods import PodLog, has_started, pods_of, why_pending

EXECUTOR = 'time="2027-01-15T08:00:00.104Z" level=info msg="sub-process exited" argo=true error="<nil>"'
LOST = "failed to try resolving symlinks in path /var/log/pods/x: no such file or directory"
EVENT = '{"event": "load", "requests": 1}'


@pytest.fixture
def argo(tmp_path: Path) -> ArgoRun:
    return ArgoRun(tmp_path)


def the_pod(argo: ArgoRun) -> dict[str, Any]:
    return argo.cluster.objects[f"/api/v1/namespaces/chaos/pods/{RUN}-deploy"]


def test_pods_are_called_by_their_step_or_role_and_replicas_by_their_ends(argo: ArgoRun) -> None:
    argo.pod("deploy").pod("gw-1", role="gateway").pod("engine-ab", role="engine").pod("engine-cd", role="engine")
    other = {"name": "stranger", "labels": {"chaosgate/run": RUN}}
    argo.cluster.put({"kind": "Pod", "metadata": other})
    assert sorted(pods_of(argo.cluster, RUN)) == ["deploy", "engine-ab", "engine-cd", "gateway"]


@pytest.mark.parametrize("reason", ["PodInitializing", "ContainerCreating"])
def test_a_pod_that_is_being_made_is_not_in_trouble(argo: ArgoRun, reason: str) -> None:
    argo.pod("deploy", waiting=reason)
    assert why_pending(argo.cluster, the_pod(argo)) is None
    assert not has_started(the_pod(argo))


def test_all_that_keeps_a_pod_from_starting_is_said_once(argo: ArgoRun) -> None:
    stuck = {"name": "init", "state": {"waiting": {"reason": "ErrImagePull", "message": "no\nroute"}}}
    argo.pod("deploy", waiting="ErrImagePull", initContainerStatuses=[stuck, stuck])
    event = {
        "kind": "Event",
        "metadata": {"name": "e"},
        "involvedObject": {"name": f"{RUN}-deploy"},
        "type": "Warning",
        "reason": "FailedMount",
        "message": "no Secret",
    }
    argo.cluster.put(event)
    assert why_pending(argo.cluster, the_pod(argo)) == (
        "ErrImagePull: no route; ErrImagePull: no such thing; event FailedMount: no Secret"
    )


def test_events_are_not_read_once_the_pod_runs(argo: ArgoRun) -> None:
    argo.pod("deploy")
    assert has_started(the_pod(argo))
    assert why_pending(argo.cluster, the_pod(argo)) is None
    assert not any(plural == "events" for _, plural, _ in argo.cluster.asked)


def test_a_pod_whose_own_container_has_ended_has_started(argo: ArgoRun) -> None:
    argo.pod("deploy")
    (status,) = the_pod(argo)["status"]["containerStatuses"]
    status["state"] = {"terminated": {"exitCode": 1}}
    assert has_started(the_pod(argo))
    status |= {"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "restartCount": 1}
    assert has_started(the_pod(argo))


def test_lines_come_once_and_argo_s_and_the_kubelet_s_own_not_at_all(argo: ArgoRun) -> None:
    argo.pod("deploy", f"one\n{EXECUTOR}\n{EVENT}")
    argo.cluster.printed[f"{RUN}-deploy"] += LOST
    log = PodLog(argo.cluster, the_pod(argo))
    assert list(log.lines()) == ["one", EVENT]
    argo.cluster.printed[f"{RUN}-deploy"] += "\n" + stamped("two", second=1)
    assert list(log.lines()) == ["two"]
    assert list(log.lines()) == []


def test_people_are_not_shown_what_programs_are_told(argo: ArgoRun) -> None:
    argo.pod("deploy", f"one\n{EVENT}")
    assert list(PodLog(argo.cluster, the_pod(argo), progress=False).lines()) == ["one"]


def test_a_pod_that_is_gone_has_no_lines(argo: ArgoRun) -> None:
    argo.pod("deploy", "one")
    pod = the_pod(argo)
    del argo.cluster.printed[f"{RUN}-deploy"]
    argo.cluster.forbidden.add(("get", "pods"))
    assert list(PodLog(argo.cluster, pod).lines()) == []


def test_what_is_asked_for_is_the_step_s_container_and_only_what_is_new(
    argo: ArgoRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    def logs(pod: str, **more: Any) -> str:
        asked.append(more)
        return stamped("one", second=9)

    argo.pod("deploy")
    monkeypatch.setattr(argo.cluster, "logs", logs)
    log = PodLog(argo.cluster, the_pod(argo))
    list(log.tail(5))
    list(log.lines())
    assert asked == [
        {"container": "main", "stamped": True, "lines": 5},
        {"container": "main", "stamped": True, "since": "2027-01-15T08:00:09Z"},
    ]


POD = {"metadata": {"name": "deploy"}, "spec": {"containers": [{"name": "main"}]}}
WHOLE = stamped("\n".join(f"line {number}" for number in range(20))).splitlines(keepends=True)


@given(cuts=st.lists(st.integers(0, 20), max_size=6).map(sorted))
def test_every_line_comes_exactly_once_however_the_log_grows(cuts: list[int]) -> None:
    cluster = FakeCluster()
    log = PodLog(cluster, POD)
    found: list[str] = []
    for cut in (*cuts, 20):
        cluster.printed["deploy"] = "".join(WHOLE[:cut])
        found += log.lines()
    assert found == [f"line {number}" for number in range(20)]
