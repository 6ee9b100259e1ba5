"""What a fault of the cluster owes besides, and each way to break it, refused by a broken twin."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

import pytest

from chaosgate.conformance import ConformanceError, check_fault
from chaosgate.draws import Draw
from chaosgate.model.change import Change, Cordon, DeletePod, Permission, Scale, SetLimit, TargetPod, drawn
from chaosgate.model.fault import FAULTS, ClusterFault, GaugeWitness, Goes, Sweep, too_few

_NUMBERS = itertools.count()
_CALLS = itertools.count(1)


class Sound(ClusterFault):
    """A fault of the cluster that keeps the contract; the twins below break one thing each."""

    kind: Literal["twin.cluster"]
    dose: Sweep[Literal["pods"], int]
    goes: ClassVar[Goes] = "healed"
    max_dose: ClassVar[float] = 100

    def changes(self, dose: float, pods: Sequence[TargetPod], draw: Draw) -> Sequence[Change]:
        """The first pods in drawn order are deleted."""
        uids = {pod.name: pod.uid for pod in pods}
        return [DeletePod(name, uids[name], None) for name in drawn(list(uids), draw)[: int(dose)]]

    def objections(self, dose: float, pods: Sequence[TargetPod]) -> list[str]:
        """Too few."""
        return too_few(self, dose, len(pods), "pods")

    def permissions(self) -> tuple[Permission, ...]:
        """Deleting."""
        return (*self.common_permissions, Permission("", "pods", ("delete",)))

    def witness(self, dose: float) -> GaugeWitness:
        """They are gone."""
        return GaugeWitness("number of pods lost in a window", "count", dose / 2, "lost", "rise")


SOUND = {
    "name": "mine",
    "kind": "twin.cluster",
    "dose": {"parameter": "pods", "values": [1, 2], "hold": "4s", "washout": "1s"},
}


def twin(**changed: Any) -> type[ClusterFault]:
    """A registered subclass of the sound twin with something replaced."""
    name = f"BrokenCluster{next(_NUMBERS)}"
    kind = type(name, (Sound,), {"__module__": __name__, "__doc__": "A broken twin.", **changed})
    return FAULTS.register("twin.cluster")(kind)


def documented(**methods: Any) -> dict[str, Any]:
    for method in methods.values():
        method.__doc__ = "What a broken twin does."
    return methods


def test_the_sound_twin_passes() -> None:
    check_fault(FAULTS.register("twin.cluster")(Sound), SOUND)


def _undocumented(self: Sound, dose: float, pods: Sequence[TargetPod], draw: Draw) -> Sequence[Change]:
    return []


def _by_dose(self: Sound, dose: float, pods: Sequence[TargetPod], draw: Draw) -> Sequence[Change]:
    """Which pods are hit depends on the dose."""
    other = replace(draw, request=f"{draw.request}.{dose}")
    return Sound.changes(self, dose, pods, other)


def _as_listed(self: Sound, dose: float, pods: Sequence[TargetPod], draw: Draw) -> Sequence[Change]:
    """The first pods as the API server lists them."""
    return [DeletePod(pod.name, pod.uid, None) for pod in pods[: int(dose)]]


def _weaker(self: Sound, dose: float, pods: Sequence[TargetPod], draw: Draw) -> Sequence[Change]:
    """A limit is cut less at a larger dose."""
    pod = pods[0] if pods[0].name == "engine-0" else pods[-1]
    return [SetLimit(pod.name, pod.uid, pod.container, "cpu", 1 + dose / 100)] if dose else []


LIMITS = (Permission("", "pods", ("patch",)), Permission("", "pods/resize", ("patch",)))
TWINS: list[tuple[dict[str, Any], str]] = [
    ({"changes": _undocumented}, "changes has no docstring"),
    ({"changes": ClusterFault.changes}, r"changes\(0\.0\) raised NotImplementedError"),
    ({"permissions": ClusterFault.permissions}, r"permissions\(\) raised NotImplementedError"),
    (
        documented(changes=lambda self, dose, pods, draw: [Cordon("node-0")]),
        "at dose 0 are .*; nothing may change there",
    ),
    (documented(changes=lambda self, dose, pods, draw: []), r"nothing is changed at the largest dose 2\.0 of 8 pods"),
    ({"changes": _by_dose}, r"is hit less at dose .*; no draw may depend on the dose"),
    ({"changes": _as_listed}, "changes depend on the order of the pods: .*; sort them by name"),
    ({"changes": _weaker, **documented(permissions=lambda self: LIMITS)}, r"pod engine-0 is hit less at dose 2\.0"),
    (
        documented(changes=lambda self, dose, pods, draw: [DeletePod("engine-0", "another", None)] if dose else []),
        "only what is the target's is changed",
    ),
    (
        documented(changes=lambda self, dose, pods, draw: [Scale("another", 1)] if dose else []),
        r"gave Scale\(deployment='another', fewer=1\); only what is the target's is changed",
    ),
    (documented(permissions=lambda self: self.common_permissions), "lacks delete pods, which DeletePod takes"),
    (
        documented(permissions=lambda self: (Permission("", "pods", ("kill",)),)),
        r"name a group, a resource and some of",
    ),
    (documented(objections=lambda self, dose, pods: []), "no objection to a target without pods"),
    (
        documented(witness=lambda self, dose: GaugeWitness("pods", "count", 0.0, "lost")),
        "identical data would already count as an effect",
    ),
    (
        documented(witness=lambda self, dose: GaugeWitness("pods", "count", 1.0, "mood")),  # type: ignore[arg-type]
        "its witness reads 'mood'; gauges are ready, lost",
    ),
]


@pytest.mark.parametrize(("changed", "sentence"), TWINS, ids=[sentence[:40] for _, sentence in TWINS])
def test_a_broken_twin_is_refused(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConformanceError, match=sentence):
        check_fault(twin(**changed), SOUND)


def test_changes_that_keep_a_state_are_refused() -> None:
    def changes(self: Sound, dose: float, pods: Sequence[TargetPod], draw: Draw) -> Sequence[Change]:
        """Another one each time."""
        return [Scale("engine", next(_CALLS))] if dose else []

    with pytest.raises(ConformanceError, match=r"differ between calls: .*; keep no state"):
        check_fault(twin(changes=changes), SOUND)
