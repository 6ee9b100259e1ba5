"""What closing nodes to new pods takes, whatever closes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from chaosgate.draws import Draw
from chaosgate.model.change import Change, DeletePod, Permission, TargetPod, drawn
from chaosgate.model.fault import ClusterFault, GaugeWitness, Goes, too_few


class NodeClosing(ClusterFault):
    """Nodes that carry pods of the target take no new pods, until the window ends.

    That alone moves no pod that runs, and then nothing shows it but the node: `evict: true` deletes the target's own
    pods there, which must find another place.
    """

    evict: bool = False
    """Delete the target's pods on these nodes as well; nobody else's."""

    goes: ClassVar[Goes] = "undone"
    max_dose: ClassVar[float] = 1000
    stays: ClassVar[str] = "pods that run already stay: write `evict: true` to have the target's own moved"

    def changes(self, dose: float, pods: Sequence[TargetPod], draw: Draw) -> Sequence[Change]:
        """The first `dose` nodes in drawn order are closed, and with `evict` the target's pods there deleted."""
        nodes = drawn(sorted({pod.node for pod in pods if pod.node is not None}), draw)[: int(dose)]
        moved = [DeletePod(pod.name, pod.uid, None) for pod in pods if pod.node in nodes] if self.evict else []
        return [*map(self.closed, nodes), *moved]

    def closed(self, node: str) -> Change:
        """What closes one node."""
        raise NotImplementedError(f"{type(self).__name__} must say how it closes a node")

    def objections(self, dose: float, pods: Sequence[TargetPod]) -> list[str]:
        """Too few nodes."""
        return too_few(self, dose, len({pod.node for pod in pods} - {None}), "nodes")

    def permissions(self) -> tuple[Permission, ...]:
        """Changing nodes, and finding those again that were changed."""
        evicting = (Permission("", "pods", ("delete",)),) if self.evict else ()
        nodes = Permission("", "nodes", ("get", "list", "patch"), namespaced=False)
        return (*self.common_permissions, nodes, *evicting)

    def witness(self, dose: float) -> GaugeWitness:
        """Pods of the target had to leave, one a node at least; half of these must show, and the target be whole."""
        return GaugeWitness(
            "number of pods lost in a window",
            "count",
            dose / 2,
            "lost",
            "rise",
            unless="" if self.evict else self.stays,
        )
