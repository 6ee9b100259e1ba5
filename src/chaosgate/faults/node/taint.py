"""node.taint: nodes get a taint that pods do not tolerate."""

from __future__ import annotations

from typing import Literal

from chaosgate.faults.node.closing import NodeClosing
from chaosgate.model.change import Change, Taint, TaintEffect
from chaosgate.model.fault import FAULTS, GaugeWitness, Sweep


@FAULTS.register("node.taint")
class NodeTaint(NodeClosing):
    """A node goes bad: nodes that carry the target get the taint `chaosgate/run` until the window ends.

    `NoSchedule` keeps new pods away and moves none that runs; `evict: true` deletes the target's own pods there.
    `NoExecute` evicts every pod on the node that does not tolerate it, whoever's it is.
    """

    kind: Literal["node.taint"]
    effect: TaintEffect = "NoSchedule"
    """What the taint does to pods that do not tolerate it."""
    dose: Sweep[Literal["nodes"], int]

    def closed(self, node: str) -> Change:
        """A taint."""
        return Taint(node, self.effect)

    def witness(self, dose: float) -> GaugeWitness:
        """As of any closed node; a pod that tolerates the taint stays."""
        if self.effect == "NoSchedule":
            return super().witness(dose)
        unless = "pods that tolerate the taint stay"
        return GaugeWitness("number of pods lost in a window", "count", dose / 2, "lost", "rise", unless=unless)
