"""What a fault inside the engine owes besides, and each way to break it, refused by a broken twin."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar, Literal

import pytest

from chaosgate.conformance import ConformanceError, check_fault
from chaosgate.conformance import engine_faults as checks
from chaosgate.draws import Draw
from chaosgate.model.counter_noise import key_of, normals, uniforms
from chaosgate.model.fault import FAULTS, AnswerWitness, EngineFault, Sweep
from chaosgate.model.sites import SITES, Array, SiteContext

_NUMBERS = itertools.count()
_CALLS = itertools.count(1)


def _noisy(array: Array, dose: float, draw: Draw, context: SiteContext) -> Array:
    noise = normals(array, key_of(draw, "noise"), context.first * array.shape[1])
    hit = uniforms(array, array.shape[0], key_of(draw, "hit"), context.first) < dose
    return array + noise * hit[:, None].astype(array.dtype)


class Sound(EngineFault):
    """A fault inside the engine that keeps the contract; the twins below break one thing each."""

    kind: Literal["twin.engine"]
    dose: Sweep[Literal["share"], float]
    max_dose: ClassVar[float] = 1.0

    def sites(self, layers: int) -> tuple[str, ...]:
        """The embedding."""
        return ("embedding",)

    def transform(self, array: Array, dose: float, draw: Draw, context: SiteContext) -> Array:
        """Noise on a share of the tokens."""
        return array + dose * normals(array, key_of(draw, "noise"), context.first * array.shape[1])

    def witness(self, dose: float) -> AnswerWitness:
        """Other answers."""
        return AnswerWitness(self.least_rise(dose))


SOUND = {
    "name": "mine",
    "kind": "twin.engine",
    "dose": {"parameter": "share", "values": [0.1, 0.5], "hold": "2s", "washout": "500ms"},
}


def twin(**changed: Any) -> type[EngineFault]:
    """A registered subclass of the sound twin with something replaced."""
    name = f"BrokenEngine{next(_NUMBERS)}"
    kind = type(name, (Sound,), {"__module__": __name__, "__doc__": "A broken twin.", **changed})
    return FAULTS.register("twin.engine")(kind)


def at(*sites: str) -> Any:
    def found(self: Sound, layers: int) -> tuple[str, ...]:
        """Where a broken twin acts."""
        return sites

    return found


def does(function: Any) -> dict[str, Any]:
    def transform(self: Sound, array: Array, dose: float, draw: Draw, context: SiteContext) -> Array:
        """What a broken twin does."""
        return function(array, dose, draw, context)

    return {"transform": transform}


def _in_place(array: Array, dose: float, draw: Draw, context: SiteContext) -> Array:
    array += dose
    return array


def _by_dose(array: Array, dose: float, draw: Draw, context: SiteContext) -> Array:
    hit = uniforms(array, array.shape[0], key_of(draw, f"hit.{dose}"), context.first) < dose
    return array + hit[:, None] * array


def _by_row(array: Array, dose: float, draw: Draw, context: SiteContext) -> Array:
    return array + dose * normals(array, key_of(draw, "noise"))


def _numpy_only(array: Array, dose: float, draw: Draw, context: SiteContext) -> Array:
    return array + (dose * normals(array, key_of(draw, "noise"), context.first * array.shape[1])).astype(array.dtype)


TWINS: list[tuple[dict[str, Any], str]] = [
    ({"sites": EngineFault.sites}, r"sites\(3\) raised NotImplementedError"),
    ({"transform": EngineFault.transform}, "transform at embedding raised NotImplementedError"),
    ({"sites": lambda self, layers: ("embedding",)}, "sites has no docstring"),
    ({"sites": at()}, r"sites\(3\) names none; say where it acts"),
    ({"sites": at("embeding")}, r"unknown site 'embeding'; did you mean 'embedding'\?"),
    ({"sites": at("layer.3.router")}, r"unknown site 'layer\.3\.router'"),
    (does(lambda array, dose, draw, context: array + 1), "changes an array at dose 0; nothing may change there"),
    (
        does(lambda array, dose, draw, context: array),
        r"nothing is changed of any of 48 requests at the largest dose 1\.0",
    ),
    (does(_in_place), "writes into the array it is given; make a new one"),
    (does(lambda array, dose, draw, context: array[1:]), r"made float32 \(23, 16\) of float32 \(24, 16\); keep shape"),
    (does(lambda array, dose, draw, context: array.astype("f8")), r"made float64 \(24, 16\) of float32 \(24, 16\)"),
    (does(lambda array, dose, draw, context: 0), "made int  of float32"),
    (
        does(lambda array, dose, draw, context: array / float(dose < 0.3)),
        r"gave numbers that are not finite at dose 0\.5",
    ),
    (
        does(_by_dose),
        r"a token hit at embedding at a lower dose is spared at 0\.5; the draw may not depend on the dose",
    ),
    (does(_by_row), r"depends on how a prompt is cut; draw by position: context\.first plus the row"),
    (
        does(lambda array, dose, draw, context: array + dose * next(_CALLS)),
        "differs between two calls of one draw; keep no state",
    ),
    ({"received": lambda self, dose, draw: dose}, "received has no docstring"),
]


def received(function: Any) -> dict[str, Any]:
    def got(self: Sound, dose: float, draw: Draw) -> float:
        """What a broken twin gives."""
        return float(function(dose))

    return {"received": got}


TWINS += [
    (received(lambda dose: 1.0), "it starts at 0, is finite and never falls"),
    (received(lambda dose: -dose), "it starts at 0, is finite and never falls"),
    (received(lambda dose: float("inf") if dose else 0), "it starts at 0, is finite and never falls"),
]


def test_the_sound_twin_passes() -> None:
    check_fault(FAULTS.register("twin.engine")(Sound), SOUND)


@pytest.mark.parametrize(("changed", "sentence"), TWINS, ids=[sentence[:40] for _, sentence in TWINS])
@pytest.mark.filterwarnings("ignore:.*encountered in.*:RuntimeWarning")
def test_a_broken_twin_is_refused(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConformanceError, match=sentence):
        check_fault(twin(**changed), SOUND)


@pytest.mark.filterwarnings("ignore:.*encountered in.*:RuntimeWarning")
def test_numbers_that_are_not_finite_are_let_through_where_the_kind_says_so() -> None:
    check_fault(twin(finite=False, **does(lambda array, dose, draw, context: array / float(dose < 0.05))), SOUND)


def test_what_only_numpy_can_do_is_refused() -> None:
    pytest.importorskip("array_api_strict")
    with pytest.raises(ConformanceError, match=r"transform at embedding of an array of array_api_strict raised"):
        check_fault(twin(**does(_numpy_only)), SOUND)


@pytest.mark.parametrize("site", sorted(SITES))
def test_every_site_has_an_array_for_the_check(site: str) -> None:
    full = site.replace(".N.", ".1.").replace(".M", ".2")
    assert checks._array(full, 0).shape
    kind = twin(sites=at(full), **does(lambda array, dose, draw, context: array))
    with pytest.raises(ConformanceError, match="nothing is changed of any of 48 requests"):
        check_fault(kind, SOUND)
