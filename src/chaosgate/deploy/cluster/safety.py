"""The rules of safety, held against a real cluster: before every change of inject, and by `plan --dry-run=server`.

What is looked at is read anew each time: a pod that was healthy a minute ago need not be so now. A rule that the spec
overrides is left out; everything else that stands in the way is said in one sentence each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from chaosgate.cluster.api import Cluster
from chaosgate.cluster.names import ALLOWED_LABEL, HIT_LABEL, INJECTABLE_LABEL, RUN_LABEL
from chaosgate.cluster.targets import deployment_of, find_pods, is_ready, target_of
from chaosgate.model.change import BlockIngress, Change, Cordon, DeletePod, KillContainer, Scale, SetLimit, Taint
from chaosgate.model.fault import ClusterFault, ClusterTarget
from chaosgate.model.safety import Override, Rule, Safety, why_closed
from chaosgate.model.spec import ChaosSpec
from chaosgate.units import format_share

CLOSING = ("NoSchedule", "NoExecute")
"""Effects of taints that keep new pods away."""

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Objection:
    """A rule that a change would break; `override` is what the spec says against the rule, None while it holds."""

    rule: Rule
    text: str
    override: Override | None = None


@dataclass(frozen=True)
class Scene:
    """What is on the cluster just before a change."""

    place: str
    """The namespace of the target."""
    namespace: Json | None
    """The same as an object, None when there is none."""
    pods: Mapping[str, Json]
    """The target's pods that run, by name."""
    budgets: Sequence[Json] = ()
    """The PodDisruptionBudgets of the namespace."""
    nodes: Mapping[str, Json] = field(default_factory=dict)
    """The nodes by name; none where no change is about one."""


@dataclass(frozen=True)
class Guard:
    """Who may be hit in a run of `spec`, by what is on the cluster."""

    cluster: Cluster
    spec: ChaosSpec
    run: str | None
    """The run, None before there is one."""
    own: ClusterTarget | None
    """The pods that serve the run's target, None where they are not known."""

    def check(self, fault: ClusterFault, changes: Sequence[Change]) -> list[str]:
        """Why these changes may not be made together, one sentence each; nothing when they may."""
        return standing(self.objections(fault, changes))

    def objections(self, fault: ClusterFault, changes: Sequence[Change]) -> list[Objection]:
        """Every rule that the changes would break together, overridden ones too; none for no change at all."""
        return self.judge(fault, self.read(fault, changes), changes) if changes else []

    def read(self, fault: ClusterFault, changes: Sequence[Change]) -> Scene:
        """What is to be known of the target's namespace, and of the nodes where changes are about nodes."""
        target = target_of(fault, self.own)
        place = target.namespace or self.cluster.namespace
        return Scene(
            place=place,
            namespace=self.cluster.get("Namespace", place),
            pods=by_name(find_pods(self.cluster, target)),
            budgets=self.cluster.select("PodDisruptionBudget", "", place),
            nodes=by_name(self.cluster.select("Node")) if closed_nodes(changes) else {},
        )

    def judge(
        self, fault: ClusterFault, scene: Scene, changes: Sequence[Change], now: datetime | None = None
    ) -> list[Objection]:
        """As `objections`, of a cluster that was read already; `now` is this process's clock unless it is given."""
        safety = self.spec.spec.safety
        hit = {name: scene.pods[name] for name in hit_pods(changes, scene.pods)}
        closed = {name: scene.nodes[name] for name in closed_nodes(changes) if name in scene.nodes}
        found = [
            *out_of_bounds(scene, safety, hit, self.cluster.namespace, self.own),
            *(pod_objections(scene, hit, safety, self.run) if hit else ()),
            *(node_objections(scene.nodes, closed, safety, self.run) if closed else ()),
            *at_a_wrong_time(fault, safety, now or datetime.now(UTC)),
        ]
        return [Objection(one.rule, one.text, safety.overridden(one.rule)) for one in found]


def hit_pods(changes: Sequence[Change], pods: Mapping[str, Json]) -> list[str]:
    """Those of the target's pods that `changes` hit, by name.

    Which replicas a Deployment gives up is its own choice: so many are taken to be ready ones.
    """
    found: dict[str, None] = {}
    for change in changes:
        match change:
            case DeletePod() | KillContainer() | SetLimit():
                found[change.pod] = None
            case BlockIngress():
                found |= dict.fromkeys(change.pods)
            case Scale():
                owned = [name for name, pod in pods.items() if deployment_of(pod) == change.deployment]
                found |= dict.fromkeys(sorted(owned, key=lambda name: not is_ready(pods[name]))[: change.fewer])
            case Taint(effect="NoExecute"):
                found |= dict.fromkeys(name for name, pod in pods.items() if pod["spec"].get("nodeName") == change.node)
    return [name for name in found if name in pods]


def closed_nodes(changes: Sequence[Change]) -> list[str]:
    """The nodes that `changes` close to new pods, by name."""
    return list(dict.fromkeys(change.node for change in changes if isinstance(change, (Taint, Cordon))))


def pod_objections(scene: Scene, hit: Mapping[str, Json], safety: Safety, run: str | None) -> Iterator[Objection]:
    """What speaks against hitting these pods together."""
    touched = hit.keys() | marked(scene.pods, run)
    left = [name for name, pod in scene.pods.items() if name not in touched and is_ready(pod)]
    yield from strangers("pod", hit.values(), run)
    yield from not_injectable("pod", hit.values(), "put it into the template from which its pods are made")
    yield from too_many("pods", len(touched), len(scene.pods), safety)
    yield from too_few("ready pods", f"the target in namespace {scene.place}", len(left), safety)
    yield from over_budget(scene, hit)


def node_objections(
    nodes: Mapping[str, Json], closed: Mapping[str, Json], safety: Safety, run: str | None
) -> Iterator[Objection]:
    """What speaks against closing these nodes together."""
    touched = closed.keys() | marked(nodes, run)
    left = [name for name, node in nodes.items() if name not in touched and takes_pods(node)]
    yield from strangers("node", closed.values(), run)
    yield from not_injectable("node", closed.values(), "label nodes on which nothing else runs")
    yield from too_many("nodes", len(touched), len(nodes), safety)
    yield from too_few("nodes that take pods", "the cluster", len(left), safety)


def standing(objections: Sequence[Objection]) -> list[str]:
    """The sentences of the objections that no override lifts."""
    return [one.text for one in objections if one.override is None]


def out_of_bounds(
    scene: Scene, safety: Safety, hit: Mapping[str, Json], steps: str, own: ClusterTarget | None
) -> Iterator[Objection]:
    """Namespaces that are protected, that did not allow faults, or that are the run's own and not all of its target."""
    if scene.place in safety.protected:
        listed = ", ".join(sorted(safety.protected))
        yield Objection(
            "protected-namespace", f"namespace {scene.place} is protected, as {listed} are; choose another target"
        )
        return
    labels = {} if scene.namespace is None else scene.namespace["metadata"].get("labels") or {}
    if labels.get(ALLOWED_LABEL) != "true":
        yield Objection(
            "namespace-opt-in",
            f"namespace {scene.place} has {_read(labels, ALLOWED_LABEL)}; faults are injected where it is true: who "
            f"answers for it allows it with `kubectl label namespace {scene.place} {ALLOWED_LABEL}=true`",
        )
    if scene.place != steps:
        return
    for name, pod in hit.items():
        if own is None or own.namespace != steps or not own.labels.items() <= _labels(pod).items():
            yield Objection(
                "protected-namespace",
                f"pod {name} is in namespace {steps}, where the run's own steps are; only the run's target may be hit "
                "there, and this pod does not belong to it: choose another target, or another namespace for the run",
            )


def strangers(noun: str, objects: Iterable[Json], run: str | None) -> Iterator[Objection]:
    """Objects that belong to another run, or that one of its faults has changed."""
    for one in objects:
        said = {**(one["metadata"].get("annotations") or {}), **_labels(one)}
        other = next(((key, said[key]) for key in (RUN_LABEL, HIT_LABEL) if said.get(key, run) != run), None)
        if other is not None:
            key, whose = other
            yield Objection(
                "one-fault-per-target",
                f"{noun} {one['metadata']['name']} is another run's, {key} reads {whose}; a target has one fault at a "
                f"time: wait until that run is over, or end it with `chaosgate cleanup {whose}`",
            )


def not_injectable(noun: str, objects: Iterable[Json], advice: str) -> Iterator[Objection]:
    """Objects whose owner did not say that they may be hit."""
    rule: Rule = "pod-opt-in" if noun == "pod" else "node-opt-in"
    for one in objects:
        if _labels(one).get(INJECTABLE_LABEL) != "true":
            name, read = one["metadata"]["name"], _read(_labels(one), INJECTABLE_LABEL)
            yield Objection(rule, f"{noun} {name} has {read}; a fault hits what has {INJECTABLE_LABEL}=true: {advice}")


def too_many(what: str, hit: int, there: int, safety: Safety) -> Iterator[Objection]:
    """More at once than the spec's safety allows, by number and by share."""
    if hit > safety.max_pods:
        yield Objection(
            "max-pods",
            f"{hit} {what} would be hit at once; safety.maxPods allows {safety.max_pods}: lower the dose or raise it",
        )
    if there and hit / there > safety.max_share:
        yield Objection(
            "max-share",
            f"{hit} of {there} {what} would be hit at once, {format_share(round(hit / there, 4))}; safety.maxShare "
            f"allows {format_share(safety.max_share)}: lower the dose, run more of them, or raise it",
        )


def too_few(what: str, whose: str, left: int, safety: Safety) -> Iterator[Objection]:
    """Fewer left alone than the spec's safety wants."""
    if left < safety.min_healthy:
        yield Objection(
            "min-healthy",
            f"{left} {what} of {whose} would be left alone; safety.minHealthy wants {safety.min_healthy}: wait until "
            "more are ready, or run more of them",
        )


def over_budget(scene: Scene, hit: Mapping[str, Json]) -> Iterator[Objection]:
    """PodDisruptionBudgets that do not allow so many of their pods to go now."""
    for budget in scene.budgets:
        covered = sorted(name for name, pod in hit.items() if selects(budget["spec"].get("selector"), _labels(pod)))
        allowed = int(budget.get("status", {}).get("disruptionsAllowed", 0))
        if len(covered) > allowed:
            yield Objection(
                "disruption-budget",
                f"PodDisruptionBudget {budget['metadata']['name']} in namespace {scene.place} allows {allowed} "
                f"disruptions now, {len(covered)} of its pods would be hit ({', '.join(covered)}): wait until more of "
                "them are ready, or lower the dose",
            )


def at_a_wrong_time(fault: ClusterFault, safety: Safety, now: datetime) -> Iterator[Objection]:
    """A window that would begin or end outside the times that the spec allows, by this process's clock."""
    why = why_closed(safety.allowed, now, fault.dose.hold)
    if why is not None:
        yield Objection("time-window", f"{why} (safety.allowed); wait, or change the allowed times")


def marked(objects: Mapping[str, Json], run: str | None) -> set[str]:
    """The names of those that a fault of this run has changed already."""
    return {name for name, one in objects.items() if run is not None and _labels(one).get(HIT_LABEL) == run}


def takes_pods(node: Json) -> bool:
    """Whether a node is ready and open to new pods."""
    conditions = node.get("status", {}).get("conditions") or []
    taints = node.get("spec", {}).get("taints") or []
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    closed = node.get("spec", {}).get("unschedulable") or any(one["effect"] in CLOSING for one in taints)
    return ready and not closed


def selects(selector: Json | None, labels: Mapping[str, str]) -> bool:
    """Whether a label selector picks labels; an empty one picks all, a missing one none."""
    if selector is None:
        return False
    wanted: Mapping[str, str] = selector.get("matchLabels") or {}
    expressions: Sequence[Json] = selector.get("matchExpressions") or ()
    return wanted.items() <= labels.items() and all(_holds(one, labels) for one in expressions)


def _holds(expression: Json, labels: Mapping[str, str]) -> bool:
    """One requirement of a label selector (Kubernetes API, LabelSelectorRequirement)."""
    key, values = expression["key"], expression.get("values") or ()
    match expression["operator"]:
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case _:
            return key not in labels


def by_name(objects: Iterable[Json]) -> dict[str, Json]:
    """Objects of one kind and namespace, by name."""
    return {one["metadata"]["name"]: one for one in objects}


def _labels(one: Json) -> Mapping[str, str]:
    return one["metadata"].get("labels") or {}


def _read(labels: Mapping[str, str], key: str) -> str:
    return f"the label {key}={labels[key]}" if key in labels else f"no label {key}"
