"""What a cluster must have before a run is submitted to it: looked at from here, so that no pod has to find it out."""

from __future__ import annotations

from collections.abc import Iterator

from chaosgate.cluster.api import Cluster, Forbidden
from chaosgate.errors import ClusterError
from chaosgate.model.carrier import Carrier, SecretVariable
from chaosgate.model.spec import ChaosSpec
from chaosgate.tokens import KEY_VARIABLE

INSTALL_ARGO = "https://argo-workflows.readthedocs.io/en/latest/quick-start/"
TRACKING_VARIABLE = "MLFLOW_TRACKING_URI"


def check_cluster(cluster: Cluster, carrier: Carrier, kind: str = "Workflow") -> None:
    """Nothing where a run can be submitted, else a ClusterError with all that is missing and how to make it.

    `kind` is what is to be submitted. What this user may not read counts as there.
    """
    try:
        cluster.version()
    except ClusterError as error:
        raise ClusterError(f"{error}; see where the kubeconfig leads: kubectl cluster-info") from error
    missing = [f"{cluster.server}: {sentence}" for sentence in _missing(cluster, carrier, kind)]
    if missing:
        raise ClusterError("\n".join(missing))


def _missing(cluster: Cluster, carrier: Carrier, kind: str) -> Iterator[str]:
    space = cluster.namespace
    if not cluster.serves(kind):
        yield (
            f"serves no kind {kind} (argoproj.io/v1alpha1); install Argo Workflows 3.6 or newer, or its custom "
            f"resource definitions: {INSTALL_ARGO}"
        )
    if not _is_there(cluster, "Namespace", space):
        yield f"has no namespace {space}; make it: kubectl create namespace {space}, or choose one with --namespace NS"
        return
    if not _is_there(cluster, "ServiceAccount", carrier.service_account):
        yield (
            f"namespace {space} has no service account {carrier.service_account}, which every step runs as; make it: "
            f"chaosgate rbac SPEC --namespace {space} | kubectl apply -f -"
        )
    for variable in carrier.variables:
        yield from _secret_problems(cluster, variable)


def _secret_problems(cluster: Cluster, variable: SecretVariable) -> Iterator[str]:
    """What keeps a pod that reads `variable` from starting, or from having the gateway's key."""
    needed = not variable.optional or variable.env == KEY_VARIABLE
    if not needed or _has_key(cluster, variable):
        return
    literal = "$(openssl rand -hex 32)" if variable.env == KEY_VARIABLE else "VALUE"
    why = "the admin token of every gateway comes from it" if variable.env == KEY_VARIABLE else "every step reads it"
    space = cluster.namespace
    yield (
        f"namespace {space} has no Secret {variable.secret} with the key {variable.key!r}: {why}; make it: "
        f"kubectl create secret generic {variable.secret} -n {space} --from-literal={variable.key}={literal}"
    )


def _has_key(cluster: Cluster, variable: SecretVariable) -> bool:
    try:
        found = cluster.get("Secret", variable.secret)
    except Forbidden:
        return True
    return found is not None and bool(found.get("data", {}).get(variable.key))


def _is_there(cluster: Cluster, kind: str, name: str) -> bool:
    try:
        return cluster.get(kind, name) is not None
    except Forbidden:
        # Who may not look at an object may still be allowed to run something beside it.
        return True


def why_unrecorded(spec: ChaosSpec, carrier: Carrier) -> str | None:
    """Why no step would find an MLflow server, None where one is named: this shell's variables do not reach a pod."""
    named = spec.spec.tracking.uri or any(one.env == TRACKING_VARIABLE for one in carrier.secrets)
    return None if named else "no MLflow server is named; the profile may name one: `tracking: {uri: ...}`"
