"""What the account of a run's pods may do on the cluster, and who submits it: nothing that neither of them does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chaosgate.cluster.names import PART_OF
from chaosgate.model.fault import ClusterFault
from chaosgate.model.spec import ChaosSpec

Json = dict[str, Any]

RBAC = "rbac.authorization.k8s.io"
API_VERSION = f"{RBAC}/v1"
OWN = ("get", "list", "create", "patch", "delete")
"""What is done with the objects that a run makes itself."""
SUBMITTER = "chaosgate-submitter"
"""The role of who submits runs."""
ACCOUNT_PREFIX = "system:serviceaccount:"
"""How Kubernetes calls a service account where it names users: `system:serviceaccount:NAMESPACE:NAME`."""


def rule(group: str, resources: Sequence[str], verbs: Sequence[str], names: Sequence[str] = ()) -> Json:
    """One rule of a role; with `names` it holds for the objects of these names only."""
    found: Json = {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}
    return {**found, "resourceNames": list(names)} if names else found


def base_rules() -> list[Json]:
    """What every run needs in its namespace, whatever its faults."""
    return [
        # Argo's own container in a pod reports how its step ended.
        rule("argoproj.io", ["workflowtaskresults"], ["create", "patch"]),
        # The sweeper looks whether the workflow is still there.
        rule("argoproj.io", ["workflows"], ["get", "list"]),
        rule("", ["configmaps", "services"], OWN),
        rule("apps", ["deployments"], OWN),
        rule("batch", ["jobs"], ["get", "list", "create", "delete"]),
        rule("networking.k8s.io", ["networkpolicies"], ["list", "delete"]),
        # Readiness, and why a server does not come up.
        rule("", ["pods"], ["get", "list", "delete"]),
        rule("", ["pods/log"], ["get"]),
        rule("", ["events"], ["list"]),
    ]


def target_rules() -> list[Json]:
    """What reading the target in its namespace takes: its Service, its pods and their image."""
    return [rule("", ["services"], ["get"]), rule("", ["pods"], ["list"])]


def guard_rules(namespace: str) -> list[Json]:
    """What the rules of safety are looked up with before a fault of the cluster is injected in a namespace."""
    return [
        # In a role, a namespace is an object of its own: no right on any other comes with it.
        rule("", ["namespaces"], ["get"], [namespace]),
        rule("", ["pods"], ["list"]),
        rule("policy", ["poddisruptionbudgets"], ["list"]),
    ]


def submit_rules(namespace: str, *, scheduled: bool) -> list[Json]:
    """What submitting runs to a namespace and following them takes, and `plan --dry-run=server` there."""
    return [
        rule("argoproj.io", ["workflows"], ["get", "list", "create", "patch"]),
        *([rule("argoproj.io", ["cronworkflows"], OWN)] if scheduled else []),
        rule("", ["pods", "events", "resourcequotas", "limitranges"], ["list"]),
        rule("", ["pods/log"], ["get"]),
        rule("", ["serviceaccounts"], ["get"]),
        rule("", ["namespaces"], ["get"], [namespace]),
    ]


@dataclass(frozen=True)
class Needs:
    """What an account must be allowed: rules by namespace, and rules for objects that are in none."""

    namespaces: Mapping[str, Sequence[Json]]
    cluster: Sequence[Json] = ()


def needs_of(spec: ChaosSpec, namespace: str) -> Needs:
    """What the pods of a run of `spec` in `namespace` must be allowed."""
    rules: dict[str, list[Json]] = {namespace: base_rules()}
    everywhere: list[Json] = []
    target = target_namespace(spec, namespace)
    if target != namespace:
        rules[target] = target_rules()
    for fault in cluster_faults(spec):
        place = fault.target.namespace or target
        rules.setdefault(place, []).extend(guard_rules(place))
        for need in fault.permissions():
            found = rule(need.group, [need.resource], need.verbs)
            (rules[place] if need.namespaced else everywhere).append(found)
    return Needs({place: merged(found) for place, found in sorted(rules.items())}, merged(everywhere))


def needs_of_submitter(spec: ChaosSpec, namespace: str) -> Needs:
    """What somebody must be allowed who submits `spec` to `namespace`, follows its runs and plans on the server."""
    rules: dict[str, list[Json]] = {namespace: submit_rules(namespace, scheduled=spec.spec.schedule is not None)}
    target = target_namespace(spec, namespace)
    if target != namespace or spec.spec.target.kubernetes is not None:
        rules.setdefault(target, []).extend(target_rules())
    for fault in cluster_faults(spec):
        place = fault.target.namespace or target
        rules.setdefault(place, []).extend(guard_rules(place))
    nodes = [rule("", ["nodes"], ["list"])] if hits_nodes(spec) else []
    return Needs({place: merged(found) for place, found in sorted(rules.items())}, nodes)


def cluster_faults(spec: ChaosSpec) -> list[ClusterFault]:
    """The faults of the spec that change objects of the cluster."""
    return [fault for fault in spec.spec.faults if isinstance(fault, ClusterFault)]


def hit_namespaces(spec: ChaosSpec, namespace: str) -> list[str]:
    """The namespaces in which faults of a run in `namespace` change anything."""
    target = target_namespace(spec, namespace)
    return sorted({fault.target.namespace or target for fault in cluster_faults(spec)})


def hits_nodes(spec: ChaosSpec) -> bool:
    """Whether a fault of the spec changes what is in no namespace."""
    return any(not need.namespaced for fault in cluster_faults(spec) for need in fault.permissions())


def target_namespace(spec: ChaosSpec, namespace: str) -> str:
    """Where the target of a run in `namespace` is."""
    existing = spec.spec.target.kubernetes
    return (existing.namespace if existing else None) or namespace


def merged(rules: Iterable[Json]) -> list[Json]:
    """The same rights in as few rules as there are, each of them once and all in one order."""
    verbs: dict[tuple[str, tuple[str, ...], str], set[str]] = {}
    for one in rules:
        names = tuple(one.get("resourceNames", ()))
        for group in one["apiGroups"]:
            for resource in one["resources"]:
                verbs.setdefault((group, names, resource), set()).update(one["verbs"])
    resources: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for (group, names, resource), allowed in sorted(verbs.items()):
        resources.setdefault((group, names, tuple(sorted(allowed))), []).append(resource)
    return [rule(group, found, allowed, names) for (group, names, allowed), found in resources.items()]


def rbac_manifests(
    spec: ChaosSpec, namespace: str, account: str = "chaosgate", submitter: str | None = None
) -> list[Json]:
    """The account of a run's pods with its rights, and the role of who submits; `submitter` is bound to that.

    `submitter` is a user's name as Kubernetes knows it, such as `alice@example.com` or
    `system:serviceaccount:ci:pusher`.
    """
    own: Json = {"kind": "ServiceAccount", "name": account, "namespace": namespace}
    pushes = None if submitter is None else subject_of(submitter)
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata(account, namespace)},
        *granted(needs_of(spec, namespace), namespace, account, own),
        *granted(needs_of_submitter(spec, namespace), namespace, SUBMITTER, pushes),
    ]


def granted(needs: Needs, home: str, name: str, subject: Json | None) -> Iterator[Json]:
    """The roles that hold `needs`, bound to `subject`.

    A role outside of the run's namespace `home` has that in its name, so that runs of several share a target.
    """
    for place, rules in needs.namespaces.items():
        own = name if place == home else f"{name}-{home}"
        yield from role("Role", _metadata(own, place), rules, subject)
    if needs.cluster:
        yield from role("ClusterRole", _metadata(f"{name}-{home}", None), needs.cluster, subject)


def role(kind: str, metadata: Json, rules: Sequence[Json], subject: Json | None) -> Iterator[Json]:
    """A role, and its binding where there is somebody to bind it to."""
    yield {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "rules": list(rules)}
    if subject is not None:
        reference = {"apiGroup": RBAC, "kind": kind, "name": metadata["name"]}
        yield {
            "apiVersion": API_VERSION,
            "kind": f"{kind}Binding",
            "metadata": metadata,
            "roleRef": reference,
            "subjects": [subject],
        }


def subject_of(user: str) -> Json:
    """Whom a binding names: a service account where the user is one."""
    if user.startswith(ACCOUNT_PREFIX):
        namespace, _, name = user.removeprefix(ACCOUNT_PREFIX).partition(":")
        return {"kind": "ServiceAccount", "name": name, "namespace": namespace}
    return {"apiGroup": RBAC, "kind": "User", "name": user}


def _metadata(name: str, namespace: str | None) -> Json:
    place = {} if namespace is None else {"namespace": namespace}
    return {"name": name, **place, "labels": dict(PART_OF)}


def account(name: str, namespace: str, rules: Sequence[Json]) -> Iterator[Json]:
    """A service account with a role of its own in its namespace."""
    metadata = _metadata(name, namespace)
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
    yield from role("Role", metadata, rules, {"kind": "ServiceAccount", "name": name, "namespace": namespace})
