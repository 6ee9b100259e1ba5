"""What a fit kind owes: one of three outcomes for any windows there are, with an interval around its value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chaosgate.conformance.common import build, call, check_documented, check_named, require
from chaosgate.model.fit import FITS, DoseWindow, Fit, Threshold

CASES: dict[str, Sequence[DoseWindow]] = {
    "no windows": (),
    "windows without requests": tuple(DoseWindow(dose, 0, 0) for dose in (0.0, 0.1, 0.2)),
    "controls only": tuple(DoseWindow(0.0, 1, 40) for _ in range(6)),
    "one dose": tuple(DoseWindow(dose, 10, 40) for dose in (0.0, 0.1, 0.1, 0.1)),
    "nothing broken": tuple(DoseWindow(dose, 0, 40) for dose in (0.0, 0.1, 0.2, 0.3) for _ in range(3)),
    "everything broken": tuple(DoseWindow(dose, 40, 40) for dose in (0.0, 0.1, 0.2, 0.3) for _ in range(3)),
    "complete separation": tuple(
        DoseWindow(dose, 40 if dose > 0.15 else 0, 40) for dose in (0.0, 0.1, 0.2, 0.3) for _ in range(3)
    ),
    "a smooth rise": tuple(
        DoseWindow(dose, broken + extra, 40)
        for dose, broken in ((0.0, 0), (0.1, 2), (0.2, 12), (0.3, 28), (0.4, 37))
        for extra in (0, 1, 2)
    ),
    "a fall": tuple(
        DoseWindow(dose, broken, 40) for dose, broken in ((0.0, 38), (0.1, 25), (0.2, 10), (0.3, 1)) for _ in range(3)
    ),
    "a throughput with a peak": tuple(
        DoseWindow(load, 0, 40, amount, 2.0)
        for load, rate in ((0.0, 0), (1.0, 10), (2.0, 19), (4.0, 32), (8.0, 42), (16.0, 38), (32.0, 25))
        for amount in (1.9 * rate, 2.0 * rate, 2.1 * rate)
    ),
    "windows that disagree": tuple(
        DoseWindow(dose, broken, 40) for dose in (0.0, 0.1, 0.2, 0.3) for broken in (0, 40, 20)
    ),
}
"""Data every fit must answer, by name, whether it reads breaks or amounts; doses ascend, controls at dose 0 first."""


def check_fit(kind: type[Fit], example: Mapping[str, Any]) -> None:
    """Check a fit kind on an `example`, one entry of a spec's `fits` as data; a ConformanceError says what is owed."""
    check_documented(kind, "fit")
    check_named(kind, FITS)
    fit = build(kind, example)
    found = {name: _check_case(fit, name, windows) for name, windows in CASES.items()}
    none = [name for name in ("no windows", "windows without requests") if found[name].outcome != "refused"]
    require(not none, kind, f"found a threshold in {', '.join(none)}; refuse, and say why")
    usable = any(threshold.outcome != "refused" for threshold in found.values())
    require(
        usable, kind, "refused all cases, a smooth rise and a throughput with a peak among them; it can find nothing"
    )


def _check_case(fit: Fit, name: str, windows: Sequence[DoseWindow]) -> Threshold:
    kind = type(fit)
    threshold = call(kind, f"fit on {name}", lambda: fit.fit(windows, 7))
    require(isinstance(threshold, Threshold), kind, f"fit on {name} gave {threshold!r}; give a Threshold")
    again = call(kind, f"fit on {name}", lambda: fit.fit(windows, 7))
    require(again == threshold, kind, f"fit on {name} differs between two calls with one seed; draw from the seed only")
    total = sum(window.n for window in windows)
    counted = 0 <= threshold.n <= total
    require(counted, kind, f"fit on {name} counts n = {threshold.n} of {total} requests")
    _check_outcome(kind, name, threshold)
    return threshold


def _check_outcome(kind: type[Fit], name: str, threshold: Threshold) -> None:
    value, lower, upper = threshold.value, threshold.lower, threshold.upper
    read = f"fit on {name} is {threshold.outcome} with value {value}, lower {lower}, upper {upper}"
    match threshold.outcome:
        case "fitted":
            require(value is not None, kind, f"{read}; a fitted threshold has a value")
            ends = [end for end in (lower, value, upper) if end is not None]
            require(ends == sorted(ends), kind, f"{read}; lower <= value <= upper")
        case "bracketed":
            between = lower is not None and upper is not None and lower < upper
            require(between, kind, f"{read}; a bracket is two doses, lower < upper")
            require(not threshold.curve, kind, f"{read} and a curve; where doses separate no curve is drawn")
        case "refused":
            require(bool(threshold.reason), kind, f"{read} and no reason; say why there is no threshold")
            require(value is None, kind, f"{read}; nothing may rest on a refused fit, so it has no value")
