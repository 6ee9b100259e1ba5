"""Every registered SLI keeps the contract, and every way to break it is refused by a broken twin."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import pytest

from chaosgate.conformance import ConformanceError, check_sli
from chaosgate.model.observation import Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.units import Dimension

_NUMBERS = itertools.count()
_CALLS = itertools.count(1)


def test_the_built_in_slis_are_registered() -> None:
    assert {"ttft", "e2e", "error-rate", "exact-match", "answer-accuracy", "accept-rate"} <= set(SLIS.names())


@pytest.mark.parametrize("name", SLIS.names())
def test_a_registered_sli_keeps_the_contract(name: str) -> None:
    check_sli(SLIS.get(name))


class Sound(Sli):
    """An SLI that keeps the contract; the twins below break one thing each."""

    dimension: ClassVar[Dimension] = "duration"
    statistic: ClassVar[Statistic] = "quantile"

    @staticmethod
    def value(sample: Sample) -> float | None:
        """Seconds of whole answers."""
        return sample.observation.end if sample.observation.outcome == "ok" else None


def test_the_sound_twin_passes() -> None:
    check_sli(SLIS.register("twin")(Sound))


def broken(name: str = "twin", **changed: Any) -> type[Sli]:
    """A registered subclass of the sound twin with something replaced."""
    kind = type(f"Broken{next(_NUMBERS)}", (Sound,), {"__module__": __name__, "__doc__": "A broken twin.", **changed})
    return SLIS.register(name)(kind)


def value(function: Any) -> dict[str, Any]:
    function.__doc__ = "What a broken twin measures."
    return {"value": staticmethod(function)}


TWINS: list[tuple[dict[str, Any], str]] = [
    ({"__doc__": None}, "the class has no docstring"),
    ({"value": staticmethod(lambda sample: 1.0)}, "value has no docstring"),
    ({"name": "twin-p95"}, "is named 'twin-p95'; use small letters, digits and dashes, and no percentile"),
    ({"name": "twin.x"}, r"is named 'twin\.x'; use small letters"),
    ({"dimension": "seconds"}, "dimension is 'seconds'; declare one of duration, rate"),
    ({"statistic": "median"}, "statistic is 'median'; declare one of quantile, share, rate, mean, set"),
    (value(lambda sample: float("nan")), "gave nan"),
    (value(lambda sample: float("inf")), "gave inf for a request that ended ok; give a finite number or None"),
    (value(lambda sample: sample.observation.first - 0.1), "value of a request that ended ok raised TypeError"),
    (value(lambda sample: -1.0), r"gave -1\.0 for a duration; it cannot be negative"),
    (value(lambda sample: None), "no request of any outcome counts"),
    (value(lambda sample: float(next(_CALLS))), "it must be pure"),
    ({**value(lambda sample: 0.5), "statistic": "share"}, r"gave 0\.5; a share is the mean of zeros and ones"),
    ({"statistic": "rate"}, "has the statistic rate and the dimension duration; a rate has both"),
    (
        value(lambda sample: 1.0 if sample.observation.outcome == "cancelled" else None),
        r"gave 1\.0 for a request that its client cancelled; give None",
    ),
    ({"values": classmethod(lambda kind, sample: ())}, r"values gave \(\) where value gave 0\.6"),
    ({"adjusted": classmethod(lambda kind, sample: kind.value(sample))}, "adjusted gave None .*; give infinity"),
    ({"adjusted": classmethod(lambda kind, sample: float("inf"))}, "they differ only by failures"),
]


@pytest.mark.parametrize(("changed", "sentence"), TWINS, ids=[sentence[:40] for _, sentence in TWINS])
def test_a_broken_twin_is_refused(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConformanceError, match=sentence):
        check_sli(broken(**changed))


def test_an_sli_that_is_not_registered_is_refused() -> None:
    with pytest.raises(ConformanceError, match=r"is registered under 0 names; decorate it with @SLIS\.register"):
        check_sli(Sound)
