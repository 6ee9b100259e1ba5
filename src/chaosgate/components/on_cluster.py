"""A run on a cluster as its components see it: brought up by deploy, found again by its id by whoever cleans up."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from chaosgate.artifacts import RECORD, SPEC, Identity, document_text, read_document, spec_identity
from chaosgate.cluster.api import Cluster, open_cluster
from chaosgate.components.definition import Context
from chaosgate.components.deploy import declared_phases, subject_at
from chaosgate.components.progress import tell
from chaosgate.components.recording import record
from chaosgate.deploy.cluster.bring_up import (
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
from chaosgate.deploy.cluster.names import object_name
from chaosgate.deploy.cluster.own_pod import read_own_pod
from chaosgate.errors import ArtifactError, DeployError, GatewayError, TrackingError
from chaosgate.inject.http import GatewayAdmin, read_token
from chaosgate.model.plan import DEPLOY
from chaosgate.model.result import Cleanup, Endpoint, SecretRef, Verdict
from chaosgate.model.spec import ChaosSpec
from chaosgate.tokens import KEY_VARIABLE
from chaosgate.tracking.mlflow_record import recorded_digest, seal_run
from chaosgate.tracking.pages import TrackedRun

LIFETIME_GRACE = 300.0
"""Seconds that the run's servers outlive the sweeper's deadline: by then they end even if it was killed too."""


def bring_up(run: str, spec: ChaosSpec, deadline: float) -> Endpoint:
    """Marker and sweeper first, so that whatever is started after them is accounted for; then target and gateway."""
    for problem in unsupported(spec):
        raise DeployError(problem.render(spec.metadata.name))
    token = token_of(run)
    cluster = open_cluster()
    own = read_own_pod(cluster)
    mark(cluster, run, document_text(SPEC, spec_identity(spec), spec))
    arm_sweeper(cluster, run, own, deadline)
    upstream = start_target(cluster, run, own, spec, deadline + LIFETIME_GRACE)
    asyncio.run(subject_at(upstream, spec))
    phases = declared_phases(spec)
    url, admin = start_gateway(cluster, run, own, spec, upstream, phases, deadline + LIFETIME_GRACE)
    subject = asyncio.run(subject_at(url, spec))
    return Endpoint(url=url, admin=admin, token=token, upstream=upstream, subject=subject, namespace=cluster.namespace)


def start_target(cluster: Cluster, run: str, own: OwnPod, spec: ChaosSpec, lifetime: float) -> str:
    """The address of the server under test: one that runs, or the embedded engine that is started for the run."""
    target = spec.spec.target
    return target.endpoint.rstrip("/") if target.endpoint else start_engine(cluster, run, own, spec, lifetime)


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


def clean_up(run: str) -> tuple[Cleanup, str]:
    """Halt the gateway, take away what the run made, seal it in MLflow; the marker goes last, once all is clean.

    Returns the seal and the digest of the run's spec, `unknown` where there is no marker to tell it.
    """
    cluster = open_cluster()
    spec = marked_spec(cluster, run)
    actions = halt_gateway(cluster, run)
    removed, left = remove_objects(cluster, run)
    digest, unsealed = record_seal(run, spec, clean=not left)
    cleanup = Cleanup(
        clean=not left,
        actions=(*actions, *(f"removed {thing}" for thing in removed), *unsealed),
        left=tuple(left),
        record_digest=digest,
    )
    if cleanup.clean:
        remove_marker(cluster, run)
    return cleanup, spec.digest() if spec else "unknown"


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
