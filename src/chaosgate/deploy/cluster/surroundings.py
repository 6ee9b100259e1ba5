"""What a run needs of a cluster besides pods to hit: each thing is looked at and said to be there or missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from chaosgate.cluster.api import Cluster, Forbidden
from chaosgate.cluster.names import ALLOWED_LABEL
from chaosgate.cluster.targets import find_pods, is_ready
from chaosgate.deploy.cluster.access import review
from chaosgate.deploy.cluster.rbac import ACCOUNT_PREFIX, hit_namespaces, needs_of
from chaosgate.deploy.cluster.room import PodNeed, scoped, shortages, unasked
from chaosgate.deploy.cluster.subject import one_image, own_pods, selector_of
from chaosgate.errors import ClusterError, DeployError
from chaosgate.model.carrier import Carrier, SecretVariable
from chaosgate.model.spec import ChaosSpec
from chaosgate.tokens import KEY_VARIABLE

Level = Literal["ok", "missing", "note"]
Say = Iterator["Finding"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at; a `note` is what a person decides about, or what this client may not see."""

    about: str
    level: Level
    text: str


def surroundings(cluster: Cluster, spec: ChaosSpec, carrier: Carrier, needs: Sequence[PodNeed]) -> Iterator[Finding]:
    """Everything but the faults; `needs` are the pods that a run has at its peak."""
    yield from looked("workflows", lambda: workflows(cluster, spec))
    yield from looked("namespace", lambda: namespaces(cluster, spec))
    yield from looked("account", lambda: account(cluster, carrier))
    for variable in carrier.variables:
        yield from looked("secrets", partial(secret, cluster, variable))
    yield from looked("image", lambda: image(cluster, carrier))
    yield from looked("target", lambda: existing(cluster, spec))
    yield from looked("rights", lambda: rights(cluster, spec, carrier))
    yield from looked("room", lambda: room(cluster, needs))


def looked(about: str, says: Callable[[], Say]) -> list[Finding]:
    """What was found; that something may not be read is a note, and whatever else fails is missing."""
    found: list[Finding] = []
    try:
        found.extend(says())
    except Forbidden as error:
        found.append(Finding(about, "note", f"not looked at: {error}"))
    except (ClusterError, DeployError) as error:
        found.append(Finding(about, "missing", str(error)))
    return found


def workflows(cluster: Cluster, spec: ChaosSpec) -> Say:
    """Whether the custom resources of Argo Workflows are there."""
    kinds = ["Workflow", *(["CronWorkflow"] if spec.spec.schedule else [])]
    for kind in kinds:
        if cluster.serves(kind):
            yield Finding("workflows", "ok", f"the kind {kind} of Argo Workflows is served")
        else:
            yield Finding(
                "workflows",
                "missing",
                f"no kind {kind} (argoproj.io/v1alpha1) is served; install Argo Workflows 3.6 or newer",
            )


def namespaces(cluster: Cluster, spec: ChaosSpec) -> Say:
    """Whether the namespaces are there, and whether faults are allowed where they hit."""
    hit = hit_namespaces(spec, cluster.namespace)
    for name in dict.fromkeys((cluster.namespace, *hit)):
        found = cluster.get("Namespace", name)
        labels = {} if found is None else found["metadata"].get("labels") or {}
        if found is None:
            yield Finding("namespace", "missing", f"{name} is not there; make it: kubectl create namespace {name}")
        elif name in hit and name in spec.spec.safety.protected:
            yield Finding(
                "namespace", "missing", f"{name} is protected: nothing is changed there; choose another target"
            )
        elif name not in hit:
            yield Finding("namespace", "ok", f"{name} is there; no fault changes anything in it")
        elif labels.get(ALLOWED_LABEL) == "true":
            yield Finding("namespace", "ok", f"{name} allows faults ({ALLOWED_LABEL}=true)")
        else:
            yield Finding(
                "namespace",
                "missing",
                f"{name} does not allow faults; who answers for it allows them: kubectl label namespace {name} "
                f"{ALLOWED_LABEL}=true",
            )


def account(cluster: Cluster, carrier: Carrier) -> Say:
    """Whether the service account of the run's pods is there."""
    name = carrier.service_account
    if cluster.get("ServiceAccount", name) is not None:
        yield Finding("account", "ok", f"service account {name} in namespace {cluster.namespace}")
        return
    yield Finding(
        "account",
        "missing",
        f"namespace {cluster.namespace} has no service account {name}; make it with its rights: chaosgate rbac SPEC "
        f"--namespace {cluster.namespace} | kubectl apply -f -",
    )


def secret(cluster: Cluster, variable: SecretVariable) -> Say:
    """Whether one key of one Secret is there."""
    found = cluster.get("Secret", variable.secret)
    where = f"Secret {variable.secret} with the key {variable.key} for {variable.env}"
    if found is not None and variable.key in (found.get("data") or {}):
        yield Finding("secrets", "ok", where)
    elif variable.optional and variable.env != KEY_VARIABLE:
        yield Finding("secrets", "note", f"no {where}; it is optional")
    else:
        literal = "$(openssl rand -hex 32)" if variable.env == KEY_VARIABLE else "VALUE"
        yield Finding(
            "secrets",
            "missing",
            f"no {where}; make it: kubectl create secret generic {variable.secret} --namespace {cluster.namespace} "
            f"--from-literal={variable.key}={literal}",
        )


def image(cluster: Cluster, carrier: Carrier) -> Say:
    """Where the image is already, and where it would be pulled from."""
    nodes = cluster.select("Node")
    have = [node for node in nodes if carrier.image in images_of(node)]
    where = f"{carrier.image}: {len(have)} of {len(nodes)} nodes list it"
    if len(have) == len(nodes):
        yield Finding("image", "ok", where)
    elif carrier.pull_policy == "Never":
        yield Finding(
            "image", "note", f"{where} (a node lists its 50 largest), and pullPolicy is Never: no other gets it"
        )
    else:
        yield Finding("image", "note", f"{where}; the others pull it from {registry_of(carrier.image)}")


def images_of(node: dict[str, Any]) -> set[str]:
    """The names of the images that a node reports."""
    return {name for one in node.get("status", {}).get("images") or [] for name in one.get("names") or []}


def registry_of(name: str) -> str:
    """The registry that a node asks for an image: without one in its name, Docker's."""
    first, slash, _ = name.partition("/")
    return (
        first if slash and (set(".:") & set(first) or first == "localhost") else "docker.io, for it names no registry"
    )


def existing(cluster: Cluster, spec: ChaosSpec) -> Say:
    """Whether the server under test is there and ready, where its pods are known."""
    pods = None if spec.spec.target.kubernetes is None else own_pods(cluster, spec, "")
    if pods is None:
        how = "started by deploy" if spec.spec.target.engine == "embedded" else "asked at its address by deploy"
        yield Finding("target", "ok", f"{spec.spec.target.model} is {how}")
        return
    ready = [pod for pod in find_pods(cluster, pods) if is_ready(pod)]
    where = f"pods with {selector_of(pods)} in namespace {pods.namespace}"
    if not ready:
        yield Finding("target", "missing", f"no ready {where}; bring the server up first")
    else:
        yield Finding("target", "ok", f"{len(ready)} ready {where}, image {one_image(cluster, pods)}")


def rights(cluster: Cluster, spec: ChaosSpec, carrier: Carrier) -> Say:
    """Whether the account may do what its run does."""
    user = f"{ACCOUNT_PREFIX}{cluster.namespace}:{carrier.service_account}"
    access = review(cluster, needs_of(spec, cluster.namespace), user)
    if access.user is None:
        yield Finding(
            "rights",
            "note",
            f"you may not ask in the name of {user} (impersonate users): the answers are about you, not about it",
        )
    remedy = f"chaosgate rbac SPEC --namespace {cluster.namespace} | kubectl apply -f -"
    for sentence in access.sentences():
        yield Finding("rights", "missing", f"{sentence}; an administrator grants it: {remedy}")
    if not access.refused:
        yield Finding("rights", "ok", f"{access.user or 'you'}: all {access.asked} rights that a run uses")


def room(cluster: Cluster, needs: Sequence[PodNeed]) -> Say:
    """Whether quotas and ranges leave room for a run's pods."""
    quotas, ranges = cluster.select("ResourceQuota"), cluster.select("LimitRange")
    short = list(shortages(quotas, ranges, needs))
    for sentence in short:
        yield Finding("room", "missing", sentence)
    for resource in unasked(quotas, ranges):
        yield Finding(
            "room",
            "note",
            f"a quota counts {resource}: the containers that Argo adds to each step must ask for it, too; set "
            "`executor.resources` in the configuration of its controller, or a LimitRange with a defaultRequest",
        )
    for quota in filter(scoped, quotas):
        yield Finding("room", "note", f"ResourceQuota {quota['metadata']['name']} has scopes; not looked at")
    if not short:
        who = ", ".join(f"{one.count} {one.what}" for one in needs)
        yield Finding("room", "ok", f"{len(quotas)} quotas and {len(ranges)} limit ranges leave room for {who}")
