"""Whether a namespace has room for a run."""

from __future__ import annotations

from typing import Any

import pytest

from chaosgate.deploy.cluster.room import PodNeed, peak, shortages, total, unasked

NEEDS = [
    PodNeed("engine", {"cpu": "100m", "memory": "256Mi"}, 2),
    PodNeed("gateway", {"cpu": "200m", "memory": "256Mi"}),
    PodNeed("measure", {"cpu": "250m", "memory": "384Mi"}),
]
"""4 pods, 650 millicores, 1152 MiB."""


def quota(hard: dict[str, str], used: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "team"},
        "spec": {"hard": hard, **more},
        "status": {"hard": hard, "used": used or {}},
    }


def limit_range(**limits: dict[str, str]) -> dict[str, Any]:
    return {"metadata": {"name": "usual"}, "spec": {"limits": [{"type": "Container", **limits}]}}


def test_the_peak_is_the_stage_that_asks_for_most() -> None:
    measure, inject = PodNeed("measure", {"cpu": "250m"}), PodNeed("inject", {"cpu": "50m"})
    deploy, conclude = PodNeed("deploy", {"cpu": "50m"}), PodNeed("conclude", {"cpu": "250m"})

    assert peak(NEEDS[:2], [[deploy], [measure, inject], [conclude]]) == [*NEEDS[:2], measure, inject]
    assert total(NEEDS, "cpu") == pytest.approx(0.65)


@pytest.mark.parametrize(
    ("hard", "used", "says"),
    [
        ({"pods": "4"}, {}, None),
        ({"pods": "4"}, {"pods": "1"}, "leaves 3 of 4 pods, a run needs 4 at its peak"),
        ({"count/pods": "3"}, {}, "leaves 3 of 3 count/pods, a run needs 4 at its peak"),
        ({"requests.cpu": "650m"}, {}, None),
        ({"requests.cpu": "1"}, {"requests.cpu": "400m"}, "leaves 0.6 of 1 requests.cpu, a run needs 0.65 at its peak"),
        ({"cpu": "500m"}, {}, "leaves 0.5 of 500m cpu, a run needs 0.65 at its peak"),
        ({"requests.memory": "1Gi"}, {}, "leaves 1024Mi of 1Gi requests.memory, a run needs 1152Mi at its peak"),
        ({"requests.memory": "2Gi"}, {"requests.memory": "896Mi"}, None),
        ({"services": "0"}, {}, None),
    ],
)
def test_what_a_quota_leaves(hard: dict[str, str], used: dict[str, str], says: str | None) -> None:
    found = list(shortages([quota(hard, used)], [], NEEDS))
    whole = f"ResourceQuota team {says} (2 engine, 1 gateway, 1 measure): raise it, or end what else uses it"

    assert found == ([] if says is None else [whole])


def test_a_quota_with_scopes_counts_who_knows_whom() -> None:
    assert list(shortages([quota({"pods": "0"}, scopes=["BestEffort"])], [], NEEDS)) == []
    assert list(shortages([quota({"pods": "0"}, scopeSelector={"matchExpressions": []})], [], NEEDS)) == []


def test_a_quota_of_limits_wants_a_default() -> None:
    found = list(shortages([quota({"limits.memory": "100Gi"})], [], NEEDS))

    assert found == [
        "ResourceQuota team counts limits.memory: a container without one is refused, and those of a run set none; "
        "give the namespace a LimitRange with a default for memory"
    ]
    assert list(shortages([quota({"limits.memory": "100Gi"})], [limit_range(default={"memory": "1Gi"})], NEEDS)) == []


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({"min": {"cpu": "100m"}}, []),
        ({"min": {"cpu": "150m"}}, ["wants at least 150m of cpu a container, engine asks for 100m"]),
        ({"max": {"memory": "384Mi"}}, []),
        ({"max": {"memory": "300Mi"}}, ["allows at most 300Mi of memory a container, measure asks for 384Mi"]),
        ({"default": {"cpu": "200m"}}, ["sets the limit 200m of cpu a container, measure asks for 250m"]),
        ({"default": {"cpu": "1"}}, []),
    ],
)
def test_what_a_range_refuses(limits: dict[str, dict[str, str]], says: list[str]) -> None:
    rest = ": change it, or what the component asks for with carrier.resources"

    assert list(shortages([], [limit_range(**limits)], NEEDS)) == [f"LimitRange usual {one}{rest}" for one in says]


def test_a_range_of_pods_is_left_to_the_server() -> None:
    other = {"metadata": {"name": "pods"}, "spec": {"limits": [{"type": "Pod", "max": {"cpu": "1m"}}]}}

    assert list(shortages([], [other], NEEDS)) == []


def test_what_argos_containers_must_ask_for() -> None:
    counting = [quota({"requests.cpu": "8", "limits.memory": "8Gi", "pods": "10"})]

    assert unasked(counting, []) == ["cpu"]
    assert unasked(counting, [limit_range(defaultRequest={"cpu": "10m"})]) == []
    assert unasked([quota({"requests.cpu": "8"}, scopes=["Terminating"])], []) == []
