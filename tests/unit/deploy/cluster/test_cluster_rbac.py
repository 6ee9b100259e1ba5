"""The rights of a run: as few rules as there are, all that its code asks for, and nothing besides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest
from cluster_drills import ADDRESS, DEPLOYMENT, EMBEDDED, LOST, SERVICE, SLOW, drill, fault

from chaosgate.deploy.cluster.rbac import (
    Needs,
    account,
    base_rules,
    guard_rules,
    hit_namespaces,
    merged,
    needs_of,
    needs_of_submitter,
    rbac_manifests,
    rule,
    subject_of,
)
from chaosgate.model.spec import ChaosSpec

Right = tuple[str, str, str]
"""(group, resource, verb)."""


def rights(rules: Iterable[Mapping[str, Any]]) -> set[Right]:
    return {
        (group, resource, verb)
        for one in rules
        for group in one["apiGroups"]
        for resource in one["resources"]
        for verb in one["verbs"]
    }


def rules_of(manifests: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str, set[Right]]]:
    """(kind, namespace, rights) of every role."""
    for one in manifests:
        if one["kind"] in ("Role", "ClusterRole"):
            yield one["kind"], one["metadata"].get("namespace", ""), rights(one["rules"])


def test_rules_are_merged_without_gain_or_loss() -> None:
    rules = [
        rule("", ["pods"], ["list", "get"]),
        rule("", ["pods", "events"], ["list"]),
        rule("apps", ["pods"], ["get"]),
    ]
    found = merged(rules)

    assert rights(found) == rights(rules)
    assert found == [
        rule("", ["events"], ["list"]),
        rule("", ["pods"], ["get", "list"]),
        rule("apps", ["pods"], ["get"]),
    ]


def test_a_right_on_one_object_does_not_become_one_on_all() -> None:
    found = merged([rule("", ["namespaces"], ["get"], ["models"]), rule("", ["pods"], ["get"])])

    assert found == [rule("", ["pods"], ["get"]), rule("", ["namespaces"], ["get"], ["models"])]


def test_no_rule_takes_everything() -> None:
    specs = [drill(LOST, SLOW), drill(SLOW, target=SERVICE), drill(fault("node.cordon", "nodes"))]
    for spec in specs:
        for _, _, found in rules_of(rbac_manifests(spec, "chaos", submitter="alice")):
            assert not [right for right in found if "*" in right]
            assert not [right for right in found if right[1] == "secrets"]


def test_a_run_whose_faults_are_on_the_wire_needs_one_namespace() -> None:
    needs = needs_of(drill(SLOW), "chaos")

    assert needs == Needs({"chaos": merged(base_rules())}, [])
    assert hit_namespaces(drill(SLOW), "chaos") == []


def test_a_fault_of_the_run_s_own_pods_adds_what_it_does_and_what_guards_it() -> None:
    found = rights(needs_of(drill(LOST), "chaos").namespaces["chaos"]) - rights(base_rules())

    assert found == {
        ("", "namespaces", "get"),
        ("discovery.k8s.io", "endpointslices", "list"),
        ("policy", "poddisruptionbudgets", "list"),
    }


@pytest.mark.parametrize(
    ("target", "faults", "places"),
    [
        (EMBEDDED, (LOST,), ["chaos"]),
        (ADDRESS, (SLOW,), ["chaos"]),
        (DEPLOYMENT, (LOST,), ["chaos"]),
        (SERVICE, (SLOW,), ["chaos", "models"]),
        (SERVICE, (LOST,), ["chaos", "models"]),
        (EMBEDDED, (fault("pod.delete", target="{namespace: web, labels: {app: web}}"),), ["chaos", "web"]),
    ],
)
def test_there_is_a_role_in_each_namespace_that_is_touched(
    target: str, faults: tuple[str, ...], places: list[str]
) -> None:
    spec = drill(*faults, target=target)
    roles = [place for kind, place, _ in rules_of(rbac_manifests(spec, "chaos")) if kind == "Role"]

    assert list(needs_of(spec, "chaos").namespaces) == places
    assert sorted(set(roles)) == places


def test_in_another_namespace_a_run_may_only_do_what_its_faults_do() -> None:
    here = rights(needs_of(drill(LOST, target=SERVICE), "chaos").namespaces["models"])

    assert here == {
        ("", "namespaces", "get"),
        ("", "pods", "delete"),
        ("", "pods", "get"),
        ("", "pods", "list"),
        ("", "services", "get"),
        ("discovery.k8s.io", "endpointslices", "list"),
        ("policy", "poddisruptionbudgets", "list"),
    }
    assert rights(needs_of(drill(SLOW, target=SERVICE), "chaos").namespaces["models"]) == {
        ("", "pods", "list"),
        ("", "services", "get"),
    }


def test_only_faults_of_nodes_need_a_cluster_role() -> None:
    closing = drill(fault("node.cordon", "nodes"))
    roles = [
        (place, found) for kind, place, found in rules_of(rbac_manifests(closing, "chaos")) if kind == "ClusterRole"
    ]

    assert needs_of(drill(LOST), "chaos").cluster == []
    assert roles == [
        ("", {("", "nodes", "get"), ("", "nodes", "list"), ("", "nodes", "patch")}),
        ("", {("", "nodes", "list")}),
    ]


def test_the_namespace_that_is_looked_at_is_named() -> None:
    assert guard_rules("models")[0] == rule("", ["namespaces"], ["get"], ["models"])


def bindings(spec: ChaosSpec, submitter: str | None) -> list[tuple[str, str, str]]:
    """(kind, role, whom) of every binding."""
    return [
        (one["kind"], one["roleRef"]["name"], one["subjects"][0]["name"])
        for one in rbac_manifests(spec, "chaos", "runner", submitter)
        if one["kind"].endswith("Binding")
    ]


def test_who_submits_is_bound_only_when_named() -> None:
    spec = drill(LOST, target=SERVICE)
    own = [("RoleBinding", "runner", "runner"), ("RoleBinding", "runner-chaos", "runner")]

    assert bindings(spec, None) == own
    assert bindings(spec, "alice@example.com") == [
        *own,
        ("RoleBinding", "chaosgate-submitter", "alice@example.com"),
        ("RoleBinding", "chaosgate-submitter-chaos", "alice@example.com"),
    ]


def test_who_submits_may_change_workflows_and_nothing_else() -> None:
    changing = {"create", "patch", "update", "delete", "impersonate", "escalate", "bind"}
    needs = needs_of_submitter(drill(LOST, fault("node.cordon", "nodes"), target=SERVICE), "chaos")
    found = rights([*needs.cluster, *(one for rules in needs.namespaces.values() for one in rules)])

    assert {right[1:] for right in found if right[2] in changing} == {("workflows", "create"), ("workflows", "patch")}


def test_only_who_has_a_schedule_may_change_schedules() -> None:
    scheduled = drill(SLOW, more='  schedule: {cron: "0 3 * * *"}\n')

    assert ("argoproj.io", "cronworkflows", "delete") in rights(
        needs_of_submitter(scheduled, "chaos").namespaces["chaos"]
    )
    assert "cronworkflows" not in {
        one[1] for one in rights(needs_of_submitter(drill(SLOW), "chaos").namespaces["chaos"])
    }


def test_a_service_account_is_named_as_one() -> None:
    assert subject_of("system:serviceaccount:ci:pusher") == {
        "kind": "ServiceAccount",
        "name": "pusher",
        "namespace": "ci",
    }
    assert subject_of("alice")["kind"] == "User"


def test_the_manifests_are_the_same_each_time() -> None:
    spec = drill(LOST, SLOW, fault("node.cordon", "nodes"), target=SERVICE)

    assert rbac_manifests(spec, "chaos", submitter="alice") == rbac_manifests(spec, "chaos", submitter="alice")


def test_the_account_alone() -> None:
    kinds = [one["kind"] for one in account("chaosgate", "chaos", base_rules())]

    assert kinds == ["ServiceAccount", "Role", "RoleBinding"]
