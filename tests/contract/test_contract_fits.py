"""Every registered fit keeps the contract, and every way to break it is refused by a broken twin."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Literal

import pytest

from chaosgate.conformance import ConformanceError, check_fit
from chaosgate.model.fit import (
    FITS,
    BreakResponse,
    CurvePoint,
    DoseWindow,
    Fit,
    FitResponse,
    Response,
    Threshold,
)

RESPONSE = {"sli": "ttft", "bound": "<= 300ms", "share": "5 %"}
_NUMBERS = itertools.count()
_CALLS = itertools.count(1)

Function = Callable[[Sequence[DoseWindow], int], Any]


def example(kind: str) -> dict[str, Any]:
    asks = FITS.get(kind).model_fields["response"].annotation
    keys = {"sli"} if asks is FitResponse else {"sli", "bound"} if asks is BreakResponse else set(RESPONSE)
    more = {"kinds": ["logistic", "isotonic"]} if kind == "best" else {}
    response = {key: RESPONSE[key] for key in keys}
    return {"name": "knee", "kind": kind, "fault": "slow-wire", "response": response, **more}


def test_the_built_in_fit_is_registered() -> None:
    assert "logistic" in FITS


@pytest.mark.parametrize("kind", FITS.names())
def test_a_registered_fit_keeps_the_contract(kind: str) -> None:
    check_fit(FITS.get(kind), example(kind))


def threshold(outcome: str, windows: Sequence[DoseWindow], **more: Any) -> Threshold:
    numbers = {"value": None, "lower": None, "upper": None, "n": sum(window.n for window in windows), "windows": 0}
    return Threshold.model_validate({"outcome": outcome, **numbers, **more})


def sound(windows: Sequence[DoseWindow], seed: int) -> Threshold:
    broke = [window.dose for window in windows if window.broken]
    if not broke or min(broke) == 0:
        return threshold("refused", windows, reason="no rise")
    return threshold("bracketed", windows, lower=0.0, upper=min(broke))


class Sound(Fit):
    """A fit that keeps the contract; the twins below break one thing each."""

    kind: Literal["twin"]
    response: Response

    def fit(self, windows: Sequence[DoseWindow], seed: int) -> Threshold:
        """The lowest dose that broke anything."""
        return sound(windows, seed)


def test_the_sound_twin_passes() -> None:
    check_fit(FITS.register("twin")(Sound), example("twin"))


def broken(function: Function) -> type[Fit]:
    """A registered fit that keeps the contract on data without requests and otherwise does what `function` does."""

    def fit(self: Fit, windows: Sequence[DoseWindow], seed: int) -> Any:
        """What a broken twin finds."""
        return function(windows, seed) if any(window.n for window in windows) else sound(windows, seed)

    kind = type(f"Broken{next(_NUMBERS)}", (Sound,), {"__module__": __name__, "__doc__": "A broken twin.", "fit": fit})
    return FITS.register("twin")(kind)


POINT = CurvePoint(dose=0.1, share=0.5, n=1)
TWINS: list[tuple[Function, str]] = [
    (lambda windows, seed: 1 / 0, "fit on controls only raised ZeroDivisionError"),
    (lambda windows, seed: 0.2, r"fit on controls only gave 0\.2; give a Threshold"),
    (lambda windows, seed: threshold("fitted", windows), "a fitted threshold has a value"),
    (lambda windows, seed: threshold("fitted", windows, value=0.3, lower=0.1, upper=0.2), "lower <= value <= upper"),
    (lambda windows, seed: threshold("fitted", windows, value=0.1, lower=0.2, upper=None), "lower <= value <= upper"),
    (
        lambda windows, seed: threshold("bracketed", windows, lower=0.2, upper=0.2),
        "a bracket is two doses, lower < upper",
    ),
    (lambda windows, seed: threshold("bracketed", windows, lower=0.1, upper=0.2, curve=(POINT,)), "no curve is drawn"),
    (lambda windows, seed: threshold("refused", windows), "and no reason; say why there is no threshold"),
    (lambda windows, seed: threshold("refused", windows, reason="x", value=0.1), "nothing may rest on a refused fit"),
    (lambda windows, seed: threshold("refused", windows, reason="x", n=9999), "counts n = 9999 of 240 requests"),
    (lambda windows, seed: threshold("refused", windows, reason="x"), "refused all cases"),
    (
        lambda windows, seed: threshold("refused", windows, reason=f"{next(_CALLS)}"),
        "differs between two calls with one seed",
    ),
]


@pytest.mark.parametrize(("function", "sentence"), TWINS, ids=[sentence[:40] for _, sentence in TWINS])
def test_a_broken_twin_is_refused(function: Function, sentence: str) -> None:
    with pytest.raises(ConformanceError, match=sentence):
        check_fit(broken(function), example("twin"))


def test_a_threshold_out_of_nothing_is_refused() -> None:
    class Seer(Sound):
        """Finds a threshold where there are no windows."""

        def fit(self, windows: Sequence[DoseWindow], seed: int) -> Threshold:
            """Always the same bracket."""
            return threshold("bracketed", windows, lower=0.1, upper=0.2)

    with pytest.raises(ConformanceError, match=r"found a threshold in no windows, windows without requests; refuse"):
        check_fit(FITS.register("twin")(Seer), example("twin"))


def test_a_fit_without_a_docstring_is_refused() -> None:
    class Silent(Sound):
        """Says nothing about what it finds."""

        def fit(self, windows: Sequence[DoseWindow], seed: int) -> Threshold:
            return sound(windows, seed)

    with pytest.raises(ConformanceError, match=r"fit has no docstring; say what the caller gets"):
        check_fit(FITS.register("twin")(Silent), example("twin"))
