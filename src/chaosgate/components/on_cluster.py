"""A run on a cluster as its components see it: brought up by deploy, found again by its id by whoever cleans up."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from chaosgate.artifacts import RECORD, SPEC, Identity, document_text, read_document, spec_identity
from chaosgate.cluster.api import Cluster, open_cluster
from chaosgate.cluster.names import hit_selector, object_name
from chaosgate.components.definition import Context
from chaosgate.components.deploy import declared_phases, subject_at
from chaosgate.components.progress import tell
from chaosgate.components.recording import record
from chaosgate.deploy.cluster.bring_up import (
    MARKER,
    address,
    arm_sweeper,
    mark,
    read_marker,
    start_engine,
    start_gateway,
    sweeper_guards,
    token_of,
    unsupported,
)
from chaosgate.deploy.cluster.clean import is_marked, remove_marker, remove_objects
from chaosgate.deploy.cluster.manifests import ADMIN_PORT, OwnPod
from chaosgate.deploy.cluster.own_pod import read_own_pod
from chaosgate.deploy.cluster.rbac import cluster_faults, target_namespace
from chaosgate.deploy.cluster.safety import Guard
from chaosgate.deploy.cluster.subject import Served, one_image, own_pods, reach, read_image
from chaosgate.errors import ArtifactError, DeployError, GatewayError, TrackingError
from chaosgate.inject.cluster.switch import ClusterSwitch
from chaosgate.inject.cluster.undo import Place, places_of, undo
from chaosgate.inject.http import GatewayAdmin, read_token
from chaosgate.inject.sweep import FaultSwitch
from chaosgate.loadgen.cluster_gauges import TargetWatch
from chaosgate.model.fault import ClusterTarget
from chaosgate.model.plan import DEPLOY
from chaosgate.model.result import Cleanup, Endpoint, SecretRef, Subject, Verdict
from chaosgate.model.spec import ChaosSpec
from chaosgate.tokens import KEY_VARIABLE
from chaosgate.tracking.mlflow_record import recorded_digest, seal_run
from chaosgate.tracking.pages import TrackedRun

LIFETIME_GRACE = 300.0
"""Seconds that the run's servers outlive the sweeper's deadline: by then they end even if it was killed too."""


def guard(run: str, spec: ChaosSpec, deadline: float) -> None:
    """Marker and sweeper, before anything else: what is started or recorded after them is taken away and sealed."""
    cluster = open_cluster()
    own = read_own_pod(cluster)
    mark(cluster, run, document_text(SPEC, spec_identity(spec), spec))
    arm_sweeper(cluster, run, own, deadline)


def bring_up(run: str, spec: ChaosSpec, deadline: float) -> Endpoint:
    """Target and gateway of a run that is guarded; they outlive the sweeper's `deadline`."""
    for problem in unsupported(spec):
        raise DeployError(problem.render(spec.metadata.name))
    token = token_of(run)
    cluster = open_cluster()
    own = read_own_pod(cluster)
    served = start_target(cluster, run, own, spec, deadline + LIFETIME_GRACE)
    asyncio.run(subject_at(served.url, spec))
    phases = declared_phases(spec)
    url, admin = start_gateway(cluster, run, own, spec, served.url, phases, deadline + LIFETIME_GRACE)
    image = None if served.pods is None else one_image(cluster, served.pods)
    return Endpoint(
        url=url,
        admin=admin,
        token=token,
        upstream=served.url,
        subject=asyncio.run(subject_at(url, spec)).model_copy(update={"image_digest": image}),
        namespace=cluster.namespace,
        target=served.pods,
    )


def start_target(cluster: Cluster, run: str, own: OwnPod, spec: ChaosSpec, lifetime: float) -> Served:
    """The server under test: one that runs, or the embedded engine that is started for the run."""
    target = spec.spec.target
    if target.kubernetes is not None:
        return reach(cluster, run, target.kubernetes)
    if target.endpoint is not None:
        return Served(target.endpoint.rstrip("/"), None)
    url = start_engine(cluster, run, own, spec, lifetime)
    return Served(url, own_pods(cluster, spec, run))


def with_image(subject: Subject, pods: ClusterTarget) -> Subject:
    """`subject` with the image that its pods run now; a DeployError when none of them tells."""
    return subject.model_copy(update={"image_digest": read_image(open_cluster(), pods)})


def fault_switch(run: str, spec: ChaosSpec, phase: str, endpoint: Endpoint, gateway: GatewayAdmin) -> FaultSwitch:
    """Who switches the faults of a phase; rules of safety are looked at before every window."""
    if not cluster_faults(spec):
        return gateway
    cluster = open_cluster()
    guard = Guard(cluster, spec, run, endpoint.target)
    return ClusterSwitch(gateway, cluster, run, spec, phase, endpoint.target, guard.check)


def watches(spec: ChaosSpec, endpoint: Endpoint) -> list[TargetWatch]:
    """Who reads each second what the API server says of the targets of the spec's faults."""
    faults = cluster_faults(spec)
    cluster = open_cluster() if faults else None
    return [TargetWatch(cluster, fault, endpoint.target) for fault in faults if cluster is not None]


def why_unguarded(run: str) -> str | None:
    """Why nobody would clean up after this run if its workflow were deleted; None when the sweeper is there."""
    guarded = sweeper_guards(open_cluster(), run)
    return None if guarded else "the sweeper is gone; nothing is injected without it"


def record_opened(context: Context, spec: ChaosSpec) -> None:
    """Stand in MLflow as `error: not finished` from now on, in case that nothing more is heard of the run."""
    identity = Identity(context.run, spec.digest())
    opened = read_document(context.outputs["record"], RECORD, identity)
    verdict = Verdict(verdict=opened.verdict, reasons=opened.reasons)
    files = {f"{DEPLOY}/{RECORD.file}": context.outputs["record"], SPEC.file: context.inputs["spec"]}
    recording = record(TrackedRun(context.run, spec, verdict, None, None, (), opened, files), None)
    if recording.reason is not None:
        tell("note", text=f"the run is not in MLflow: {recording.reason}")


def clean_up(run: str, cluster: Cluster | None = None) -> tuple[Cleanup, str]:
    """Halt the gateway, take away what the run made, seal it in MLflow; the marker goes last, once all is clean.

    Returns the seal and the digest of the run's spec, `unknown` where there is no marker to tell it. `cluster` is given
    by who is no pod of it; the gateway does not answer then, and its faults end with its Deployment.
    """
    cluster = cluster or open_cluster()
    spec = marked_spec(cluster, run)
    actions = halt_gateway(cluster, run)
    places = changed_places(cluster, spec)
    undone, _ = undo(cluster, run, places)
    removed, there = remove_objects(cluster, run)
    # Once more: an injector that was just changing something has ended by now.
    again, still = undo(cluster, run, places)
    left = [*still, *there, *unknown_places(cluster, run, spec)]
    digest, unsealed = record_seal(run, spec, clean=not left)
    cleanup = Cleanup(
        clean=not left,
        actions=(*actions, *undone, *again, *(f"removed {thing}" for thing in removed), *unsealed),
        left=tuple(left),
        record_digest=digest,
    )
    if cleanup.clean:
        remove_marker(cluster, run)
    return cleanup, spec.digest() if spec else "unknown"


def changed_places(cluster: Cluster, spec: ChaosSpec | None) -> tuple[Place, ...]:
    """Where faults of a run may have changed anything; without its spec, whatever they change in its own namespace."""
    if spec is None:
        return tuple(Place(kind, cluster.namespace) for kind in ("Deployment", "NetworkPolicy", "Pod"))
    return places_of(cluster_faults(spec), target_namespace(spec, cluster.namespace))


def unknown_places(cluster: Cluster, run: str, spec: ChaosSpec | None) -> list[str]:
    """That nobody knows where else faults of the run changed anything, as its marker has no spec that can be read."""
    if spec is not None or not is_marked(cluster, run):
        return []
    name = object_name(run, MARKER)
    return [
        f"the spec in ConfigMap {name} cannot be read, so that what faults changed outside of namespace "
        f"{cluster.namespace} is unknown; look for the label {hit_selector(run)}, then delete the ConfigMap"
    ]


def is_over(run: str) -> bool:
    """Whether the run was cleaned up, or was never brought up."""
    return not is_marked(open_cluster(), run)


def marked_spec(cluster: Cluster, run: str) -> ChaosSpec | None:
    """The spec of the run as its marker keeps it, None when there is no marker (any more)."""
    text = read_marker(cluster, run)
    if text is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / SPEC.file
        file.write_text(text)
        try:
            return read_document(file, SPEC)
        except ArtifactError:
            return None


def halt_gateway(cluster: Cluster, run: str) -> list[str]:
    """End every fault at the run's gateway at once; its pod goes next, and what is left of its faults with it."""
    name = object_name(run, "gateway")
    if cluster.get("Service", name) is None:
        return ["no gateway was deployed"]
    try:
        token = read_token(SecretRef(env=KEY_VARIABLE, run=run))
        asyncio.run(_halt(address(cluster, name, ADMIN_PORT), token))
    except GatewayError:
        return ["the gateway does not answer"]
    return ["halted the gateway"]


async def _halt(url: str, token: str) -> None:
    async with GatewayAdmin(url, token) as admin:
        await admin.halt("cleanup")


def record_seal(run: str, spec: ChaosSpec | None, *, clean: bool) -> tuple[str | None, list[str]]:
    """Seal the run in MLflow; the digest of the record that is sealed, and what kept it from being sealed."""
    if spec is None:
        return None, []
    try:
        digest = recorded_digest(run, spec, None)
        seal_run(run, spec, None, clean)
    except TrackingError as error:
        return None, [f"the seal is not in MLflow: {error}"]
    return digest, []
