"""Whom the faults of a spec would hit on a cluster as it is now, and which rules of safety speak to that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from chaosgate.cluster.targets import HASH_LABEL, as_target, find_pods, is_ready, target_of
from chaosgate.deploy.cluster.bring_up import engine_server
from chaosgate.deploy.cluster.manifests import OwnPod, deployment
from chaosgate.deploy.cluster.rbac import cluster_faults
from chaosgate.deploy.cluster.safety import Guard, Objection, Scene, by_name, closed_nodes, hit_pods
from chaosgate.model.blocks import make_blocks
from chaosgate.model.change import Change, TargetPod
from chaosgate.model.fault import ClusterFault, ClusterTarget
from chaosgate.model.plan import PlannedWindow
from chaosgate.model.spec import ChaosSpec
from chaosgate.units import Dimension

Json = Mapping[str, Any]
Look = Callable[[ClusterFault, str, Sequence[Change], Sequence[TargetPod]], list[str]]
"""What else speaks against changes of a fault in a namespace, as who carries them out sees it."""


@dataclass(frozen=True)
class Candidate:
    """A pod that a fault may hit; `node` is None before it has one."""

    name: str
    node: str | None
    ready: bool


@dataclass(frozen=True)
class DoseAim:
    """What a dose does: how many pods its largest window hits, which pods its windows hit, which nodes they close."""

    dose: float
    at_once: int
    pods: tuple[str, ...]
    nodes: tuple[str, ...]
    objections: tuple[Objection, ...]
    """Rules of safety that it would break."""
    obstacles: tuple[str, ...]
    """What else stands in its way, a sentence each."""

    def to_json(self) -> dict[str, Any]:
        """The same for machines."""
        objections = [
            {"rule": one.rule, "text": one.text, "overridden": one.override and one.override.reason}
            for one in self.objections
        ]
        return {**vars(self), "objections": objections, "allowed": self.allowed}

    @property
    def allowed(self) -> bool:
        """Whether inject would do it."""
        return not self.obstacles and all(one.override for one in self.objections)


@dataclass(frozen=True)
class FaultAim:
    """A fault and whom it may hit."""

    fault: str
    kind: str
    dimension: Dimension
    namespace: str
    labels: Mapping[str, str]
    candidates: tuple[Candidate, ...]
    planned: bool
    """Whether the pods are not there yet: deploy will make them."""
    doses: tuple[DoseAim, ...]
    """Empty where that is known only once its pods have their nodes."""

    def to_json(self) -> dict[str, Any]:
        """The same for machines."""
        plain = {key: value for key, value in vars(self).items() if key not in ("candidates", "doses", "labels")}
        return {
            **plain,
            "labels": dict(self.labels),
            "candidates": [asdict(one) for one in self.candidates],
            "doses": [one.to_json() for one in self.doses],
        }


def aims(guard: Guard, template: OwnPod, look: Look) -> Iterator[FaultAim]:
    """Each fault of the cluster with whom it would hit; a ClusterError where a fault is aimed at nothing.

    `template` is how deploy would make pods; those of an engine that is to be started are looked at as if they ran.
    """
    for fault in cluster_faults(guard.spec):
        target = target_of(fault, guard.own)
        to_come = guard.spec.spec.target.engine == "embedded" and target == guard.own
        pods = engine_pods(guard, template) if to_come else by_name(find_pods(guard.cluster, target))
        yield _Aim(guard, fault, pods, to_come, look).taken(target)


@dataclass(frozen=True)
class _Aim:
    """A fault while it is looked at."""

    guard: Guard
    fault: ClusterFault
    pods: Mapping[str, Json]
    to_come: bool
    look: Look

    def taken(self, target: ClusterTarget) -> FaultAim:
        """The fault with its doses; without them where its nodes are not known yet."""
        candidates = (Candidate(name, pod["spec"].get("nodeName"), is_ready(pod)) for name, pod in self.pods.items())
        return FaultAim(
            fault=self.fault.name,
            kind=self.fault.kind,
            dimension=self.fault.axis().dimension,
            namespace=target.namespace or self.guard.cluster.namespace,
            labels=target.labels,
            candidates=tuple(candidates),
            planned=self.to_come,
            doses=() if self.to_come and closes_nodes(self.fault) else tuple(self.doses()),
        )

    def doses(self) -> Iterator[DoseAim]:
        """Each dose by the changes of its planned windows."""
        targets = [as_target(pod, self.fault) for pod in self.pods.values()]
        planned: dict[float, list[Sequence[Change]]] = {dose: [] for dose in self.fault.dose.values}
        for phase, window in windows_of(self.guard.spec, self.fault.name):
            if window.dose:
                draw = self.fault.window_draw(self.guard.spec.spec.workload.seed, phase, window.index)
                planned[window.dose].append(self.fault.changes(window.dose, targets, draw))
        every = [change for found in planned.values() for changes in found for change in changes]
        scene = replace(self.guard.read(self.fault, every), pods=self.pods)
        for dose, found in planned.items():
            yield self.dose(dose, [changes for changes in found if changes], targets, scene)

    def dose(
        self, dose: float, windows: Sequence[Sequence[Change]], targets: Sequence[TargetPod], scene: Scene
    ) -> DoseAim:
        """What the changes of one dose come to; `windows` has those of each of its windows."""
        hits = [hit_pods(changes, self.pods) for changes in windows]
        objections = [one for changes in windows for one in self.guard.judge(self.fault, scene, changes)]
        obstacles = [why for changes in windows for why in self.look(self.fault, scene.place, changes, targets)]
        return DoseAim(
            dose=float(dose),
            at_once=max(map(len, hits), default=0),
            pods=tuple(sorted({name for hit in hits for name in hit})),
            nodes=tuple(sorted({node for changes in windows for node in closed_nodes(changes)})),
            objections=tuple(dict.fromkeys(objections)),
            obstacles=tuple(dict.fromkeys([*self.fault.objections(dose, targets), *obstacles])),
        )


def windows_of(spec: ChaosSpec, fault: str) -> Iterator[tuple[str, PlannedWindow]]:
    """The planned windows of a fault, each with its phase."""
    return ((block.phase, one) for block in make_blocks(spec) for one in block.windows if one.fault == fault)


def closes_nodes(fault: ClusterFault) -> bool:
    """Whether a fault changes what is in no namespace."""
    return any(not need.namespaced for need in fault.permissions())


def engine_pods(guard: Guard, template: OwnPod) -> dict[str, Json]:
    """The pods of the engine that deploy would start, as if they ran and were ready; their nodes are not known yet."""
    server = engine_server(str(guard.run), guard.spec, 0.0)
    made = deployment(server, template)["spec"]["template"]
    replicas = f"{server.name}-0"
    return by_name(
        {
            "kind": "Pod",
            "metadata": {
                "name": f"{server.name}-{number}",
                "namespace": guard.cluster.namespace,
                "uid": f"{server.name}-{number}",
                "labels": {**made["metadata"]["labels"], HASH_LABEL: "0"},
                "ownerReferences": [{"kind": "ReplicaSet", "name": replicas}],
            },
            "spec": made["spec"],
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        }
        for number in range(1, server.replicas + 1)
    )
