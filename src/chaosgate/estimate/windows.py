"""Which window every request of a run belongs to: of the baseline, of a fault's sweep, or of the recovery."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chaosgate.estimate.data import PhaseData, RunData
from chaosgate.estimate.known import Asked, asked, known_prompts
from chaosgate.estimate.requests import Joined, Request, join
from chaosgate.model.blocks import BASELINE, SETTLE
from chaosgate.model.fault import ClusterFault, Fault
from chaosgate.model.observation import Known, Observation, Place, Sample, Window
from chaosgate.model.plan import Block
from chaosgate.model.result import Injection
from chaosgate.model.spec import ChaosSpec

_STAMP = 1e-6
"""Seconds below which two times are the same: what adding up window lengths may lose."""


@dataclass(frozen=True)
class Recovery:
    """The stretch after the last `off` of a block, which was at `off` on the gateway's clock, cut into windows."""

    faults: tuple[str, ...]
    off: float
    windows: tuple[Window, ...]


@dataclass(frozen=True)
class RunWindows:
    """Every window of a run, with the requests that belong to it.

    `sweeps` holds the windows of each fault in the order in which they were injected, controls (dose 0) included;
    `requests` are all requests by phase, guarded or not; `straddlers` counts those that lie in no window.
    """

    baseline: tuple[Window, ...]
    sweeps: Mapping[str, tuple[Window, ...]]
    recoveries: tuple[Recovery, ...]
    requests: Mapping[str, tuple[Request, ...]]
    straddlers: int
    problems: tuple[str, ...]

    def controls(self, fault: str) -> tuple[Window, ...]:
        """The dose-0 windows of `fault`, in the order in which they were injected."""
        return self.at_dose(fault, 0.0)

    def at_dose(self, fault: str, dose: float) -> tuple[Window, ...]:
        """The windows of `fault` at one dose; 0 means the controls."""
        return self.at_doses(fault, lambda other: other == dose)

    def at_doses(self, fault: str, wanted: Callable[[float], bool]) -> tuple[Window, ...]:
        """The windows of `fault` whose dose is `wanted`."""
        return tuple(window for window in self.sweeps[fault] if window.dose is not None and wanted(window.dose))

    def recovered(self, fault: str | None, after: float = 0.0) -> tuple[Window, ...]:
        """The recovery windows that start `after` seconds or more after `off`: of the block of `fault`, or of all."""
        return tuple(
            window
            for recovery in self.recoveries
            if fault is None or fault in recovery.faults
            for window in recovery.windows
            if window.start - recovery.off >= after - _STAMP
        )

    @property
    def undisturbed(self) -> tuple[tuple[Window, ...], ...]:
        """Groups of windows between which nothing was changed on purpose: the baseline and each fault's controls.

        Recovery is not among them: whether it is undisturbed is what the run is to find out.
        """
        return (self.baseline, *(self.controls(fault) for fault in self.sweeps))

    def alike(self, fault: str) -> tuple[tuple[Window, ...], ...]:
        """The undisturbed groups and each dose of `fault` by itself: within a group nothing was changed on purpose.

        What makes windows of one dose differ is the same weather, so that a dose borrows from the other doses too.
        """
        doses = sorted({window.dose for window in self.sweeps[fault] if window.dose})
        return (*self.undisturbed, *(self.at_dose(fault, dose) for dose in doses))


def place_requests(run: RunData) -> RunWindows:
    """Every request of `run` in its windows. Warm-up requests and cancelled ones belong nowhere and are not counted.

    In a sweep the gateway's ledger says which window was on when a request arrived; all such requests belong to it,
    touched or not. A fault of the cluster holds in time: to its window belongs what lies wholly within. Baseline and
    recovery are cut by arrival. A phase without data has no windows, and a problem.
    """
    faults = {fault.name: fault for fault in run.spec.spec.faults}
    joined = {phase: _joined(run, phase) for phase in (BASELINE, *(block.phase for block in run.blocks))}
    requests = {phase: part.requests for phase, part in joined.items()}
    arms = place_arms(run.spec, requests[BASELINE])
    baseline, straddlers = _fill(_baseline(run.spec, run.phases.get(BASELINE)), requests[BASELINE], arms, faults)
    windows, recoveries = [], []
    for block in run.blocks:
        planned = [*_sweep(run, block), *_recovery(run, block)]
        filled, left_out = _fill(planned, requests[block.phase], arms, faults)
        straddlers += left_out
        windows += [window for window in filled if window.place != "recovery"]
        recovery = tuple(window for window in filled if window.place == "recovery")
        recoveries.append(Recovery(block.faults, _last_off(run, block), recovery))
    return RunWindows(
        baseline=baseline,
        sweeps={f.name: tuple(window for window in windows if window.fault == f.name) for f in run.spec.spec.faults},
        recoveries=tuple(recoveries),
        requests=requests,
        straddlers=straddlers,
        problems=tuple(problem for part in joined.values() for problem in part.problems),
    )


def place_baseline(spec: ChaosSpec, baseline: PhaseData) -> tuple[Window, ...]:
    """The baseline's windows alone, for deciding whether to inject at all."""
    requests = join(baseline, (), spec.spec.workload.seed).requests
    return _fill(_baseline(spec, baseline), requests, place_arms(spec, requests), {})[0]


def clean_arm(requests: Iterable[Request]) -> Mapping[str, Observation]:
    """By prompt, its first whole answer in the baseline. A warm-up answer is not used."""
    clean: dict[str, Observation] = {}
    for request in requests:
        seen = request.observation
        if seen.outcome == "ok" and not seen.warmup:
            clean.setdefault(seen.prompt, seen)
    return clean


@dataclass(frozen=True)
class Arms:
    """The requests that filters guard and those that pass unguarded: the clean answers of each are its own."""

    spec: ChaosSpec
    guarded: Mapping[str, Observation]
    unguarded: Mapping[str, Observation]
    known: Mapping[Asked, Known]

    def sample(self, request: Request) -> tuple[bool, Sample]:
        """Whether a request is unguarded, and its sample."""
        seen = request.observation
        unguarded = self.spec.unguards(seen.request)
        clean = (self.unguarded if unguarded else self.guarded).get(seen.prompt)
        known, slo = self.known.get(asked(seen)), self.spec.spec.slo
        if clean is None:
            return unguarded, Sample(seen, None, slo, known=known)
        return unguarded, Sample(seen, clean.text, slo, clean.said, clean.logprobs, known)


def place_arms(spec: ChaosSpec, baseline: Sequence[Request]) -> Arms:
    unguarded = [request for request in baseline if spec.unguards(request.observation.request)]
    guarded = [request for request in baseline if not spec.unguards(request.observation.request)]
    return Arms(spec, clean_arm(guarded), clean_arm(unguarded), known_prompts(spec))


def _joined(run: RunData, phase: str) -> Joined:
    if phase not in run.phases:
        return Joined((), (f"{phase}: there is no data; did its measure step finish?",))
    faults = next((block.faults for block in run.blocks if block.phase == phase), ())
    return join(run.phases[phase], faults, run.spec.spec.workload.seed)


def _baseline(spec: ChaosSpec, baseline: PhaseData | None) -> list[Window]:
    steady = spec.spec.steady_state
    starts = [event for event in baseline.timeline if event.event == "started"] if baseline else []
    if not starts or "warmup" not in starts[0].detail:
        return []
    begin = starts[0].at + float(starts[0].detail["warmup"])
    return list(_cut("baseline", BASELINE, begin, steady.hold, steady.windows))


def _cut(place: Place, phase: str, begin: float, hold: float, count: int) -> Iterator[Window]:
    for index in range(count):
        yield Window(place, phase, None, index, None, begin + index * hold, begin + (index + 1) * hold, ())


def _sweep(run: RunData, block: Block) -> Iterator[Window]:
    injection = run.injections.get(block.phase)
    injected = {(w.fault, w.window): w for w in injection.windows} if injection else {}
    for planned in block.windows:
        found = injected.get((planned.fault, planned.index))
        if found is not None:
            place: Place = "dose" if planned.dose > 0 else "control"
            yield Window(place, block.phase, planned.fault, planned.index, planned.dose, found.on, found.off, ())


def _recovery(run: RunData, block: Block) -> Iterator[Window]:
    off = _last_off(run, block)
    if math.isfinite(off):
        hold = run.spec.fault(block.windows[-1].fault).dose.hold
        yield from _cut("recovery", block.phase, off + SETTLE, hold, block.recovery_windows)


def _last_off(run: RunData, block: Block) -> float:
    injection: Injection | None = run.injections.get(block.phase)
    return max((window.off for window in injection.windows), default=math.nan) if injection else math.nan


def _fill(
    windows: Sequence[Window], requests: Sequence[Request], arms: Arms, faults: Mapping[str, Fault]
) -> tuple[tuple[Window, ...], int]:
    """The windows with their requests, and how many requests lie in none."""
    guarded: list[list[Sample]] = [[] for _ in windows]
    unguarded: list[list[Sample]] = [[] for _ in windows]
    homes = _Homes(windows, faults)
    straddlers = 0
    for request in requests:
        # What its client cancelled tells nothing of the target, and of no fault either.
        if request.observation.warmup or request.observation.outcome == "cancelled":
            continue
        found = homes.of(request)
        straddlers += not found
        apart, sample = arms.sample(request)
        for index in found:
            (unguarded if apart else guarded)[index].append(sample)
    filled = (
        replace(window, samples=tuple(judged), unguarded=tuple(shown))
        for window, judged, shown in zip(windows, guarded, unguarded, strict=True)
    )
    return tuple(filled), straddlers


class _Homes:
    """To which of `windows` a request belongs: those of a fault on the wire by name, others by time."""

    def __init__(self, windows: Sequence[Window], faults: Mapping[str, Fault]) -> None:
        self._named: dict[tuple[str, int], int] = {}
        self._timed: list[tuple[int, Window]] = []
        self._lasting: list[tuple[int, Window, ClusterFault]] = []
        self._dosed: list[tuple[int, Window]] = []
        for at, window in enumerate(windows):
            fault = faults.get(window.fault or "")
            if isinstance(fault, ClusterFault):
                self._lasting.append((at, window, fault))
            elif window.fault is None:
                self._timed.append((at, window))
            else:
                self._named[window.fault, window.index] = at
                self._dosed.append((at, window))

    def of(self, request: Request) -> list[int]:
        """The windows, by their place in the list."""
        found = [at for at, window, fault in self._lasting if within(request, window, fault)]
        if request.by_ledger:
            found += [self._named[named] for named in request.windows.items() if named in self._named]
        else:
            found += [at for at, window in self._dosed if window.start <= request.seen < window.end]
        if not request.windows:
            found += [at for at, window in self._timed if window.start <= request.seen < window.end]
        return found


def within(request: Request, window: Window, fault: ClusterFault) -> bool:
    """Whether a request lies wholly in a window of `fault`, less the time in which what was before still shows.

    A fault that heals is an event at the window's start: whoever was under way then is whom it hits first, and belongs.
    """
    begun = request.done > window.start if fault.goes == "healed" else request.seen >= window.start + SETTLE
    return begun and request.done <= window.end
