"""A run as it would meet a cluster now: what is there, what is missing, whom its faults would hit. Changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from chaosgate.cluster.api import Cluster
from chaosgate.deploy.cluster.aim import FaultAim, Look, aims
from chaosgate.deploy.cluster.manifests import OwnPod
from chaosgate.deploy.cluster.rbac import cluster_faults
from chaosgate.deploy.cluster.room import PodNeed
from chaosgate.deploy.cluster.safety import Guard
from chaosgate.deploy.cluster.subject import own_pods
from chaosgate.deploy.cluster.surroundings import Finding, surroundings
from chaosgate.errors import ClusterError, DeployError
from chaosgate.model.carrier import Carrier
from chaosgate.model.safety import Override
from chaosgate.model.spec import ChaosSpec

PLANNED_RUN = "planned-run"
"""Stands for the run that there is not yet."""


@dataclass(frozen=True)
class DryRun:
    """All that was found."""

    spec: str
    digest: str
    server: str
    version: str
    namespace: str
    findings: tuple[Finding, ...]
    faults: tuple[FaultAim, ...]
    """The faults that act on the cluster; every other acts on the run's own requests."""
    overrides: tuple[Override, ...]

    @property
    def ready(self) -> bool:
        """Whether nothing that is needed is missing, and inject would let every dose of every fault through."""
        missing = any(one.level == "missing" for one in self.findings)
        return not missing and all(dose.allowed for fault in self.faults for dose in fault.doses)

    def to_json(self) -> dict[str, Any]:
        """The same for machines."""
        plain = {key: value for key, value in vars(self).items() if isinstance(value, str)}
        return {
            **plain,
            "ready": self.ready,
            "findings": [asdict(one) for one in self.findings],
            "faults": [fault.to_json() for fault in self.faults],
            "overrides": [one.to_json() for one in self.overrides],
        }


def dry_run(cluster: Cluster, spec: ChaosSpec, carrier: Carrier, needs: Sequence[PodNeed], look: Look) -> DryRun:
    """What a run of `spec` in the cluster's namespace would meet.

    `needs`: the pods that a run has at its peak; `look`: what else who injects would object to. A ClusterError when
    the API server cannot be reached.
    """
    version = cluster.version()
    faults, problems = aimed(cluster, spec, carrier, look)
    return DryRun(
        spec=spec.metadata.name,
        digest=spec.digest(),
        server=cluster.server,
        version=version,
        namespace=cluster.namespace,
        findings=(*surroundings(cluster, spec, carrier, needs), *problems),
        faults=faults,
        overrides=spec.spec.safety.overrides,
    )


def aimed(
    cluster: Cluster, spec: ChaosSpec, carrier: Carrier, look: Look
) -> tuple[tuple[FaultAim, ...], tuple[Finding, ...]]:
    """Whom each fault of the cluster would hit, or what keeps that from being found out."""
    if not cluster_faults(spec):
        return (), ()
    template = OwnPod(carrier.image, carrier.pull_policy, carrier.service_account)
    try:
        guard = Guard(cluster, spec, PLANNED_RUN, own_pods(cluster, spec, PLANNED_RUN))
        return tuple(aims(guard, template, look)), ()
    except (ClusterError, DeployError) as error:
        return (), (Finding("faults", "missing", f"whom they hit is not known: {error}"),)
