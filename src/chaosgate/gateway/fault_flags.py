"""A standing fault in one word, as on a command line: `wire.latency=200ms,jitter=20ms,share=10%`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from chaosgate.errors import RegistryError, SpecError, UsageError
from chaosgate.model.annotations import keys_of, of_field, strip
from chaosgate.model.fault import FAULTS, Fault, WireFault
from chaosgate.model.selection import Select
from chaosgate.model.source import VALUES, parse_source
from chaosgate.model.standing import standing_fault
from chaosgate.registry import nearest, unknown

FORM = "KIND=DOSE[,parameter=value]..., such as wire.latency=200ms,share=10%"

_PARAMETER = re.compile(r",(?=[A-Za-z][\w.-]*=)")
"""A comma that begins the next parameter; any other one belongs to a value, which may be a sentence."""
_TEXTS = (str, dict[str, str])
_OWN = ("kind", "dose", "select")
"""Keys of a fault that a flag writes in another way."""


def read_faults(flags: Iterable[str], taken: Sequence[Fault] = ()) -> tuple[Fault, ...]:
    """The faults of `flags` in their order; a UsageError quotes the flag that is wrong and says what is allowed.

    A fault without a `name` is called by its kind with dashes, numbered where `taken` or an earlier flag has the name.
    """
    faults = list(taken)
    for flag in flags:
        faults.append(read_fault(flag, [fault.name for fault in faults]))
    return tuple(faults[len(taken) :])


def read_fault(flag: str, taken: Sequence[str] = ()) -> Fault:
    """The fault of one flag, whose name is none of `taken`."""
    try:
        kind, dose, words = _parts(flag)
        parameters = _parameters(kind, words)
        fault = standing_fault(kind, parameters.pop("name", free_name(kind, taken)), dose, parameters)
    except (RegistryError, ValueError) as error:
        raise UsageError(f"--fault {flag}: {error}") from error
    if fault.name in taken:
        raise UsageError(f"--fault {flag}: another fault is called {fault.name!r}; give it a name of its own: name=...")
    return fault


def check_carried(kind: str) -> None:
    """A ValueError for a kind that a gateway alone cannot carry out, a RegistryError for one that nobody knows."""
    found = FAULTS.get(kind)
    if not issubclass(found, WireFault):
        families = sorted({name.partition(".")[0] for name, one in FAULTS.items() if issubclass(one, WireFault)})
        raise ValueError(
            f"{kind} acts on the {found.surface}, which a gateway alone does not reach: write a spec with it. "
            f"A gateway carries what belongs to {', '.join(families)}; `chaosgate catalogue` lists them"
        )


def _parts(flag: str) -> tuple[str, Any, list[tuple[str, str]]]:
    """The kind, its dose, and its parameters in their order."""
    head, *rest = _PARAMETER.split(flag)
    kind, equals, dose = head.partition("=")
    if kind:
        check_carried(kind)
    if not equals or not kind or not dose:
        raise ValueError(f"write {FORM}")
    words = [(name, value) for name, _, value in (word.partition("=") for word in rest)]
    names = [name for name, _ in words]
    if double := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{double}: is given twice; give it once")
    return kind, _read(dose), words


def _parameters(kind: str, words: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The parameters of a fault as a spec has them; `shape.ramp` leads into the mapping `shape`."""
    known = _known(kind)
    parameters: dict[str, Any] = {}
    for name, text in words:
        head, *rest = name.split(".")
        if head not in known:
            allowed = f" allowed: {', '.join(sorted(known))}" if nearest(head, known) else ""
            raise ValueError(unknown(f"parameter of {kind}", head, known) + allowed)
        path, annotation = known[head]
        _put(parameters, (*path, *rest), _value(text, annotation))
    return parameters


def _known(kind: str) -> dict[str, tuple[tuple[str, ...], Any]]:
    """Where each parameter belongs and what it allows, by its name on a command line: the fault, or its `select`."""
    own = {name: field for name, field in keys_of(FAULTS.get(kind)).items() if name not in _OWN}
    selecting = {name: (("select", name), of_field(field)) for name, field in keys_of(Select).items()}
    return selecting | {name: ((name,), of_field(field)) for name, field in own.items()}


def _put(data: dict[str, Any], path: Sequence[str], value: Any) -> None:
    for key in path[:-1]:
        data = data.setdefault(key, {})
        if not isinstance(data, dict):
            raise ValueError(f"{'.'.join(path)}: {key} has a value of its own already")
    data[path[-1]] = value


def _value(text: str, annotation: Any) -> Any:
    """`text` as a spec would read it behind a colon, and as it is where `annotation` has room for text alone.

    There a spec needs quotes around `3` and `true`, which a shell takes away.
    """
    value = _read(text)
    return text if strip(annotation) in _TEXTS and not isinstance(value, str) else value


def _read(text: str) -> Any:
    """`3` as a number, `true` as a truth value; what is no YAML is text."""
    try:
        source = parse_source(f"value: {text}", "--fault", VALUES)
    except SpecError:
        return text
    return text if source.problems or set(source.data) != {"value"} else source.data["value"]


def free_name(kind: str, taken: Sequence[str]) -> str:
    """What a fault of `kind` is called that was given no name: its kind with dashes, numbered where that is `taken`."""
    base = kind.replace(".", "-")
    names = (base if number == 1 else f"{base}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)
