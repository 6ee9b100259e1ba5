"""pod.delete: pods of the target are deleted, and whoever owns them makes others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from chaosgate.draws import Draw
from chaosgate.model.change import Change, DeletePod, Permission, TargetPod, drawn
from chaosgate.model.fault import FAULTS, ClusterFault, GaugeWitness, Goes, Sweep, too_few


@FAULTS.register("pod.delete")
class PodDelete(ClusterFault):
    """Replicas lost at once: so many pods of the target are deleted when a window begins; their owner replaces them."""

    kind: Literal["pod.delete"]
    grace: Annotated[int, Field(ge=0, le=3600)] | None = None
    """Seconds a pod has to end by itself; 0 ends it at once, as a lost node does. Left out, what the pod says itself"""
    dose: Sweep[Literal["pods"], int]

    goes: ClassVar[Goes] = "healed"
    max_dose: ClassVar[float] = 1000

    def changes(self, dose: float, pods: Sequence[TargetPod], draw: Draw) -> Sequence[Change]:
        """The deletion of the first `dose` pods in drawn order."""
        found = {pod.name: pod for pod in pods}
        return [DeletePod(name, found[name].uid, self.grace) for name in drawn(list(found), draw)[: int(dose)]]

    def objections(self, dose: float, pods: Sequence[TargetPod]) -> list[str]:
        """Too few pods."""
        return too_few(self, dose, len(pods), "pods")

    def permissions(self) -> tuple[Permission, ...]:
        """Deleting pods."""
        return (*self.common_permissions, Permission("", "pods", ("delete",)))

    def witness(self, dose: float) -> GaugeWitness:
        """Pods that were there are gone or on their way out; half of them must show, and the target be whole again."""
        return GaugeWitness("number of pods lost in a window", "count", dose / 2, "lost", "rise")
