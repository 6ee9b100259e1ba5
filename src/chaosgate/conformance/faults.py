"""What a fault kind owes: a known axis, pure effects or changes that grow with the dose, a witness to believe."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, get_args

from chaosgate.conformance.cluster_faults import PODS, check_cluster_fault
from chaosgate.conformance.common import build, call, check_documented, check_named, require
from chaosgate.conformance.engine_faults import check_engine_fault
from chaosgate.conformance.observations import observations, samples
from chaosgate.draws import Draw
from chaosgate.model.fault import (
    FAULTS,
    AnswerWitness,
    ClusterFault,
    Cut,
    Delay,
    Effect,
    EngineFault,
    Fault,
    GaugeName,
    GaugeWitness,
    Goes,
    Reply,
    Surface,
    WireFault,
)
from chaosgate.model.observation import Observation
from chaosgate.units import Dimension

Seen = TypeVar("Seen")

REQUESTS = 256
"""Draws on which effects are compared: enough that a share of 5 % is hit and spared several times."""


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
        check_documented(kind, "effects")
        _check_effects(fault, doses)


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


def _check_effects(fault: WireFault, doses: Sequence[float]) -> None:
    draws = [fault.draw(7, f"7.block1.{number}") for number in range(REQUESTS)]
    table = [[_effects(fault, dose, draw) for dose in doses] for draw in draws]
    for draw, row in zip(draws, table, strict=True):
        for dose, effects in zip(doses, row, strict=True):
            _check_sane(fault, dose, effects)
        _check_row(fault, doses, row)
        # In the other order of doses: an effect that keeps a state shows here.
        again = [_effects(fault, dose, draw) for dose in reversed(doses)][::-1]
        require(
            again == row, type(fault), f"effects of one draw differ between calls: {row} and {again}; keep no state"
        )
    bites = any(_bites(row[-1]) for row in table)
    require(bites, type(fault), f"nothing happens to any of {REQUESTS} requests at max_dose {fault.max_dose}")


def _effects(fault: WireFault, dose: float, draw: Draw) -> tuple[Effect, ...]:
    return tuple(call(type(fault), f"effects({dose})", lambda: fault.effects(dose, draw)))


def _check_row(fault: WireFault, doses: Sequence[float], row: Sequence[Sequence[Effect]]) -> None:
    """One request over all doses: untouched at 0, and once hit it stays hit."""
    kind = type(fault)
    require(not _bites(row[0]), kind, f"effects at dose 0 are {row[0]}; nothing may change there")
    hits = [_bites(effects) for effects in row]
    first = hits.index(True) if True in hits else len(hits)
    for dose, hit in zip(doses[first:], hits[first:], strict=True):
        require(
            hit, kind, f"a request hit at dose {doses[first]} is spared at {dose}; the draw may not depend on the dose"
        )


def _bites(effects: Sequence[Effect]) -> bool:
    return any(not (isinstance(effect, Delay) and effect.seconds == 0) for effect in effects)


def _check_sane(fault: WireFault, dose: float, effects: Sequence[Effect]) -> None:
    kind = type(fault)
    for effect in effects:
        match effect:
            case Delay(seconds):
                good = math.isfinite(seconds) and seconds >= 0
            case Cut(after, _):
                good = after >= 0
            case Reply(status, headers, body):
                texts = all(isinstance(text, str) for item in headers.items() for text in item)
                good = 200 <= status <= 599 and texts and _is_json(body)
            case _:
                good = False
        require(good, kind, f"effects({dose}) gave {effect}; effects are finite, not negative, and plain data")


def _is_json(body: Mapping[str, Any]) -> bool:
    try:
        json.dumps(dict(body), allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True
