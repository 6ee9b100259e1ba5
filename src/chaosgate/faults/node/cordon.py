"""node.cordon: nodes are marked unschedulable."""

from __future__ import annotations

from typing import Literal

from chaosgate.faults.node.closing import NodeClosing
from chaosgate.model.change import Change, Cordon
from chaosgate.model.fault import FAULTS, Sweep


@FAULTS.register("node.cordon")
class NodeCordon(NodeClosing):
    """Maintenance begins: nodes that carry the target are cordoned until the window ends.

    A cordon alone moves no pod that runs; `evict: true` deletes the target's own pods there, which must find another
    place.
    """

    kind: Literal["node.cordon"]
    dose: Sweep[Literal["nodes"], int]

    def closed(self, node: str) -> Change:
        """A cordon."""
        return Cordon(node)
