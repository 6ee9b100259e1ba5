"""The reasons of a verdict, and how they add up."""

from __future__ import annotations

from collections.abc import Iterable

from chaosgate.model.result import Estimate, Reason, VerdictName, finite
from chaosgate.units import Dimension, format_value

RANK: tuple[VerdictName, ...] = ("pass", "warn", "inconclusive", "fail", "error")
"""The better first: the verdict is the worst of its reasons."""


def worst(reasons: Iterable[Reason]) -> VerdictName:
    """The verdict that `reasons` add up to; without any reason nothing was judged, which is an error."""
    return max((reason.verdict for reason in reasons), key=RANK.index, default="error")


def plain(verdict: VerdictName, text: str, at: str | None = None) -> Reason:
    """A reason that rests on no objective."""
    return Reason(verdict=verdict, text=text, at=at, severity="gate")


def interval_text(estimate: Estimate) -> str:
    """`212ms (205ms to 220ms, 320 requests in 8 windows)`."""
    value = format_value(finite(estimate.value), estimate.dimension)
    ends = range_text(estimate.lower, estimate.upper, estimate.dimension)
    return f"{value} ({ends}, {estimate.n} requests in {estimate.windows} windows)"


def range_text(lower: float | None, upper: float | None, dimension: Dimension) -> str:
    """`205ms to 220ms`; an end that is missing is `?`."""
    ends = (finite(lower), finite(upper))
    return " to ".join("?" if end is None else format_value(end, dimension) for end in ends)
