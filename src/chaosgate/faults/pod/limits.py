"""What cutting a limit of running pods takes, whichever resource it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from chaosgate.draws import Draw
from chaosgate.model.change import Change, Permission, Resource, SetLimit, TargetPod, drawn
from chaosgate.model.fault import ClusterFault, GaugeWitness, Goes
from chaosgate.units import Share


class LimitCut(ClusterFault):
    """A limit of a running container is cut in place, without a restart, and given back when the window ends."""

    container: str | None = None
    """The container whose limit is cut; left out, the first one of the pod."""
    share: Annotated[Share, Field(gt=0)] = 1.0
    """The share of the target's pods that are cut, one at least."""

    goes: ClassVar[Goes] = "undone"
    max_dose: ClassVar[float] = 0.95
    resource: ClassVar[Resource]

    def changes(self, dose: float, pods: Sequence[TargetPod], draw: Draw) -> Sequence[Change]:
        """The limit without the share `dose` of it, for the drawn share of the pods; nothing at dose 0."""
        found = {pod.name: pod for pod in pods if self.resource in pod.limits}
        hit = drawn([pod.name for pod in pods], draw)[: self._count(pods)] if dose > 0 else []
        return [self._cut(found[name], dose) for name in hit if name in found]

    def _count(self, pods: Sequence[TargetPod]) -> int:
        # A share such as 30 % of 10 is 3.0000000000000004 in binary.
        return max(1, math.ceil(self.share * len(pods) - 1e-9))

    def _cut(self, pod: TargetPod, dose: float) -> SetLimit:
        return SetLimit(pod.name, pod.uid, pod.container, self.resource, pod.limits[self.resource] * (1 - dose))

    def objections(self, dose: float, pods: Sequence[TargetPod]) -> list[str]:
        """No pods, or pods without the limit: one that was added could not be taken away from a running pod again."""
        if not pods:
            return [f"{self.name}: there is no pod to cut; check the target's labels"]
        return [
            f"{self.name}: container {pod.container} of pod {pod.name} has no {self.resource} limit to cut; set "
            f"resources.limits.{self.resource} where its pods are declared"
            for pod in pods
            if self.resource not in pod.limits
        ]

    def permissions(self) -> tuple[Permission, ...]:
        """Noting down on a pod what was there, and changing its limits in place."""
        return (
            *self.common_permissions,
            Permission("", "pods", ("patch",)),
            Permission("", "pods/resize", ("patch",)),
        )

    def witness(self, dose: float) -> GaugeWitness:
        """The limit in force falls, as the kubelets report it; half of the cut must show in the mean over all pods."""
        return GaugeWitness(
            f"share of the {self.resource} limit in force",
            "share",
            dose * self.share / 2,
            self.resource,
            falls=True,
            unless="pods are resized in place from Kubernetes 1.33 on, and memory only down to what is in use",
        )
