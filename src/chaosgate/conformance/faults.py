"""What a fault kind owes: a known axis, pure behaviour that grows with the dose, a witness to believe."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, get_args

from chaosgate.conformance.cluster_faults import PODS, check_cluster_fault
from chaosgate.conformance.common import build, call, check_documented, check_named, require
from chaosgate.conformance.engine_faults import check_engine_fault
from chaosgate.conformance.observations import observations, samples
from chaosgate.conformance.wire_faults import check_wire_fault
from chaosgate.model.fault import (
    FAULTS,
    AnswerWitness,
    ClusterFault,
    EngineFault,
    Fault,
    GaugeName,
    GaugeWitness,
    Goes,
    Surface,
    WireFault,
)
from chaosgate.model.observation import Observation
from chaosgate.units import Dimension

Seen = TypeVar("Seen")


def check_fault(kind: type[Fault], example: Mapping[str, Any]) -> None:
    """Check a fault kind on an `example`, an entry of a spec's `faults`; a ConformanceError says what is owed."""
    check_documented(kind, "witness")
    check_named(kind, FAULTS)
    _check_declared(kind)
    fault = build(kind, example)
    doses = _doses(fault)
    for dose in doses[1:]:
        _check_witness(fault, dose)
    if isinstance(fault, ClusterFault):
        check_cluster_fault(fault, _within_reach(doses))
    if isinstance(fault, EngineFault):
        check_engine_fault(fault, doses)
    if isinstance(fault, WireFault):
        check_wire_fault(fault, doses)


def _check_declared(kind: type[Fault]) -> None:
    for name, allowed in (("surface", get_args(Surface)), ("goes", get_args(Goes))):
        value = getattr(kind, name, None)
        require(value in allowed, kind, f"{name} is {value!r}; declare one of {', '.join(allowed)}")
    largest = getattr(kind, "max_dose", None)
    sane = isinstance(largest, (int, float)) and math.isfinite(largest) and largest > 0
    require(sane, kind, f"max_dose is {largest!r}; declare a finite number above 0 in the axis' base unit")
    axis = call(kind, "axis()", kind.axis)
    require(axis.dimension in get_args(Dimension), kind, f"the dose has dimension {axis.dimension!r}; use a unit type")


def _doses(fault: Fault) -> list[float]:
    """0, the example's doses and the largest dose, ascending."""
    kind, doses = type(fault), sorted(map(float, fault.dose.values))
    inside = all(0 < dose <= fault.max_dose for dose in doses)
    require(inside, kind, f"the example has doses {doses}; they must lie above 0 and at most at max_dose")
    return sorted({0.0, *doses, float(fault.max_dose)})


def _within_reach(doses: Sequence[float]) -> list[float]:
    """Those doses that a target of a few pods can be given: a count may not exceed their number."""
    largest = max(doses)
    return [dose for dose in doses if dose <= len(PODS)] if largest > 1 else list(doses)


def _check_witness(fault: Fault, dose: float) -> None:
    kind = type(fault)
    witness = call(kind, f"witness({dose})", lambda: fault.witness(dose))
    require(bool(witness.what), kind, "its witness has no name; say what is seen, and by whom")
    require(
        math.isfinite(witness.moved) and witness.moved > 0,
        kind,
        f"its witness moves by {witness.moved} at dose {dose}; identical data would already count as an effect",
    )
    if isinstance(witness, GaugeWitness):
        known = get_args(GaugeName)
        require(witness.gauge in known, kind, f"its witness reads {witness.gauge!r}; gauges are {', '.join(known)}")
        return
    if isinstance(witness, AnswerWitness):
        values = [_check_seen(kind, witness.value, one, one.observation) for one in samples()]
    else:
        values = [_check_seen(kind, witness.value, seen, seen) for seen in observations()]
    require(any(value is not None for value in values), kind, "its witness says nothing about any request")


def _check_seen(
    kind: type[Fault], read: Callable[[Seen], float | None], given: Seen, seen: Observation
) -> float | None:
    value, again = (call(kind, f"its witness on {seen.outcome}", lambda: read(given)) for _ in "ab")
    good = value is None or math.isfinite(value)
    require(good, kind, f"its witness gave {value} for a request that ended {seen.outcome}; give a number or None")
    require(value == again, kind, f"its witness gave {value} and then {again} for one request; it must be pure")
    return value
