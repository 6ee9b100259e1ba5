"""One finished run to record: a latency sweep with estimates, a fit, a witness and a series of seconds."""

from __future__ import annotations

from typing import Any

from chaosgate.faults.wire.latency import WireLatency
from chaosgate.model.fit import Threshold
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
from chaosgate.tracking.pages import TrackedRun

SUBJECT = Subject(model="embedded/tiny", engine="embedded", engine_version="1", arguments={"seed": 7})
DOSE = {"parameter": "delay", "values": ["100ms", "180ms"], "hold": "2s", "washout": "500ms"}


def latency(name: str = "slow-wire", **changed: Any) -> WireLatency:
    return WireLatency.model_validate({"name": name, "kind": "wire.latency", "jitter": "5ms", "dose": DOSE, **changed})


def spec(uri: str | None = None, experiment: str = "chaosgate/tests", **body: Any) -> ChaosSpec:
    return ChaosSpec.model_validate(
        {
            "apiVersion": "chaosgate/v1",
            "kind": "ChaosSpec",
            "metadata": {"name": "stream-degradation"},
            "spec": {
                "target": {"engine": "embedded", "model": "embedded/tiny"},
                "workload": {
                    "arrivals": {"process": "poisson", "rate": "20/s"},
                    "prompts": {"set": "recall-24"},
                    "seed": 7,
                },
                "steadyState": {"objectives": [{"sli": "ttft-p95", "bound": "<= 300ms"}]},
                "faults": [latency()],
                "objectives": [{"name": "first-token", "sli": "ttft-p95", "bound": "<= 500ms", "at": {"dose": "all"}}],
                "tracking": {"experiment": experiment, "uri": uri},
                **body,
            },
        }
    )


def estimate(at: str, value: float | None, **more: Any) -> Estimate:
    place = "dose" if at.startswith("dose") else at
    return Estimate.model_validate(
        {"sli": "ttft-p95", "at": at, "place": place, "dimension": "duration", "value": value, "n": 96, **more}
    )


def estimates() -> Estimates:
    at_dose = estimate("dose <= 180ms", 0.31, lower=0.3, upper=0.32, fault="slow-wire")
    return Estimates(
        steady_state=(estimate("baseline", 0.125, lower=0.11, upper=None),),
        objectives=(ObjectiveEstimate(objective="first-token", estimates=(at_dose,)),),
        doses=(estimate("dose 180ms", 0.308, fault="slow-wire", dose=0.18), estimate("dose 100ms", None)),
        witnesses=(
            WitnessReading(
                fault="slow-wire",
                what="mean time to first token",
                dimension="duration",
                dose=0.18,
                applied=120,
                before=0.1,
                during=0.28,
                after=0.1,
                bitten=True,
                gone=True,
            ),
        ),
        health=Health(schedule_delay_p99=0.002, requests=480, straddlers=3),
        series=tuple(
            SeriesPoint(at=float(second), requests=20, errors=second % 2, ttft_p50=0.1, ttft_p99=None)
            for second in range(20)
        ),
    )


def tracked_run(run: str = "r1", **changed: Any) -> TrackedRun:
    windows = (
        InjectedWindow(fault="slow-wire", window=0, dose=0.1, on=4.5, off=6.5, applied=40),
        InjectedWindow(fault="slow-wire", window=1, dose=0.18, on=7.5, off=9.5, applied=40),
    )
    reasons = (Reason(verdict="pass", text="steady"), Reason(verdict="warn", text="first-token: 310ms, close to 500ms"))
    threshold = Threshold(outcome="fitted", value=0.2, lower=0.19, upper=0.21, n=400, windows=8)
    given: dict[str, Any] = {
        "spec": spec(),
        "verdict": Verdict(verdict="warn", reasons=reasons, subject=SUBJECT),
        "estimates": estimates(),
        "fits": Fits(
            fits=(
                FitResult(name="knee", kind="logistic", fault="slow-wire", dimension="duration", threshold=threshold),
            )
        ),
        "injections": (Injection(phase="block1", status=Status(status="ok"), windows=windows),),
        "record": Record(
            name="stream-degradation",
            verdict="warn",
            reasons=reasons,
            subject=SUBJECT,
            started="2025-03-01T12:00:00Z",
            finished="2025-03-01T12:01:00Z",
            environment={"git": "0123abc", "python": "3.11"},
            recorded="unrecorded",
        ),
        "files": {},
    }
    return TrackedRun(run=run, **{**given, **changed})
