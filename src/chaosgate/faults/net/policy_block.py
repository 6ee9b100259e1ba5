"""net.policy-block: a NetworkPolicy keeps the run's gateway away from pods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from chaosgate.draws import Draw
from chaosgate.model.change import BlockIngress, Change, Permission, TargetPod, drawn
from chaosgate.model.fault import FAULTS, ClusterFault, Goes, Sweep, Witness, too_few
from chaosgate.model.observation import Observation

LEAST_FAILED = 0.05
"""The share of requests that must fail more than before: the least that a look at a few hundred of them tells apart."""


@FAULTS.register("net.policy-block")
class PolicyBlock(ClusterFault):
    """A firewall rule gone wrong: a NetworkPolicy lets no packet of the run's gateway into pods of the target.

    Other pods of the namespace and of other namespaces still reach them. A connection that is open may live on, and a
    policy of somebody else that lets the gateway in wins over this one. Requests that got no connection hang until the
    gateway gives up after 10 s, or the client after its timeout: choose `hold` longer than that.
    """

    kind: Literal["net.policy-block"]
    dose: Sweep[Literal["pods"], int]

    goes: ClassVar[Goes] = "undone"
    max_dose: ClassVar[float] = 1000

    def changes(self, dose: float, pods: Sequence[TargetPod], draw: Draw) -> Sequence[Change]:
        """One policy for the first `dose` pods in drawn order."""
        hit = drawn([pod.name for pod in pods], draw)[: int(dose)]
        return [BlockIngress(tuple(hit))] if hit else []

    def objections(self, dose: float, pods: Sequence[TargetPod]) -> list[str]:
        """Too few pods."""
        return too_few(self, dose, len(pods), "pods")

    def permissions(self) -> tuple[Permission, ...]:
        """Labelling the pods it is about, and making and deleting the policy."""
        return (
            *self.common_permissions,
            Permission("", "pods", ("patch",)),
            Permission("networking.k8s.io", "networkpolicies", ("get", "list", "create", "delete")),
        )

    def witness(self, dose: float) -> Witness:
        """More requests fail: nothing but the traffic itself tells whether a policy is enforced."""
        unless = "a network plug-in that enforces no NetworkPolicy gives no effect"
        return Witness("share of failed requests", "share", LEAST_FAILED, _failed, unless)


def _failed(seen: Observation) -> float:
    return float(seen.outcome != "ok")
