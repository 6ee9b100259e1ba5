"""What an SLI kind owes: numbers or none for every request there is, and infinity only for failures when adjusted.

A kind of the statistic `set` owes the same for sets of requests.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import get_args

from chaosgate.conformance.common import call, check_documented, require
from chaosgate.conformance.observations import request_sets, samples
from chaosgate.model.observation import Outcome, Sample
from chaosgate.model.sli import SLIS, Sli, Statistic
from chaosgate.units import Dimension

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
_PERCENTILE = re.compile(r".+-p\d{1,2}(\.\d+)?")


def check_sli(kind: type[Sli]) -> None:
    """Check an SLI kind on requests of every outcome; a ConformanceError says what is owed."""
    _check_declared(kind)
    if kind.statistic == "set":
        _check_set(kind)
        return
    check_documented(kind, "value")
    values = [_check_value(kind, sample) for sample in samples()]
    require(
        any(value is not None for value in values), kind, "no request of any outcome counts; it can measure nothing"
    )


def _check_declared(kind: type[Sli]) -> None:
    names = [name for name, known in SLIS.items() if known is kind]
    require(
        len(names) == 1, kind, f"is registered under {len(names)} names; decorate it with @SLIS.register(NAME) once"
    )
    named = _NAME.fullmatch(names[0]) is not None and _PERCENTILE.fullmatch(names[0]) is None
    require(named, kind, f"is named {names[0]!r}; use small letters, digits and dashes, and no percentile at the end")
    for name, allowed in (("dimension", get_args(Dimension)), ("statistic", get_args(Statistic))):
        value = getattr(kind, name, None)
        require(value in allowed, kind, f"{name} is {value!r}; declare one of {', '.join(allowed)}")
    a_second = (kind.statistic == "rate") == (kind.dimension == "rate")
    require(a_second, kind, f"has the statistic {kind.statistic} and the dimension {kind.dimension}; a rate has both")


def _check_set(kind: type[Sli]) -> None:
    """A number or none of any set of requests, the same in whatever order they come."""
    check_documented(kind, "of")
    numbers = [_check_of(kind, requests) for requests in request_sets()]
    require(any(number is not None for number in numbers), kind, "no set of requests has a number; it measures nothing")


def _check_of(kind: type[Sli], requests: Sequence[Sample]) -> float | None:
    what = f"of {len(requests)} requests"
    number, again = (call(kind, what, lambda: kind.of(requests)) for _ in "ab")
    require(number == again, kind, f"gave {number} and then {again} {what}; it must be pure")
    turned = call(kind, what, lambda: kind.of(requests[::-1]))
    alike = number == turned or (number is not None and turned is not None and math.isclose(number, turned))
    require(alike, kind, f"gave {number} {what} and {turned} of the same in another order; the order must not matter")
    if number is not None:
        require(len(requests) > 0, kind, f"gave {number} of no requests; give None: there is nothing to measure")
        require(math.isfinite(number), kind, f"gave {number} {what}; give a finite number or None")
        _check_range(kind, number)
    return number


def _check_value(kind: type[Sli], sample: Sample) -> float | None:
    outcome = sample.observation.outcome
    value, again = (call(kind, f"value of a request that ended {outcome}", lambda: kind.value(sample)) for _ in "ab")
    require(value == again, kind, f"gave {value} and then {again} for one request; it must be pure")
    if value is not None:
        _check_number(kind, value, outcome)
        cancelled = f"gave {value} for a request that its client cancelled; give None: that is nobody's failure"
        require(outcome != "cancelled", kind, cancelled)
    _check_several(kind, sample, value)
    _check_adjusted(kind, sample, value)
    return value


def _check_number(kind: type[Sli], value: float, outcome: Outcome) -> None:
    good = math.isfinite(value)
    require(good, kind, f"gave {value} for a request that ended {outcome}; give a finite number or None")
    if kind.statistic == "share":
        require(value in (0, 1), kind, f"gave {value}; a share is the mean of zeros and ones")
    _check_range(kind, value)


def _check_range(kind: type[Sli], value: float) -> None:
    if kind.dimension in ("duration", "rate", "count"):
        require(value >= 0, kind, f"gave {value} for a {kind.dimension}; it cannot be negative")
    if kind.dimension == "share":
        require(0 <= value <= 1, kind, f"gave {value} for a share; it lies from 0 to 1")


def _check_several(kind: type[Sli], sample: Sample, value: float | None) -> None:
    outcome = sample.observation.outcome
    values = call(kind, f"values of a request that ended {outcome}", lambda: kind.values(sample))
    for each in values:
        _check_number(kind, each, outcome)
    alike = (len(values) == 0) == (value is None)
    require(alike, kind, f"values gave {values} where value gave {value}; a request counts in both or in neither")


def _check_adjusted(kind: type[Sli], sample: Sample, value: float | None) -> None:
    outcome = sample.observation.outcome
    adjusted = call(kind, f"adjusted value of a request that ended {outcome}", lambda: kind.adjusted(sample))
    if kind.statistic == "quantile" and outcome not in ("ok", "cancelled"):
        require(
            adjusted == math.inf, kind, f"adjusted gave {adjusted} for a request that ended {outcome}; give infinity"
        )
    else:
        require(
            adjusted == value, kind, f"adjusted gave {adjusted} where value gave {value}; they differ only by failures"
        )
