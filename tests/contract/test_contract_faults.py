"""Every registered fault keeps the contract, and every way to break it is refused by a broken twin."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
import yaml

from chaosgate.conformance import ConformanceError, check_fault
from chaosgate.draws import Draw
from chaosgate.model.fault import FAULTS, Delay, Effect, Reply, Reset, Sweep, WireFault, Witness
from chaosgate.model.observation import Observation
from chaosgate.units import Duration, Share

ATOMS = Path(__file__).parents[2] / "chaos-specs" / "atoms"
_NUMBERS = itertools.count()
_CALLS = itertools.count(1)

EXAMPLES: dict[str, dict[str, Any]] = {
    "wire.latency": {"jitter": "5ms", "dose": {"parameter": "delay", "values": ["100ms", "300ms"]}},
    "wire.error": {"status": 429, "retryAfter": "2s", "dose": {"parameter": "probability", "values": ["5 %", "20 %"]}},
    "stream.cut": {"after": 3, "dose": {"parameter": "probability", "values": ["5 %", "20 %"]}},
}


def example(kind: str) -> dict[str, Any]:
    """The fault of the kind's atom, else the one above."""
    atom = ATOMS / f"{kind}.yaml"
    if atom.exists():
        fault: dict[str, Any] = yaml.safe_load(atom.read_text())["spec"]["faults"][0]
        return fault
    assert kind in EXAMPLES, f"{kind} has no example: write {atom}"
    return complete(kind, EXAMPLES[kind])


def complete(kind: str, given: dict[str, Any]) -> dict[str, Any]:
    return {"name": "mine", "kind": kind, **given, "dose": {**given["dose"], "hold": "2s", "washout": "500ms"}}


@pytest.mark.parametrize("kind", FAULTS.names())
def test_a_registered_fault_keeps_the_contract(kind: str) -> None:
    check_fault(FAULTS.get(kind), example(kind))


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("wire.latency", {"jitter": "0s", "select": {"share": "10 %"}}),
        ("wire.latency", {"jitter": "10s"}),
        ("wire.error", {"status": 503, "retryAfter": None}),
        ("stream.cut", {"after": 0, "marker": True}),
    ],
)
def test_a_fault_keeps_the_contract_with_other_parameters(kind: str, changed: dict[str, Any]) -> None:
    check_fault(FAULTS.get(kind), {**complete(kind, EXAMPLES[kind]), **changed})


def _first(seen: Observation) -> float | None:
    return None if seen.first is None else seen.first - seen.sent


class Sound(WireFault):
    """A fault that keeps the contract; the twins below break one thing each."""

    kind: Literal["twin.sound"]
    dose: Sweep[Literal["delay"], Duration]
    max_dose: ClassVar[float] = 10.0

    def effects(self, dose: float, draw: Draw) -> Sequence[Effect]:
        """One delay."""
        return (Delay(dose),)

    def witness(self, dose: float) -> Witness:
        """The first token comes later."""
        return Witness("mean time to first token", "duration", dose / 2, _first)


SOUND = complete("twin.sound", {"dose": {"parameter": "delay", "values": ["100ms", "1s"]}})
Twin = tuple[type[WireFault], str]


def test_the_sound_twin_passes() -> None:
    check_fault(FAULTS.register("twin.sound")(Sound), SOUND)


def broken(**changed: Any) -> type[WireFault]:
    """A registered subclass of the sound twin with something replaced."""
    kind = type(f"Broken{next(_NUMBERS)}", (Sound,), {"__module__": __name__, "__doc__": "A broken twin.", **changed})
    return FAULTS.register("twin.sound")(kind)


def effects(function: Any) -> dict[str, Any]:
    function.__doc__ = "What a broken twin does."
    return {"effects": function}


def witness(moved: float = 0.1, value: Any = _first, what: str = "mean time to first token") -> dict[str, Any]:
    def see(self: Sound, dose: float) -> Witness:
        """What a broken twin sees."""
        return Witness(what, "duration", moved, value)

    return {"witness": see}


def _undocumented(self: Sound, dose: float, draw: Draw) -> Sequence[Effect]:
    return (Delay(dose),)


TWINS: list[tuple[dict[str, Any], str]] = [
    ({"__doc__": None}, "the class has no docstring"),
    ({"effects": _undocumented}, "effects has no docstring"),
    ({"witness": WireFault.witness}, r"witness\(0\.1\) raised NotImplementedError"),
    ({"surface": "ether"}, "surface is 'ether'; declare one of wire, engine"),
    ({"goes": "never"}, "goes is 'never'; declare one of expires, undone, healed"),
    ({"max_dose": float("inf")}, "max_dose is inf; declare a finite number"),
    ({"max_dose": 0.5}, r"doses \[0\.1, 1\.0\]; they must lie above 0 and at most at max_dose"),
    (effects(lambda self, dose, draw: (Delay(0.1),)), r"effects are .* at dose 0; nothing may change there"),
    (effects(lambda self, dose, draw: (Reset(),)), r"effects are .* at dose 0; nothing may change there"),
    (effects(lambda self, dose, draw: (Delay(-dose),)), r"gave Delay\(seconds=-0\.1\); effects are finite, not neg"),
    (effects(lambda self, dose, draw: (Delay(dose * float("inf")),) if dose else ()), r"gave Delay\(seconds=inf\)"),
    (effects(lambda self, dose, draw: (Reply(99, {}, {}),) if dose else ()), r"gave Reply\(status=99"),
    (effects(lambda self, dose, draw: (Reply(503, {}, {"x": object()}),) if dose else ()), "and plain data"),
    (effects(lambda self, dose, draw: ("delay",) if dose else ()), "gave delay; effects are finite"),
    (effects(lambda self, dose, draw: (Delay(1.0),) if 0 < dose < 5 else ()), r"hit at dose 0\.1 is spared at 10\.0"),
    (
        effects(lambda self, dose, draw: (Delay(dose),) if draw.at(f"{dose}") < 0.5 else ()),
        "may not depend on the dose",
    ),
    (effects(lambda self, dose, draw: ()), r"nothing happens to any of 256 requests at max_dose 10\.0"),
    (effects(lambda self, dose, draw: 1 / 0), r"effects\(0\.0\) raised ZeroDivisionError"),
    (witness(moved=0.0), "identical data would already count as an effect"),
    (witness(moved=float("nan")), "identical data would already count as an effect"),
    (witness(what=""), "its witness has no name"),
    (witness(value=lambda seen: float("nan")), "its witness gave nan for a request that ended ok"),
    (witness(value=lambda seen: None), "its witness says nothing about any request"),
    (witness(value=lambda seen: seen.first - seen.sent), "its witness on ok raised TypeError"),
    (
        witness(value=lambda seen: float(next(_CALLS))),
        r"gave \d+\.0 and then \d+\.0 for one request",
    ),
]


@pytest.mark.parametrize(("changed", "sentence"), TWINS, ids=[sentence[:40] for _, sentence in TWINS])
def test_a_broken_twin_is_refused(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConformanceError, match=sentence):
        check_fault(broken(**changed), SOUND)


def test_effects_that_keep_a_state_are_refused() -> None:
    with pytest.raises(ConformanceError, match=r"differ between calls: .*; keep no state"):
        check_fault(broken(**effects(lambda self, dose, draw: (Delay(dose + next(_CALLS)),) if dose else ())), SOUND)


def test_a_kind_that_is_not_registered_is_refused() -> None:
    with pytest.raises(ConformanceError, match=r"fault kind 'twin\.sound' is not registered; decorate the class"):
        check_fault(Sound, SOUND)


def test_a_name_that_another_class_holds_is_refused() -> None:
    other = broken()
    with pytest.raises(ConformanceError, match=rf"'twin\.sound' is registered for .*{other.__name__}"):
        check_fault(Sound, SOUND)


def test_a_kind_that_is_any_string_is_refused() -> None:
    class Loose(Sound):
        """Its kind is not a literal."""

        kind: str  # type: ignore[assignment]

    with pytest.raises(ConformanceError, match=r'declare `kind: Literal\["family\.kind"\]` with one word'):
        check_fault(Loose, SOUND)


def test_an_example_that_is_refused_is_named() -> None:
    with pytest.raises(ConformanceError, match=r"(?s)the example is refused: .*jitters"):
        check_fault(FAULTS.register("twin.sound")(Sound), {**SOUND, "jitters": "5ms"})


def test_data_that_does_not_survive_json_is_refused() -> None:
    class Forgetful(Sound):
        """Its share is written as half of what it is."""

        extra: Share = 0.5

        def to_json(self) -> dict[str, Any]:
            return {**super().to_json(), "extra": "25 %"}

    with pytest.raises(ConformanceError, match=r"written as JSON reads back as .*; both must be equal"):
        check_fault(FAULTS.register("twin.sound")(Forgetful), SOUND)
