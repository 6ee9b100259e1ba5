"""container.kill: the main process of a container ends, and the kubelet starts the container again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.model.change import Change, KillContainer, Permission, Signal, TargetPod, drawn
from chaosgate.model.fault import FAULTS, ClusterFault, GaugeWitness, Goes, Sweep, too_few


@FAULTS.register("container.kill")
class ContainerKill(ClusterFault):
    """A server that dies inside its pod: its main process gets a signal, and the kubelet starts the container again.

    The signal is sent by `sh -c "kill ..."` inside the container, which must have a shell. The kernel shields the first
    process of a container from SIGKILL, so that one that ignores `signal` lives on. A container that dies again within
    ten minutes is started after 10 s, then 20 s, 40 s and so on (Kubernetes, Pod Lifecycle): choose `hold` by that.
    """

    kind: Literal["container.kill"]
    container: str | None = None
    """The container; left out, the first one of the pod."""
    signal: Signal = "TERM"
    """What its main process gets."""
    dose: Sweep[Literal["pods"], int]

    goes: ClassVar[Goes] = "healed"
    max_dose: ClassVar[float] = 1000

    def changes(self, dose: float, pods: Sequence[TargetPod], draw: Draw) -> Sequence[Change]:
        """A signal to the first `dose` pods in drawn order."""
        found = {pod.name: pod for pod in pods}
        hit = [found[name] for name in drawn(list(found), draw)[: int(dose)]]
        return [KillContainer(pod.name, pod.uid, pod.container, self.signal) for pod in hit]

    def objections(self, dose: float, pods: Sequence[TargetPod]) -> list[str]:
        """Too few pods."""
        return too_few(self, dose, len(pods), "pods")

    def permissions(self) -> tuple[Permission, ...]:
        """Running a command in a container: over a WebSocket that is `get` up to Kubernetes 1.34, then `create`."""
        return (*self.common_permissions, Permission("", "pods/exec", ("get", "create")))

    def witness(self, dose: float) -> GaugeWitness:
        """Containers of the target died; half of them must show, and the target be whole again."""
        unless = "a main process that ignores the signal lives on"
        return GaugeWitness(
            "number of containers that died in a window", "count", dose / 2, "deaths", "rise", unless=unless
        )
