"""A whole run without a server: requests, ledger, timeline and injection of a latency sweep, drawn from a seed.

`simulate()` is a run that must pass; `Conditions` say what goes differently. `write_run` lays the same data out as the
files of a run, one folder a step.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from chaosgate.artifacts import (
    ENDPOINT,
    GAUGES,
    INJECTION,
    LEDGER,
    OBSERVATIONS,
    SPEC,
    TIMELINE,
    Identity,
    read_document,
    read_lines,
    write_document,
    write_lines,
)
from chaosgate.draws import exponential, uniform
from chaosgate.estimate import PhaseData, RunData, estimate_run, fit_run
from chaosgate.judge import judge
from chaosgate.model.blocks import BASELINE, baseline_length, baseline_warmup, make_blocks
from chaosgate.model.fault import FAULTS
from chaosgate.model.filter import UNGUARDED, filter_of
from chaosgate.model.fit import FITS
from chaosgate.model.named_slis import keeps_texts
from chaosgate.model.observation import Gauge, LedgerRow, Observation, Outcome, TimelineEvent
from chaosgate.model.plan import Block
from chaosgate.model.result import Endpoint, Fits, InjectedWindow, Injection, SecretRef, Status, Subject, Verdict
from chaosgate.model.spec import ChaosSpec

RUN_ID = "stream-degradation-simulated"
SUBJECT = Subject(model="embedded/tiny", engine="embedded", engine_version="1", weights_digest="sha256:" + "a" * 64)
PATH = "/v1/chat/completions"
START_DELAY = 1.0
"""Seconds between the start of a block's load and its first window."""

Json = dict[str, Any]

LATENCY: Json = {
    "name": "slow-wire",
    "kind": "wire.latency",
    "jitter": "5ms",
    "select": {"share": "100 %", "path": PATH},
    "dose": {
        "parameter": "delay",
        "values": ["100ms", "180ms", "220ms", "260ms", "320ms"],
        "windows": 4,
        "hold": "2s",
        "washout": "500ms",
    },
}
KNEE: Json = {
    "name": "knee",
    "kind": "logistic",
    "fault": "slow-wire",
    "response": {"sli": "ttft", "bound": "<= 300ms", "share": "5 %"},
}
OBJECTIVES: tuple[Json, ...] = (
    {"name": "first-token", "sli": "ttft-p95", "bound": "<= 500ms", "at": {"dose": "<= 180ms"}},
    {"name": "same-answers", "sli": "exact-match", "bound": ">= 99 %", "at": {"dose": "all"}},
    {"name": "headroom", "fit": "knee", "lower": ">= 180ms", "severity": "warn"},
    {"name": "back", "sli": "ttft-p95", "bound": "<= 300ms", "at": "recovery", "within": "5s"},
)


def stream_spec(
    faults: tuple[Json, ...] = (LATENCY,),
    fits: tuple[Json, ...] = (KNEE,),
    objectives: tuple[Json, ...] = OBJECTIVES,
    on_uncertain: str = "inconclusive",
    unguarded: str = "0 %",
    semantic: Json | None = None,
) -> ChaosSpec:
    """The spec of chaos-specs/scenarios/stream-degradation.yaml, with other faults, fits or objectives if given.

    With a share `unguarded` a filter guards the other requests.
    """
    body = {
        "target": {"engine": "embedded", "model": "embedded/tiny"},
        "workload": {
            "arrivals": {"process": "poisson", "rate": "20/s"},
            "prompts": {"set": "recall-24"},
            "maxTokens": 8,
            "warmup": "5s",
            "seed": 7,
        },
        "steadyState": {
            "windows": 3,
            "hold": "4s",
            "objectives": [{"sli": "error-rate", "bound": "<= 5 %"}, {"sli": "ttft-p95", "bound": "<= 300ms"}],
            "semantic": semantic,
        },
        "faults": [FAULTS.get(fault["kind"]).model_validate(fault) for fault in faults],
        "fits": [FITS.get(fit["kind"]).model_validate(fit) for fit in fits],
        "objectives": list(objectives),
        "gate": {"onUncertain": on_uncertain},
        "filters": [] if unguarded == "0 %" else [filter_of({"kind": "prompt-sanitiser"})],
        "unguarded": unguarded,
    }
    metadata = {"name": "stream-degradation"}
    return ChaosSpec.model_validate(
        {"apiVersion": "chaosgate/v1", "kind": "ChaosSpec", "metadata": metadata, "spec": body}
    )


@dataclass(frozen=True)
class Conditions:
    """What the simulated service and client are like; the defaults make a run that passes."""

    service: float = 0.030
    """Seconds to the first token, before anything random."""
    spread: float = 0.010
    """Mean of the exponential part of the time to the first token, seconds."""
    bites: float = 1.0
    """The share of an injected delay that the client really feels."""
    drift: float = 0.0
    """Seconds the service has become slower at the end of a block."""
    slow_recovery: float = 0.0
    """Seconds after the last fault during which the service stays 400 ms slower."""
    failing: float = 0.0
    """Share of requests answered with status 500, in every phase."""
    refused: float = 0.0
    """Share of requests that never reach the gateway."""
    wrong: float = 0.0
    """Share of wrong answers at doses above 0."""
    wrong_until: float = 0.0
    """Seconds after the start of the baseline's load up to which every answer is wrong."""
    cured: bool = False
    """Whether the requests that filters guard have no wrong answers."""
    lag: float = 0.0005
    """Seconds the client sends late."""


@dataclass(frozen=True)
class _Phase:
    """One phase on the gateway's clock: when it started, how long load ran, what was injected."""

    name: str
    started: float
    length: float
    windows: tuple[InjectedWindow, ...]

    @property
    def last_off(self) -> float:
        return max((window.off for window in self.windows), default=self.started)


class _Simulator:
    def __init__(self, spec: ChaosSpec, conditions: Conditions, seed: int) -> None:
        self.spec, self.conditions, self.seed = spec, conditions, seed
        self.workload = spec.spec.workload

    def phase(self, phase: _Phase) -> PhaseData:
        observations: list[Observation] = []
        ledger: list[LedgerRow] = []
        warmup = baseline_warmup(self.spec) if not phase.windows else 0.0
        for number, scheduled in enumerate(self._arrivals(phase)):
            name = f"{self.workload.seed}.{phase.name}.{number}"
            seen = phase.started + scheduled + self.conditions.lag + 0.001
            window = next((window for window in phase.windows if window.on <= seen < window.off), None)
            observation = self._observe(phase, number, name, scheduled, seen, window, scheduled < warmup)
            observations.append(observation)
            if observation.outcome != "refused":
                ledger += self._rows(phase, observation, seen, window)
        timeline = self._timeline(phase, warmup, ledger)
        return PhaseData(phase.name, observations, ledger, timeline, self._gauges(phase))

    def _arrivals(self, phase: _Phase) -> Iterator[float]:
        mean, at, number = 1 / self.workload.arrivals.rate, 0.0, 0
        while True:
            at += exponential(mean, self.seed, phase.name, "arrival", number)
            number += 1
            if at >= phase.length:
                return
            yield at

    def _draw(self, *words: str) -> float:
        return uniform(self.seed, *words)

    def _outcome(self, name: str) -> tuple[Outcome, int | None]:
        if self._draw(name, "refused") < self.conditions.refused:
            return "refused", None
        return ("error", 500) if self._draw(name, "failing") < self.conditions.failing else ("ok", 200)

    def _observe(
        self,
        phase: _Phase,
        number: int,
        name: str,
        scheduled: float,
        seen: float,
        window: InjectedWindow | None,
        warmup: bool,
    ) -> Observation:
        outcome, status = self._outcome(name)
        sent = scheduled + self.conditions.lag
        first = sent + self._first_token(phase, name, seen, window) if outcome == "ok" else None
        tokens = () if first is None else tuple(first + 0.005 * count for count in range(8))
        bites = window is not None and window.dose > 0 and not (self.conditions.cured and not self.spec.unguards(name))
        early = phase.name == BASELINE and scheduled < self.conditions.wrong_until
        wrong = early or (bites and self._draw(name, "wrong") < self.conditions.wrong)
        prompt = f"recall-24/{number % 24}"
        text = f"{prompt} wrong" if wrong else prompt if outcome == "ok" else ""
        return Observation(
            request=name,
            phase=phase.name,
            prompt=prompt,
            scheduled=scheduled,
            sent=sent,
            first=first,
            tokens=tokens,
            end=tokens[-1] + 0.005 if tokens else sent + 0.002,
            status=status,
            outcome=outcome,
            answer=None if outcome != "ok" else "wrong" if wrong else "right",
            text="sha256:" + hashlib.sha256(text.encode()).hexdigest(),
            warmup=warmup,
            said=text if keeps_texts(self.spec) else None,
        )

    def _first_token(self, phase: _Phase, name: str, seen: float, window: InjectedWindow | None) -> float:
        conditions = self.conditions
        wait = conditions.service + exponential(conditions.spread, self.seed, name, "service")
        if phase.windows:
            wait += conditions.drift * (seen - phase.started) / phase.length
        if window is not None:
            wait += self._delay(name, window) * conditions.bites
        if phase.windows and phase.last_off <= seen < phase.last_off + conditions.slow_recovery:
            wait += 0.4
        return wait

    def _delay(self, name: str, window: InjectedWindow) -> float:
        return window.dose + min(0.005, window.dose) * (2 * self._draw(window.fault, name, "jitter") - 1)

    def _rows(
        self, phase: _Phase, observation: Observation, seen: float, window: InjectedWindow | None
    ) -> Iterator[LedgerRow]:
        faults = [fault.name for fault in self.spec.spec.faults] if phase.windows else [None]
        for fault in faults:
            on = window if window is not None and window.fault == fault else None
            touched = on is not None and on.dose > 0
            reason = None if touched or fault is None else "no window" if on is None else "dose 0"
            yield LedgerRow(
                request=observation.request,
                phase=phase.name,
                fault=fault,
                window=on.window if on else None,
                dose=on.dose if on else None,
                draw=None if fault is None else self._draw(fault, observation.request, "select"),
                planned=fault is not None,
                applied=touched,
                bypassed=reason,
                effect=f"delay {self._delay(observation.request, on):.6f} s" if on is not None and touched else None,
                seen=seen,
                done=seen + observation.end - observation.sent,
                filtered=UNGUARDED if self.spec.unguards(observation.request) else None,
            )

    def _timeline(self, phase: _Phase, warmup: float, ledger: list[LedgerRow]) -> list[TimelineEvent]:
        end = phase.started + phase.length
        started = TimelineEvent(at=phase.started, event="started", phase=phase.name, detail={"warmup": warmup})
        events = [started]
        for window in phase.windows:
            about: Json = {"phase": phase.name, "fault": window.fault, "window": window.window, "dose": window.dose}
            events.append(TimelineEvent(at=window.on, event="on", **about))
            events.append(TimelineEvent(at=window.off, event="off", detail={"why": "removed"}, **about))
            events.append(
                TimelineEvent(at=window.off, event="proof", detail={"applied": applied(ledger, window)}, **about)
            )
        if phase.windows:
            events.append(TimelineEvent(at=end - 0.01, event="injected", phase=phase.name))
        events.append(TimelineEvent(at=end, event="done", phase=phase.name))
        return [*events, TimelineEvent(at=end + 0.05, event="subject", phase=phase.name, detail=SUBJECT.to_json())]

    def _gauges(self, phase: _Phase) -> list[Gauge]:
        return [
            Gauge(at=phase.started + second, phase=phase.name, name="engine_running", value=1.0)
            for second in range(int(phase.length))
        ]


def simulate(spec: ChaosSpec | None = None, conditions: Conditions | None = None, seed: int = 7) -> RunData:
    """A whole run of `spec` (by default `stream_spec()`), the same for the same seed."""
    spec = spec or stream_spec()
    simulator = _Simulator(spec, conditions or Conditions(), seed)
    baseline = _Phase(BASELINE, 2.0, baseline_length(spec) + 0.5, ())
    (block,) = make_blocks(spec)
    start = baseline.started + baseline.length + 3.0
    windows = _injected(spec, block, start + START_DELAY)
    measured = simulator.phase(_Phase(block.phase, start, START_DELAY + block.length + 0.5, windows))
    proved = tuple(window.model_copy(update={"applied": applied(measured.ledger, window)}) for window in windows)
    injection = Injection(phase=block.phase, status=Status(status="ok"), windows=proved)
    phases = {"baseline": simulator.phase(baseline), block.phase: measured}
    return RunData(spec, (block,), phases, {block.phase: injection}, SUBJECT)


def _injected(spec: ChaosSpec, block: Block, on: float) -> tuple[InjectedWindow, ...]:
    windows = []
    for window in block.windows:
        sweep = spec.fault(window.fault).dose
        windows.append(
            InjectedWindow(
                fault=window.fault, window=window.index, dose=window.dose, on=on, off=on + sweep.hold, applied=0
            )
        )
        on += sweep.hold + sweep.washout
    return tuple(windows)


def applied(ledger: Sequence[LedgerRow], window: InjectedWindow) -> int:
    """How many requests the ledger says were touched in `window`."""
    return sum(row.applied and row.window == window.window and row.fault == window.fault for row in ledger)


def identity_of(run: RunData) -> Identity:
    """The run id and spec digest that every file of the run carries."""
    return Identity(RUN_ID, run.spec.digest())


def write_run(run: RunData, folder: Path) -> Identity:
    """Write `run` as files: `<folder>/<step>/<artifact>`, the steps being deploy, PHASE-measure and PHASE-inject."""
    identity = identity_of(run)
    endpoint = Endpoint(
        url="http://127.0.0.1:8001",
        admin="http://127.0.0.1:8002",
        token=SecretRef(env="CHAOSGATE_TOKEN"),
        upstream="http://127.0.0.1:8003",
        subject=run.subject,
    )
    write_document(folder / "spec.json", SPEC, identity, run.spec)
    write_document(folder / "deploy" / "endpoint.json", ENDPOINT, identity, endpoint)
    for phase in run.phases.values():
        step = folder / f"{phase.phase}-measure"
        write_lines(step / "observations.jsonl", OBSERVATIONS, identity, phase.observations)
        write_lines(step / "ledger.jsonl", LEDGER, identity, phase.ledger)
        write_lines(step / "timeline.jsonl", TIMELINE, identity, phase.timeline)
        write_lines(step / "gauges.jsonl", GAUGES, identity, phase.gauges)
    for injection in run.injections.values():
        write_document(folder / f"{injection.phase}-inject" / "injection.json", INJECTION, identity, injection)
    return identity


def read_run(folder: Path) -> RunData:
    """The run in `folder`; an ArtifactError for the first file that is missing, altered or of another run."""
    spec = read_document(folder / "spec.json", SPEC, Identity(RUN_ID, None))
    identity, blocks = Identity(RUN_ID, spec.digest()), make_blocks(spec)
    endpoint = read_document(folder / "deploy" / "endpoint.json", ENDPOINT, identity)
    injections = {
        block.phase: read_document(folder / f"{block.phase}-inject" / "injection.json", INJECTION, identity)
        for block in blocks
    }
    phases = {name: _read_phase(folder, name, identity) for name in ("baseline", *(block.phase for block in blocks))}
    return RunData(spec, blocks, phases, injections, endpoint.subject)


def _read_phase(folder: Path, phase: str, identity: Identity) -> PhaseData:
    step = folder / f"{phase}-measure"
    return PhaseData(
        phase,
        read_lines(step / "observations.jsonl", OBSERVATIONS, identity),
        read_lines(step / "ledger.jsonl", LEDGER, identity),
        read_lines(step / "timeline.jsonl", TIMELINE, identity),
        read_lines(step / "gauges.jsonl", GAUGES, identity),
    )


@cache
def passing_run() -> RunData:
    """The run that must pass."""
    return simulate()


@cache
def passing_fits() -> Fits:
    """The thresholds of `passing_run`, fitted once."""
    return fit_run(passing_run())


def verdict_of(run: RunData, fits: Fits | None = None) -> Verdict:
    """The verdict of `run`. Its thresholds are those of the passing run unless given: fitting takes seconds."""
    return judge(run.spec, estimate_run(run), run.injections, fits or passing_fits(), run.subject)


def changed(run: RunData, phase: str, **parts: Any) -> RunData:
    """`run` with `parts` of one phase replaced: observations, ledger, timeline or gauges."""
    return replace(run, phases={**run.phases, phase: replace(run.phases[phase], **parts)})
