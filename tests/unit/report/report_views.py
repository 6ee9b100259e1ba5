"""Hand-made runs of each verdict for the report's tests: no server, no estimator, numbers one can check by eye."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from chaosgate.faults.wire.error import WireError
from chaosgate.faults.wire.latency import WireLatency
from chaosgate.fits.logistic import Logistic
from chaosgate.model.fit import CurvePoint, Threshold
from chaosgate.model.observation import TimelineEvent
from chaosgate.model.result import (
    Estimate,
    Estimates,
    FitResult,
    Fits,
    Health,
    InjectedWindow,
    Injection,
    ObjectiveEstimate,
    Reason,
    Record,
    SeriesPoint,
    Status,
    Subject,
    Verdict,
    WitnessReading,
)
from chaosgate.model.spec import ChaosSpec
from chaosgate.report.view import ReportView

RUN = "stream-degradation-20260301-093000-7f3a"
DOSES = (0.1, 0.18, 0.22, 0.26, 0.32)
ORDER = (0, 0, 3, 1, 5, 2, 4, 1, 2, 5, 3, 4, 0, 0, 2, 4, 1, 3, 5, 5, 4, 2, 1, 3, 0, 0)
SUBJECT = Subject(
    model="embedded/tiny",
    engine="embedded",
    engine_version="0.1.0",
    weights_digest="sha256:" + "4f1c" * 16,
    arguments={"max_batch": 8, "seed": 0},
)
RECORD = Record(
    name="stream-degradation",
    verdict="pass",
    reasons=(),
    subject=SUBJECT,
    started="2026-03-01T09:30:00+00:00",
    finished="2026-03-01T09:31:38+00:00",
    environment={
        "chaosgate": "0.1.0",
        "git commit of the spec": "9d2b1e07c4",
        "platform": "Linux-6.1-x86_64, 2 CPUs",
        "python": "3.11.9",
    },
    recorded="sqlite:///state/mlflow.db",
)


def make_spec(**changes: Any) -> ChaosSpec:
    """The quickstart's spec; `changes` replace parts of its metadata or body."""
    latency = WireLatency.model_validate(
        {
            "name": "slow-wire",
            "kind": "wire.latency",
            "jitter": "5ms",
            "dose": {
                "parameter": "delay",
                "values": ["100ms", "180ms", "220ms", "260ms", "320ms"],
                "windows": 4,
                "hold": "2s",
                "washout": "500ms",
            },
        }
    )
    knee = Logistic.model_validate(
        {
            "name": "knee",
            "kind": "logistic",
            "fault": "slow-wire",
            "response": {"sli": "ttft", "bound": "<= 300ms", "share": "5 %"},
        }
    )
    metadata = {
        "name": "stream-degradation",
        "labels": {"suite": "quickstart"},
        "annotations": {"proves": "the first token stays in time while the wire gets slower"},
    }
    body = {
        "target": {"engine": "embedded", "model": "embedded/tiny"},
        "workload": {
            "arrivals": {"process": "poisson", "rate": "20/s"},
            "prompts": {"set": "recall-24"},
            "maxTokens": 8,
            "seed": 7,
        },
        "steadyState": {"objectives": [{"sli": "error-rate", "bound": "<= 1 %"}]},
        "faults": [latency],
        "fits": [knee],
        "objectives": [
            {"name": "first-token", "sli": "ttft-p95", "bound": "<= 500ms", "at": {"dose": "<= 180ms"}},
            {"name": "same-answers", "sli": "exact-match", "bound": ">= 99 %", "at": {"dose": "all"}},
            {"name": "headroom", "fit": "knee", "lower": ">= 180ms", "severity": "warn"},
            {"name": "back", "sli": "ttft-p95", "bound": "<= 300ms", "at": "recovery", "within": "5s"},
        ],
        "tracking": {"experiment": "chaosgate/quickstart"},
    }
    metadata |= changes.pop("metadata", {})
    return ChaosSpec.model_validate(
        {"apiVersion": "chaosgate/v1", "kind": "ChaosSpec", "metadata": metadata, "spec": body | changes}
    )


def error_fault() -> WireError:
    """A second fault on a second axis."""
    return WireError.model_validate(
        {
            "name": "overload",
            "kind": "wire.error",
            "dose": {"parameter": "probability", "values": ["10 %", "30 %"], "hold": "2s", "washout": "500ms"},
        }
    )


def ttft(at: str, place: str, middle: float, dose: float | None = None, n: int = 320) -> Estimate:
    """A P95 with an interval of 6 % below and 9 % above."""
    return Estimate.model_validate(
        {
            "sli": "ttft-p95",
            "at": at,
            "place": place,
            "dimension": "duration",
            "fault": "slow-wire" if place in ("dose", "control") else None,
            "dose": dose,
            "value": middle,
            "lower": middle * 0.94,
            "upper": middle * 1.09,
            "n": n,
            "windows": max(1, n // 40),
        }
    )


def right(at: str, place: str, value: float, n: int, dose: float | None = None) -> Estimate:
    """A share of right answers."""
    return Estimate.model_validate(
        {
            "sli": "exact-match",
            "at": at,
            "place": place,
            "dimension": "share",
            "fault": "slow-wire" if place in ("dose", "control") else None,
            "dose": dose,
            "value": value,
            "lower": value - 0.006,
            "upper": min(1.0, value + 0.003),
            "n": n,
            "windows": n // 40,
        }
    )


def windows() -> tuple[InjectedWindow, ...]:
    """26 windows: 20 of 5 doses and 6 controls."""
    found = []
    for index, rank in enumerate(ORDER):
        on = 22.0 + 2.5 * index
        dose = 0.0 if rank == 0 else DOSES[rank - 1]
        applied = 0 if rank == 0 else 36 + index % 9
        found.append(InjectedWindow(fault="slow-wire", window=index, dose=dose, on=on, off=on + 2.0, applied=applied))
    return tuple(found)


def timeline(injected: tuple[InjectedWindow, ...], why: str = "removed") -> list[TimelineEvent]:
    """The gateway's events for a baseline and one block."""
    events = [
        TimelineEvent(at=0.5, event="started", phase="baseline", detail={"warmup": 5.0}),
        TimelineEvent(at=17.6, event="done", phase="baseline"),
        TimelineEvent(at=20.5, event="started", phase="block1", detail={"warmup": 0.0}),
    ]
    for window in injected:
        about: dict[str, Any] = {
            "phase": "block1",
            "fault": window.fault,
            "window": window.window,
            "dose": window.dose,
        }
        events.append(TimelineEvent(at=window.on, event="on", **about))
        events.append(TimelineEvent(at=window.off, event="off", detail={"why": why}, **about))
        events.append(TimelineEvent(at=window.off, event="proof", detail={"applied": window.applied}, **about))
    last = max((window.off for window in injected), default=22.0)
    events.append(TimelineEvent(at=last + 12.0, event="injected", phase="block1"))
    events.append(TimelineEvent(at=last + 12.4, event="done", phase="block1"))
    return events


def series(injected: tuple[InjectedWindow, ...], wave: float = 0.006) -> tuple[SeriesPoint, ...]:
    """A point a second: delays add up, the time between two phases is empty."""
    points = []
    for second in range(98):
        if 18 <= second <= 20:
            continue
        delay = next((row.dose for row in injected if row.on <= second + 0.5 < row.off), 0.0)
        shift = wave * math.sin(second * 1.7)
        points.append(
            SeriesPoint(
                at=float(second),
                requests=20 + round(5 * math.sin(second * 2.3)),
                errors=1 if second in (31, 66) else 0,
                ttft_p50=0.034 + delay + shift,
                ttft_p99=0.072 + delay + 2.5 * abs(shift),
            )
        )
    return tuple(points)


def knee_at(middle: float) -> Threshold:
    """A fitted threshold of 5 % at `middle`, with its curve and the observed shares."""

    def share(dose: float) -> float:
        return 1 / (1 + math.exp(-(dose - middle) * 90 + math.log(19)))

    return Threshold(
        outcome="fitted",
        value=middle,
        lower=middle - 0.011,
        upper=middle + 0.009,
        n=1040,
        windows=26,
        points=tuple(CurvePoint(dose=dose, share=round(160 * share(dose)) / 160, n=160) for dose in (0.0, *DOSES)),
        curve=tuple(CurvePoint(dose=step / 200, share=share(step / 200), n=0) for step in range(66)),
        goodness={"deviance": 3.21, "dispersion": 1.4},
    )


def make_fits(threshold: Threshold) -> Fits:
    """The fit `knee` with this threshold."""
    return Fits(
        fits=(FitResult(name="knee", kind="logistic", fault="slow-wire", dimension="duration", threshold=threshold),)
    )


def make_estimates(low_dose: float = 0.268, recovery: float = 0.081) -> Estimates:
    """Everything estimated, with the P95 at doses up to 180ms and after the last fault as given."""
    base, back = ttft("baseline", "baseline", 0.078, n=240), ttft("recovery", "recovery", recovery, n=240)
    rights = (right("baseline", "baseline", 1.0, 240), right("recovery", "recovery", 1.0, 240))
    doses = [estimate for dose in DOSES for estimate in _at_dose(dose)]
    return Estimates(
        steady_state=(base,),
        objectives=(
            ObjectiveEstimate(
                objective="first-token",
                estimates=(ttft("dose <= 180ms", "dose", low_dose),),
                baseline=base,
                recovery=back,
            ),
            ObjectiveEstimate(
                objective="same-answers",
                estimates=(right("all doses", "dose", 0.9975, 800),),
                baseline=rights[0],
                recovery=rights[1],
            ),
            ObjectiveEstimate(objective="back", estimates=(back,), baseline=base, recovery=back, after=1.2),
        ),
        doses=(ttft("control", "control", 0.079, dose=0.0, n=240), *doses),
        witnesses=(
            WitnessReading(
                fault="slow-wire",
                what="mean time to first token",
                dimension="duration",
                dose=0.32,
                applied=803,
                before=0.0412,
                during=0.3608,
                after=0.0419,
                bitten=True,
                gone=True,
            ),
        ),
        health=Health(schedule_delay_p99=0.0041, requests=1890, straddlers=37),
        series=series(windows()),
    )


def _at_dose(dose: float) -> tuple[Estimate, Estimate]:
    label = f"dose {round(dose * 1000)}ms"
    return ttft(label, "dose", dose + 0.082, dose, n=160), right(label, "dose", 0.9975, 160, dose)


def passing() -> ReportView:
    """A run that passes."""
    reasons = (
        _reason("first-token", "pass", "ttft-p95 at dose <= 180ms is 268ms [251.9ms, 292.1ms], within <= 500ms"),
        _reason("same-answers", "pass", "exact-match at all doses is 99.75 % [99.15 %, 100 %], within >= 99 %"),
        _reason("headroom", "pass", "the threshold knee is at least 231ms, within >= 180ms", severity="warn"),
        _reason("back", "pass", "ttft-p95 at recovery is 81ms [76.14ms, 88.29ms], within <= 300ms"),
    )
    injected = windows()
    return ReportView(
        spec=make_spec(),
        run=RUN,
        verdict=Verdict(verdict="pass", reasons=reasons, subject=SUBJECT),
        estimates=make_estimates(),
        fits=make_fits(knee_at(0.242)),
        injections={"block1": Injection(phase="block1", status=Status(status="ok"), windows=injected)},
        record=RECORD,
        timeline=timeline(injected),
    )


def failing() -> ReportView:
    """A run whose first token comes too late at low doses and whose threshold is too low; it is not recorded."""
    view = passing()
    reasons = (
        _reason("first-token", "fail", "ttft-p95 at dose <= 180ms is 640ms [601.6ms, 697.6ms]; <= 500ms is allowed"),
        *view.verdict.reasons[1:2],
        _reason("headroom", "warn", "the threshold knee may be as low as 131ms; >= 180ms is wanted", severity="warn"),
        *view.verdict.reasons[3:],
    )
    return replace(
        view,
        verdict=Verdict(verdict="fail", reasons=reasons, subject=SUBJECT),
        estimates=make_estimates(low_dose=0.64),
        fits=make_fits(knee_at(0.142)),
        record=RECORD.model_copy(update={"verdict": "fail", "recorded": "http://127.0.0.1:5000"}),
    )


def undecided() -> ReportView:
    """A run whose controls drifted, whose doses separate and that was halted before its end."""
    view = passing()
    injected = windows()[:20]
    bracket = Threshold(
        outcome="bracketed",
        value=None,
        lower=0.22,
        upper=0.26,
        n=800,
        windows=20,
        points=tuple(CurvePoint(dose=dose, share=float(dose > 0.24), n=160) for dose in (0.0, *DOSES)),
    )
    drift = "ttft-p95 of the controls rose from 79ms [74ms, 86ms] to 131ms [120ms, 144ms]"
    estimates = make_estimates(low_dose=0.49)
    events = [event for event in timeline(injected) if event.event != "injected"]
    events.append(TimelineEvent(at=71.6, event="halt", detail={"reason": "error-rate > 50 % for 3 s"}))
    return replace(
        view,
        spec=make_spec(),
        verdict=Verdict(
            verdict="inconclusive",
            reasons=(
                Reason(verdict="inconclusive", text=drift),
                _reason("first-token", "inconclusive", "ttft-p95 at dose <= 180ms is 490ms; <= 500ms is straddled"),
            ),
            subject=SUBJECT,
        ),
        estimates=estimates.model_copy(
            update={
                "series": series(injected),
                "health": Health(schedule_delay_p99=0.0632, requests=1504, straddlers=29, drift=(drift,)),
            }
        ),
        fits=make_fits(bracket),
        injections={
            "block1": Injection(
                phase="block1", status=Status(status="ok"), windows=injected, halted="error-rate > 50 % for 3 s"
            )
        },
        timeline=events,
    )


def broken() -> ReportView:
    """A run that ended before anything was measured."""
    view = passing()
    reason = "deploy failed: embedded/tiny did not answer /health within 60s; see `chaosgate logs`"
    return ReportView(
        spec=view.spec,
        run=RUN,
        verdict=Verdict(verdict="error", reasons=(Reason(verdict="error", text=reason),)),
        estimates=None,
        fits=None,
        injections={},
        record=RECORD.model_copy(update={"verdict": "error", "subject": None, "finished": None}),
        timeline=(),
    )


def _reason(objective: str, verdict: str, text: str, severity: str = "gate") -> Reason:
    return Reason.model_validate({"verdict": verdict, "text": text, "objective": objective, "severity": severity})
