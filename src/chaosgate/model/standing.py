"""A fault at one dose without a sweep, as a gateway on its own carries it: on until somebody takes it off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chaosgate.errors import Problem, dotted
from chaosgate.model.fault import FAULTS, MAX_HOLD, Fault
from chaosgate.model.validation import validate
from chaosgate.units import format_value


def standing_fault(kind: str, name: str, dose: str | float, parameters: Mapping[str, Any]) -> Fault:
    """The fault `name` of `kind` at `dose`, written as in a spec's sweep, with its other `parameters`.

    A RegistryError names an unknown kind, a ValueError says of each wrong parameter what was read and what is allowed.
    """
    family = FAULTS.get(kind)
    sweep = {"parameter": family.axis().parameter, "values": [dose], "hold": f"{MAX_HOLD}s", "washout": "0s"}
    fault, problems = validate(family, {"name": name, "kind": kind, **parameters, "dose": sweep})
    if fault is None:
        raise ValueError("; ".join(map(_sentence, problems)))
    check_dose(fault, dose_of(fault))
    return fault


def dose_of(fault: Fault) -> float:
    """The dose of a standing fault, in the base unit of its axis."""
    return float(fault.dose.values[0])


def check_dose(fault: Fault, dose: float) -> None:
    """A ValueError unless `dose` lies between 0 and the largest that the kind of `fault` allows."""
    if not 0 <= dose <= fault.max_dose:
        read, limit = (format_value(value, fault.axis().dimension) for value in (dose, fault.max_dose))
        raise ValueError(f"dose: read {read}; {fault.kind} allows 0 to {limit}")


def _sentence(problem: Problem) -> str:
    path = ("dose",) if problem.path[:1] == ("dose",) else problem.path
    return f"{dotted(path)}: {problem.message}"
