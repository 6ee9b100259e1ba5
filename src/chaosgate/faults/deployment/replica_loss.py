"""deployment.replica-loss: a Deployment is scaled down for a while."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.model.change import Change, Permission, Scale, TargetPod, drawn
from chaosgate.model.fault import FAULTS, ClusterFault, GaugeWitness, Goes, Sweep, too_few


@FAULTS.register("deployment.replica-loss")
class ReplicaLoss(ClusterFault):
    """Capacity that is lost for a while: the target's Deployment is scaled down, and back up when the window ends."""

    kind: Literal["deployment.replica-loss"]
    dose: Sweep[Literal["replicas"], int]

    goes: ClassVar[Goes] = "undone"
    max_dose: ClassVar[float] = 1000

    def changes(self, dose: float, pods: Sequence[TargetPod], draw: Draw) -> Sequence[Change]:
        """One step down for each Deployment, by how many of the first `dose` pods in drawn order are its own."""
        owners = {pod.name: pod.deployment for pod in pods if pod.deployment is not None}
        lost = Counter(owners[name] for name in drawn(list(owners), draw)[: int(dose)])
        return [Scale(deployment, fewer) for deployment, fewer in sorted(lost.items())]

    def objections(self, dose: float, pods: Sequence[TargetPod]) -> list[str]:
        """Too few pods, or pods that no Deployment owns."""
        strays = [
            f"{self.name}: pod {pod.name} belongs to no Deployment; name pods of one by the target's labels"
            for pod in pods
            if pod.deployment is None
        ]
        return [*too_few(self, dose, len(pods), "replicas"), *strays]

    def permissions(self) -> tuple[Permission, ...]:
        """Scaling Deployments, and finding those again that were scaled."""
        return (*self.common_permissions, Permission("apps", "deployments", ("get", "list", "patch")))

    def witness(self, dose: float) -> GaugeWitness:
        """Fewer pods are ready; half of the replicas must show in the mean, and be back."""
        unless = "an autoscaler may scale it back up at once"
        return GaugeWitness("number of ready pods", "count", dose / 2, "ready", falls=True, unless=unless)
