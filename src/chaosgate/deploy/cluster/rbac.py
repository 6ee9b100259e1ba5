"""What the account of a run's pods may do on the cluster: nothing that no step of it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chaosgate.deploy.cluster.names import PART_OF

Json = dict[str, Any]

OWN = ("get", "list", "create", "patch", "delete")
"""What is done with the objects that a run makes itself."""


def rule(group: str, resources: Sequence[str], verbs: Sequence[str]) -> Json:
    """One rule of a role."""
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def base_rules() -> list[Json]:
    """What every run needs in its namespace, whatever its faults."""
    return [
        # Argo's own container in a pod reports how its step ended.
        rule("argoproj.io", ["workflowtaskresults"], ["create", "patch"]),
        # The sweeper looks whether the workflow is still there.
        rule("argoproj.io", ["workflows"], ["get", "list"]),
        rule("", ["configmaps", "services"], OWN),
        rule("apps", ["deployments"], OWN),
        rule("batch", ["jobs"], OWN),
        rule("networking.k8s.io", ["networkpolicies"], ["list", "delete"]),
        # Readiness, and why a server does not come up.
        rule("", ["pods"], ["get", "list", "delete"]),
        rule("", ["pods/log"], ["get"]),
        rule("", ["events"], ["list"]),
    ]


def account(name: str, namespace: str, rules: Sequence[Json]) -> Iterator[Json]:
    """A service account with a role of its own in its namespace."""
    metadata = {"name": name, "namespace": namespace, "labels": dict(PART_OF)}
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
    yield {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": metadata,
        "rules": list(rules),
    }
    yield {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    }
