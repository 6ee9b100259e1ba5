"""What `--slo` wants: a bound on an SLI of the whole load, or on each of its requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from chaosgate.model.base import Frozen
from chaosgate.model.observation import MIN_WINDOWS, Observation, RequestBound, Sample, Window
from chaosgate.model.sli import SLIS, SliRef, resolve_sli
from chaosgate.units import Bound, Dimension, format_share, format_value

WINDOWS = 10
"""Stretches into which a load is cut: the variance between them widens every interval."""
Verdict = Literal["kept", "missed", "unclear"]


@dataclass(frozen=True)
class SliBound:
    """A bound on an SLI of the whole load."""

    ref: SliRef
    bound: Bound


@dataclass(frozen=True)
class Slo:
    """One `--slo`, as it was written."""

    text: str
    bound: SliBound | RequestBound


class SloResult(Frozen):
    """What became of one `--slo`. Numbers are in base units; `reason` says why one is missing."""

    slo: str
    verdict: Verdict
    dimension: Dimension
    value: float | None
    lower: float | None
    upper: float | None
    n: int
    reason: str | None = None


def name_and_bound(text: str, such: str) -> tuple[str, Bound]:
    """The SLI's name and the bound of `error-rate > 50 %`; a ValueError says what is wrong, `such` being an example."""
    at = next((place for place, char in enumerate(text) if char in "<>"), None)
    if at is None:
        raise ValueError(f"write an SLI and a bound, such as {such}")
    return text[:at].strip(), Bound.parse(text[at:])


def parse_slo(text: str) -> Slo:
    """The SLO written as `ttft-p95<=300ms`, or of each request as `ttft<=300ms`; a ValueError says what is wrong."""
    name, bound = name_and_bound(text, "'ttft-p95<=300ms' or, of each request, 'ttft<=300ms'")
    of_each = name in SLIS and SLIS.get(name).statistic == "quantile"
    ref = resolve_sli(f"{name}-p95" if of_each else name)
    if ref.kind.compares:
        raise ValueError(f"{name!r} compares answers with those of a baseline, which only a run has")
    if ref.kind.reads_known:
        raise ValueError(f"{name!r} reads what is known of the prompts, which only a run does")
    if bound.dimension != ref.dimension:
        raise ValueError(f"read {str(bound)!r}; {name} is a {ref.dimension}")
    return Slo(text, RequestBound(sli=name, bound=bound) if of_each else SliBound(ref, bound))


def judge(
    slos: Sequence[Slo], good: float, observations: Sequence[Observation], span: tuple[float, float]
) -> list[SloResult]:
    """Every SLO with its value, its 95 % interval and the verdict.

    `good` is the share of requests that must keep the bounds on each; `span` is when the counted part of the load began
    and ended, in seconds on its clock. Missed or kept is what the whole interval says; else it is unclear.
    """
    if not slos or span[1] <= span[0]:
        return []
    each = tuple(slo.bound for slo in slos if isinstance(slo.bound, RequestBound))
    windows = _windows(observations, span)
    found = [_of_sli(slo.text, slo.bound, windows) for slo in slos if isinstance(slo.bound, SliBound)]
    return [*found, *([_of_requests(slos, each, good, windows)] if each else [])]


def _of_sli(text: str, wanted: SliBound, windows: Sequence[Window]) -> SloResult:
    from chaosgate.estimate.numbers import estimate

    told = estimate(wanted.ref, windows)
    ends = (told.lower, told.upper)
    verdict = "missed" if told.unbounded and wanted.bound.upper else _verdict(wanted.bound, ends)
    return SloResult(
        slo=text,
        verdict=verdict,
        dimension=wanted.ref.dimension,
        value=told.value,
        lower=told.lower,
        upper=told.upper,
        n=told.n,
        reason=told.reason,
    )


def _verdict(bound: Bound, ends: tuple[float | None, float | None]) -> Verdict:
    lower, upper = ends
    near, far = (lower, upper) if bound.upper else (upper, lower)
    if far is not None and bound.holds(far):
        return "kept"
    return "missed" if near is not None and not bound.holds(near) else "unclear"


def _of_requests(
    slos: Sequence[Slo], bounds: Sequence[RequestBound], good: float, windows: Sequence[Window]
) -> SloResult:
    """The share of requests that keep every bound on each of them."""
    import numpy as np

    from chaosgate.statistics.intervals import Group, share_interval

    hits = [sum(keeps(sample.observation, bounds) for sample in window.samples) for window in windows]
    counts = [len(window.samples) for window in windows]
    some = [(hit, count) for hit, count in zip(hits, counts, strict=True) if count]
    text = ", ".join(slo.text for slo in slos if isinstance(slo.bound, RequestBound))
    name = f"{text} of {format_share(good)}"
    n = sum(counts)
    if len(some) < MIN_WINDOWS:
        reason = f"{len(some)} of {MIN_WINDOWS} stretches needed hold a request"
        value = sum(hits) / n if n else None
        return SloResult(
            slo=name, verdict="unclear", dimension="share", value=value, lower=None, upper=None, n=n, reason=reason
        )
    group = Group(np.array([one for one, _ in some], float), np.array([one for _, one in some], float))
    lower, upper = share_interval([group], [], 0)
    verdict = _verdict(Bound(">=", good, "share"), (lower, upper))
    return SloResult(slo=name, verdict=verdict, dimension="share", value=sum(hits) / n, lower=lower, upper=upper, n=n)


def keeps(observation: Observation, bounds: Sequence[RequestBound]) -> bool:
    """Whether a request counts in the goodput: its answer is whole, has text, and keeps every bound that it has."""
    return SLIS.get("goodput").value(Sample(observation, None, tuple(bounds))) == 1


def _windows(observations: Sequence[Observation], span: tuple[float, float]) -> list[Window]:
    """The counted requests in WINDOWS stretches of equal length, by when they were due."""
    start, end = span
    width = (end - start) / WINDOWS
    cut: list[list[Sample]] = [[] for _ in range(WINDOWS)]
    for one in observations:
        if not one.warmup and one.outcome != "cancelled":
            cut[min(WINDOWS - 1, max(0, int((one.scheduled - start) / width)))].append(Sample(one, None))
    return [
        Window(
            "baseline", "load", None, index, None, start + index * width, start + (index + 1) * width, tuple(samples)
        )
        for index, samples in enumerate(cut)
    ]


def slo_words(result: SloResult) -> str:
    """`ttft-p95<=300ms: kept: 212ms (180ms to 250ms), n = 600`."""
    ends = ""
    if result.lower is not None or result.upper is not None:
        shown = [format_value(end, result.dimension) for end in (result.lower, result.upper)]
        ends = f" ({shown[0]} to {shown[1]})"
    why = f"; {result.reason}" if result.reason else ""
    return f"{result.slo}: {result.verdict}: {format_value(result.value, result.dimension)}{ends}, n = {result.n}{why}"
