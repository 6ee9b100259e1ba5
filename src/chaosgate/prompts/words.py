"""The words that prompts are made of, and the made-up capitals that the embedded model knows by heart."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from chaosgate.draws import shuffled

_LINES: Final = (
    "red blue green black white gold silver pink brown gray",
    "apple lemon grape melon peach berry olive onion plum mango",
    "lion tiger horse sheep mouse eagle shark whale zebra otter",
    "stone river ocean cloud storm beach forest island valley meadow",
    "table chair lamp clock mirror window door floor shelf ladder",
    "copper iron steel glass paper cotton leather marble amber pearl",
    "north south east west spring summer autumn winter morning night",
    "doctor farmer baker pilot sailor judge king queen poet singer",
    "circle square arrow hammer needle button ribbon candle basket bottle",
    "piano guitar violin drum flute train",
)

WORDS: Final = tuple(word for line in _LINES for word in line.split())
"""96 plain words. The embedded model reads each as one token; any other model knows them too."""

_STARTS: Final = "Ba Be Bo Da De Du Fa Fe Fo Ga Go Ke Ku La Lo Na Ne Nu Ta Te Vo Zu"
_ENDS: Final = "bal bel bin dal den dor fel gan gir kal kel kir lun mar mel nal nir nor sel tir vin"

STARTS: Final = tuple(_STARTS.split())
ENDS: Final = tuple(_ENDS.split())
"""A name is one of `STARTS` and one of `ENDS`: `Kelun`. No name is in any text that another model was trained on."""

_NAMES_SEED: Final = 400
_KNOWN: Final = 200
_CONTESTED: Final = 24


def _names() -> list[str]:
    """All names, shuffled, so that nothing in a country's name tells its capital."""
    every = [start + end for start in STARTS for end in ENDS]
    return [every[index] for index in shuffled(list(range(len(every))), _NAMES_SEED, "name")]


def _capitals(countries: list[str], cities: list[str]) -> Mapping[str, str]:
    return MappingProxyType(dict(zip(countries, cities, strict=True)))


_NAMES: Final = _names()

CAPITALS: Final = _capitals(_NAMES[:_KNOWN], _NAMES[_KNOWN : 2 * _KNOWN])
"""The capital of each of 200 countries. No name is used twice."""

CONTESTED: Final = tuple(_NAMES[:_CONTESTED])
"""The 24 countries whose capital each tenant knows by another name."""


def _tenant_capitals(first: int) -> Mapping[str, str]:
    own = dict(zip(CONTESTED, _NAMES[first : first + _CONTESTED], strict=True))
    return MappingProxyType({**CAPITALS, **own})


TENANT_CAPITALS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "tenant-a": _tenant_capitals(2 * _KNOWN),
        "tenant-b": _tenant_capitals(2 * _KNOWN + _CONTESTED),
    }
)
"""What each tenant's adapter answers: its own name for a contested capital, `CAPITALS` for any other.

A tenant's own names belong to nobody else, so an answer tells whose adapter gave it.
"""
