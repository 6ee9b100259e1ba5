"""Which of several fits the data support best, by QAICc."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from chaosgate.model.fit import DoseWindow, Threshold
from chaosgate.statistics.dose_response import counts_of

NEAR = 7.0
"""Fits within so much of the least QAICc are not ruled out (Burnham & Anderson 2002, section 2.6: support is strong
up to 2, considerably less from 4 to 7, and essentially none above 10). With 2 the interval forgets that the kind was
chosen by the same data, and holds the truth too seldom where another kind is right: docs/coverage.md."""


def qaicc(threshold: Threshold, windows: int, dispersion: float) -> float:
    """QAICc of a fit with its deviance and number of parameters among its goodness; infinite with too few windows.

    Deviance / dispersion + 2K + 2K(K + 1) / (windows - K - 1), K the parameters and one for the dispersion: Burnham &
    Anderson, "Model Selection and Multimodel Inference" (2002), section 2.5. The dispersion is one for all fits, that
    between windows of one dose. An isotonic fit has as many parameters as levels (Meyer & Woodroofe, Annals of
    Statistics 28, 2000).
    """
    parameters = threshold.goodness["parameters"] + 1
    spare = windows - parameters - 1
    if spare <= 0:
        return math.inf
    return threshold.goodness["deviance"] / dispersion + 2 * parameters + 2 * parameters * (parameters + 1) / spare


def choose(found: Mapping[str, Threshold], windows: Sequence[DoseWindow]) -> Threshold:
    """The best of what each kind found; a bracket only where nothing is fitted, a refusal only where all refuse."""
    fitted = {kind: one for kind, one in found.items() if one.outcome == "fitted"}
    if fitted:
        counts = counts_of(windows)
        spread, _ = counts.dispersion_within()
        return _best(fitted, {kind: qaicc(one, len(counts.n), spread) for kind, one in fitted.items()})
    for kind, one in found.items():
        if one.outcome == "bracketed":
            return one.model_copy(update={"chosen": kind})
    reasons = dict.fromkeys(one.reason or "no reason was given" for one in found.values())
    kinds = {reason: ", ".join(kind for kind, one in found.items() if one.reason == reason) for reason in reasons}
    text = "; ".join(f"{kinds[reason]}: {reason}" for reason in reasons) if len(reasons) > 1 else next(iter(reasons))
    return next(iter(found.values())).model_copy(update={"reason": text})


def _best(fitted: Mapping[str, Threshold], criteria: Mapping[str, float]) -> Threshold:
    chosen = min(fitted, key=lambda kind: criteria[kind])
    near = [kind for kind in fitted if kind == chosen or criteria[kind] - criteria[chosen] <= NEAR]
    best = fitted[chosen]
    finite = {f"QAICc of {kind}": number for kind, number in criteria.items() if math.isfinite(number)}
    return best.model_copy(
        update={
            "chosen": chosen,
            "lower": _end([fitted[kind].lower for kind in near], min),
            "upper": _end([fitted[kind].upper for kind in near], max),
            "reason": "; ".join([_said(chosen, near), *([best.reason] if best.reason else [])]),
            "goodness": {**best.goodness, **finite},
        }
    )


def _end(ends: Sequence[float | None], outermost: Callable[[list[float]], float]) -> float | None:
    """The outermost of `ends`, open where one of them is."""
    known = [end for end in ends if end is not None]
    return outermost(known) if len(known) == len(ends) else None


def _said(chosen: str, near: Sequence[str]) -> str:
    others = [kind for kind in near if kind != chosen]
    beside = f"; the interval takes in {', '.join(others)}, which the data hardly tell from it" if others else ""
    return f"{chosen} fits best by QAICc{beside}"
