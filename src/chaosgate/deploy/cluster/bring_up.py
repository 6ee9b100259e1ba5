"""Bring up the target of a run on Kubernetes, its gateway and its sweeper."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from chaosgate.cluster.api import Cluster
from chaosgate.cluster.names import object_name, selector
from chaosgate.deploy.cluster.manifests import (
    ADMIN_PORT,
    CONFIG_FOLDER,
    DATA_PORT,
    ENGINE_LIMITS,
    ENGINE_PORT,
    ENGINE_REQUESTS,
    GATEWAY_REQUESTS,
    OwnPod,
    Server,
    config_map,
    deployment,
    service,
    sweeper_job,
)
from chaosgate.deploy.cluster.ready import wait_reachable, wait_ready
from chaosgate.deploy.gateway_config import gateway_config
from chaosgate.errors import DeployError, Problem
from chaosgate.model.carried_faults import EngineFaults, engine_faults
from chaosgate.model.result import SecretRef
from chaosgate.model.spec import ChaosSpec
from chaosgate.tokens import KEY_VARIABLE, engine_token, token_digest, token_under

READY_DEADLINE = 300.0
"""Seconds a server has until it serves: its image may have to be pulled and its node started."""
REACHABLE_DEADLINE = 60.0
"""Seconds until a Service leads to pods that are ready: DNS and each node's proxy learn of them one after the other."""
MARKER = "run"
"""The role of the ConfigMap that stands as long as the run does; it goes last."""
CONFIG_FILE = "gateway.json"
SPEC_FILE = "spec.json"
FAULTS_FILE = "faults.json"


def unsupported(spec: ChaosSpec) -> Iterator[Problem]:
    """What a spec asks of its target that cannot be brought up on a cluster."""
    if spec.spec.target.engine == "vllm":
        yield Problem(
            ("spec", "target", "engine"),
            "read 'vllm', which this version does not start; serve the model yourself and write `engine: endpoint` "
            "with the address of its Service as `endpoint`",
        )


def mark(cluster: Cluster, run: str, spec_document: str) -> None:
    """Say that the run is on, before anything else of it is made, and keep its spec for whoever cleans up.

    A DeployError when another run has its name.
    """
    if cluster.get("ConfigMap", object_name(run, MARKER)) is not None:
        raise DeployError(
            f"a run called {run} is on already in namespace {cluster.namespace}; `chaosgate cleanup {run}`"
        )
    cluster.create(config_map(run, MARKER, {SPEC_FILE: spec_document}))


def read_marker(cluster: Cluster, run: str) -> str | None:
    """The spec's document that the run's marker keeps, None when there is no marker."""
    found = cluster.get("ConfigMap", object_name(run, MARKER))
    text: str | None = None if found is None else found.get("data", {}).get(SPEC_FILE)
    return text


def arm_sweeper(cluster: Cluster, run: str, own: OwnPod, seconds: float) -> None:
    """The Job that cleans up when the workflow is gone or `seconds` have passed."""
    cluster.create(sweeper_job(run, own, seconds))


def start_engine(cluster: Cluster, run: str, own: OwnPod, spec: ChaosSpec, lifetime: float) -> str:
    """The embedded engine with its replicas; the address of its Service."""
    server, faults = engine_server(run, spec, lifetime), engine_faults(spec.spec.faults)
    if server.config is not None:
        token = engine_token(token_under(KEY_VARIABLE, run))
        told = EngineFaults(faults=faults, token_digest=token_digest(token))
        cluster.apply(config_map(run, "engine", {FAULTS_FILE: told.model_dump_json()}))
    return start(cluster, own, server)


def engine_server(run: str, spec: ChaosSpec, lifetime: float) -> Server:
    """The embedded engine of a run, which its faults may hit, also from inside.

    The ConfigMap that says so holds no token but its digest, and no key is in the pod: nothing there opens the gateway.
    """
    argv = [*_python("chaosgate.engine"), "--host", "0.0.0.0", "--port", str(ENGINE_PORT)]
    argv += ["--model", spec.spec.target.model, "--lifetime", f"{lifetime:.1f}"]
    config = object_name(run, "engine") if engine_faults(spec.spec.faults) else None
    if config is not None:
        argv += ["--faults", f"{CONFIG_FOLDER}/{FAULTS_FILE}"]
    ports, replicas = {"http": ENGINE_PORT}, spec.spec.target.replicas
    return Server(run, "engine", argv, ports, ENGINE_REQUESTS, replicas, config, ENGINE_LIMITS, injectable=True)


def start_gateway(
    cluster: Cluster,
    run: str,
    own: OwnPod,
    spec: ChaosSpec,
    upstream: str,
    phases: Mapping[str, list[str]],
    lifetime: float,
) -> tuple[str, str]:
    """The run's gateway in front of `upstream`; its data and its admin address."""
    config = gateway_config(spec, run, upstream, phases)
    cluster.apply(config_map(run, "gateway", {CONFIG_FILE: config}))
    argv = [*_python("chaosgate.gateway"), "--host", "0.0.0.0", "--config", f"{CONFIG_FOLDER}/{CONFIG_FILE}"]
    argv += ["--port", str(DATA_PORT), "--admin-host", "0.0.0.0", "--admin-port", str(ADMIN_PORT)]
    argv += ["--token-key", KEY_VARIABLE, "--lifetime", f"{lifetime:.1f}"]
    name = object_name(run, "gateway")
    ports = {"http": DATA_PORT, "admin": ADMIN_PORT}
    server = Server(run, "gateway", argv, ports, GATEWAY_REQUESTS, config=name, variables=(KEY_VARIABLE,))
    url = start(cluster, own, server)
    return url, address(cluster, name, ADMIN_PORT)


def start(cluster: Cluster, own: OwnPod, server: Server) -> str:
    """Make a server and wait until it serves; the address of its Service at its first port."""
    cluster.apply(service(server.run, server.role, server.ports))
    cluster.apply(deployment(server, own))
    wait_ready(cluster, server.name, selector(server.run, server.role), READY_DEADLINE)
    for port in server.ports.values():
        wait_reachable(host(cluster, server.name), port, REACHABLE_DEADLINE)
    return address(cluster, server.name, next(iter(server.ports.values())))


def address(cluster: Cluster, service_name: str, port: int) -> str:
    """How pods of the cluster reach a Service."""
    return f"http://{host(cluster, service_name)}:{port}"


def host(cluster: Cluster, service_name: str) -> str:
    """The name of a Service in the cluster's DNS."""
    return f"{service_name}.{cluster.namespace}.svc"


def token_of(run: str) -> SecretRef:
    """Where every step of the run finds the admin token; a DeployError when the key is not there."""
    if not os.environ.get(KEY_VARIABLE):
        raise DeployError(
            f"the environment variable {KEY_VARIABLE} is empty: the Secret with the gateway's key is missing; "
            "make it: kubectl create secret generic chaosgate-gateway --from-literal=key=$(openssl rand -hex 32)"
        )
    return SecretRef(env=KEY_VARIABLE, run=run)


def _python(module: str) -> list[str]:
    return ["python", "-P", "-m", module]


def sweeper_guards(cluster: Cluster, run: str) -> bool:
    """Whether the run's sweeper is there and has not ended."""
    job: dict[str, Any] | None = cluster.get("Job", object_name(run, "sweeper"))
    status = {} if job is None else job.get("status", {})
    return job is not None and not status.get("succeeded") and not status.get("completionTime")
