"""The reasons of a verdict in words."""

from __future__ import annotations

from chaosgate.model.result import Estimate, Reason, VerdictName, finite
from chaosgate.model.sli import resolve_sli
from chaosgate.model.spec import ChaosSpec
from chaosgate.units import Dimension, format_value


def plain(verdict: VerdictName, text: str, at: str | None = None) -> Reason:
    """A reason that rests on no objective."""
    return Reason(verdict=verdict, text=text, at=at, severity="gate")


def interval_text(spec: ChaosSpec, estimate: Estimate) -> str:
    """`212ms (205ms to 220ms, 320 requests in 8 windows)`; guarded ones, where others are not; or what else counts."""
    value = format_value(finite(estimate.value), estimate.dimension)
    ends = range_text(estimate.lower, estimate.upper, estimate.dimension)
    guarded = "guarded " if spec.spec.unguarded else ""
    counted = resolve_sli(estimate.sli).kind.counted
    return f"{value} ({ends}, {estimate.n} {guarded}{counted} in {estimate.windows} windows)"


def range_text(lower: float | None, upper: float | None, dimension: Dimension) -> str:
    """`205ms to 220ms`; an end that is missing is `?`."""
    ends = (finite(lower), finite(upper))
    return " to ".join("?" if end is None else format_value(end, dimension) for end in ends)
