"""The outcomes of a fit on counts: fitted, bracketed or refused, each with the shares that were observed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from chaosgate.model.fit import CurvePoint, Threshold
from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.binomial import LEVEL
from chaosgate.statistics.bracket import bracket
from chaosgate.statistics.likelihood import Counts
from chaosgate.units import Dimension, format_value

CURVE_POINTS = 50


def refused(counts: Counts, reason: str) -> Threshold:
    """No threshold, and why."""
    return outcome(counts, "refused", None, None, None, reason)


def bracketed(counts: Counts, share: float, dimension: Dimension) -> Threshold:
    """The doses around the threshold where the doses separate; refused where no dose lies surely on one side."""
    found = bracket(counts, share)
    if found.lower is None or found.upper is None:
        side = "below" if found.lower is None else "above"
        return refused(
            counts,
            f"too few requests: the doses separate, but at none the 95 % interval lies {side} "
            f"{format_value(share, 'share')}; hold the doses longer",
        )
    lower, upper = (format_value(dose, dimension) for dose in (found.lower, found.upper))
    reason = f"the doses separate: the threshold lies between {lower} and {upper}; no curve is drawn"
    return outcome(counts, "bracketed", None, found.lower, found.upper, reason)


def outcome(
    counts: Counts,
    name: Literal["fitted", "bracketed", "refused"],
    value: float | None,
    lower: float | None,
    upper: float | None,
    reason: str | None,
) -> Threshold:
    """A threshold with the observed shares, without a curve."""
    total = counts.by_dose()
    return Threshold(
        outcome=name,
        value=value,
        lower=lower,
        upper=upper,
        n=int(total.n.sum()),
        windows=len(counts.n),
        reason=reason,
        points=tuple(
            CurvePoint(dose=float(dose), share=float(share), n=int(n))
            for dose, share, n in zip(total.doses, total.shares, total.n, strict=True)
        ),
    )


def curve_points(doses: Floats, shares: Callable[[Floats], Floats]) -> tuple[CurvePoint, ...]:
    """Points of a curve over the range of `doses`; they stand for no requests."""
    drawn = np.linspace(doses.min(), doses.max(), CURVE_POINTS)
    return tuple(
        CurvePoint(dose=float(dose), share=float(share), n=0) for dose, share in zip(drawn, shares(drawn), strict=True)
    )


def open_ends(lower: float | None, upper: float | None) -> str | None:
    """Which ends of an interval lie beyond the doses, None where neither does."""
    ends = [
        f"{name} end of the interval lies {where} dose"
        for name, where, end in (("lower", "before the first", lower), ("upper", "beyond the last", upper))
        if end is None
    ]
    return "the " + " and the ".join(ends) + " and is open" if ends else None


def critical(freedom: int) -> float:
    """The 95 % quantile of F on 1 and `freedom` degrees: the cut-off of a deviance over an estimated dispersion.

    McCullagh & Nelder (1989), 4.5; it tends to the chi-square quantile 3.84 of a known dispersion. At 0 degrees the
    dispersion is not estimated, and it is that quantile.
    """
    from scipy.special import chdtri, fdtri

    return float(fdtri(1, freedom, LEVEL)) if freedom else float(chdtri(1, 1 - LEVEL))
