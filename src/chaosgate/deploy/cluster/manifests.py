"""The objects of a run as manifests: pure, so that a test compares them with the files beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chaosgate.cluster.names import INJECTABLE_LABEL, RUN_LABEL, labels, object_name

DATA_PORT, ADMIN_PORT, ENGINE_PORT = 8080, 8081, 8000
CONFIG_FOLDER = "/etc/chaosgate"
WORK_FOLDER = "/tmp"
ENGINE_LIMITS = {"cpu": "2", "memory": "1Gi"}
"""More than the embedded engine uses: a fault that cuts a limit needs one, and a running pod is given none."""
ENGINE_REQUESTS = {"cpu": "100m", "memory": "256Mi"}
GATEWAY_REQUESTS = {"cpu": "200m", "memory": "256Mi"}
SWEEPER_REQUESTS = {"cpu": "20m", "memory": "128Mi"}
"""What a cluster sets aside for each pod of a run besides its steps."""
SECURITY = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "runAsNonRoot": True,
    "capabilities": {"drop": ["ALL"]},
}

Json = dict[str, Any]


@dataclass(frozen=True)
class OwnPod:
    """What deploy's own pod says of how pods of this run are to be made."""

    image: str
    pull_policy: str
    service_account: str
    pull_secrets: tuple[Mapping[str, Any], ...] = ()
    node_selector: Mapping[str, str] | None = None
    tolerations: tuple[Mapping[str, Any], ...] = ()
    environment: tuple[Mapping[str, Any], ...] = ()
    """Environment variables for the run's own pods, by reference where they are secret: the sweeper's, all of them."""
    carried: bool = False
    """Whether a workflow owns the pod: the run is over when that is gone."""


@dataclass(frozen=True)
class Server:
    """A server of the run: one container in a Deployment with a Service in front."""

    run: str
    role: str
    argv: Sequence[str]
    ports: Mapping[str, int]
    requests: Mapping[str, str]
    replicas: int = 1
    config: str | None = None
    """The name of the ConfigMap that is mounted at CONFIG_FOLDER."""
    limits: Mapping[str, str] = field(default_factory=dict)
    injectable: bool = False
    """Whether faults of the run may hit its pods."""
    variables: tuple[str, ...] = ()
    """Which environment variables of deploy's own pod it is given. What is under test gets none: it could switch the
    faults and write the record."""

    @property
    def name(self) -> str:
        """The name of Deployment and Service."""
        return object_name(self.run, self.role)


def deployment(server: Server, own: OwnPod) -> Json:
    """The Deployment of a server. It is ready once its first port takes connections."""
    own_labels = labels(server.run, server.role)
    opt_in = {INJECTABLE_LABEL: "true"} if server.injectable else {}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": server.name, "labels": own_labels},
        "spec": {
            "replicas": server.replicas,
            "selector": {"matchLabels": own_labels},
            "strategy": {"type": "Recreate"},
            "template": {
                "metadata": {"labels": {**own_labels, **opt_in}},
                "spec": pod_spec(own, [container(server, own)], server.config),
            },
        },
    }


def container(server: Server, own: OwnPod) -> Json:
    """The one container of a server."""
    first = next(iter(server.ports.values()))
    mounts = [{"name": "work", "mountPath": WORK_FOLDER}]
    if server.config is not None:
        mounts.append({"name": "config", "mountPath": CONFIG_FOLDER})
    return {
        "name": server.role,
        "image": own.image,
        "imagePullPolicy": own.pull_policy,
        "command": list(server.argv),
        "env": [dict(one) for one in own.environment if one["name"] in server.variables],
        "ports": [{"name": name, "containerPort": port} for name, port in server.ports.items()],
        "readinessProbe": {"tcpSocket": {"port": first}, "periodSeconds": 1, "failureThreshold": 3},
        "resources": {"requests": dict(server.requests)} | ({"limits": dict(server.limits)} if server.limits else {}),
        "securityContext": SECURITY,
        "volumeMounts": mounts,
    }


def pod_spec(own: OwnPod, containers: Sequence[Json], config: str | None = None, **more: Any) -> Json:
    """A pod like deploy's own, without access to the API unless `more` says so."""
    volumes: list[Json] = [{"name": "work", "emptyDir": {}}]
    if config is not None:
        volumes.append({"name": "config", "configMap": {"name": config}})
    spec: Json = {
        "automountServiceAccountToken": False,
        "serviceAccountName": own.service_account,
        "terminationGracePeriodSeconds": 5,
        "containers": list(containers),
        "volumes": volumes,
        **more,
    }
    if own.pull_secrets:
        spec["imagePullSecrets"] = [dict(one) for one in own.pull_secrets]
    if own.node_selector:
        spec["nodeSelector"] = dict(own.node_selector)
    if own.tolerations:
        spec["tolerations"] = [dict(one) for one in own.tolerations]
    return spec


def service(run: str, role: str, ports: Mapping[str, int], pods: Mapping[str, str] | None = None) -> Json:
    """A Service in front of the pods of `role`, or of the pods that carry the labels `pods`."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": object_name(run, role), "labels": labels(run, role)},
        "spec": {
            "selector": dict(pods) if pods is not None else labels(run, role),
            "ports": [{"name": name, "port": port, "targetPort": port} for name, port in ports.items()],
        },
    }


def config_map(run: str, role: str, data: Mapping[str, str]) -> Json:
    """A ConfigMap of the run."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": object_name(run, role), "labels": labels(run, role)},
        "data": dict(data),
    }


def sweeper_job(run: str, own: OwnPod, seconds: float) -> Json:
    """The Job that cleans up when nobody else does. The workflow does not own it: it must outlive it.

    Its own deadline lies past the run's, so that nothing of a run is left for ever even if it fails.
    """
    argv = ["python", "-P", "-m", "chaosgate.components.sweeper", "--run", run, "--seconds", f"{seconds:.1f}"]
    argv += ["--carried"] * own.carried
    sweeper = {
        "name": "sweeper",
        "image": own.image,
        "imagePullPolicy": own.pull_policy,
        "command": argv,
        "env": [dict(one) for one in own.environment],
        "resources": {"requests": SWEEPER_REQUESTS},
        "securityContext": SECURITY,
        "volumeMounts": [{"name": "work", "mountPath": WORK_FOLDER}],
    }
    pod = pod_spec(own, [sweeper], automountServiceAccountToken=True, restartPolicy="OnFailure")
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": object_name(run, "sweeper"), "labels": labels(run, "sweeper")},
        "spec": {
            "backoffLimit": 20,
            "ttlSecondsAfterFinished": 60,
            "template": {"metadata": {"labels": labels(run, "sweeper")}, "spec": pod},
        },
    }


def run_of(manifest: Mapping[str, Any]) -> str | None:
    """The run an object belongs to, None for a stranger's."""
    found: str | None = manifest["metadata"].get("labels", {}).get(RUN_LABEL)
    return found
