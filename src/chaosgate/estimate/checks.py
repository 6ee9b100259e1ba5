"""Whether the files of a run tell one story: what was planned, injected, put on the timeline and booked in the ledger.

A gap is something planned that is not in the data; a problem is data that cannot be right. Either is one sentence.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from chaosgate.estimate.data import PhaseData, RunData
from chaosgate.estimate.in_time import outlasting, touched_doses, unproved
from chaosgate.estimate.objectives import judged_doses, named_slis
from chaosgate.estimate.requests import Request
from chaosgate.estimate.windows import RunWindows
from chaosgate.model.blocks import BASELINE, SETTLE
from chaosgate.model.fault import ClusterFault
from chaosgate.model.filter import UNGUARDED
from chaosgate.model.observation import TimelineEvent, Window
from chaosgate.model.plan import Block
from chaosgate.model.result import InjectedWindow, Injection
from chaosgate.model.sli import resolve_sli
from chaosgate.model.spec import ChaosSpec
from chaosgate.units import format_duration, format_value

ACTS = {
    False: ("request was touched", "hold it longer or raise the share"),
    True: ("object was changed", "check that its target is there during the whole run"),
}
"""What a fault of requests and one of the cluster do, and what to look at where they did it to none."""


def find_gaps(run: RunData, windows: RunWindows) -> Iterator[str]:
    """What was planned and is not in the data of `run`."""
    steady = run.spec.spec.steady_state.windows
    if len(windows.baseline) < steady:
        yield f"{BASELINE}: its {steady} windows cannot be placed: no `started` event in the timeline tells the warm-up"
    yield from _halts(run.phases.get(BASELINE), None)
    for block, recovery in zip(run.blocks, windows.recoveries, strict=True):
        injection = run.injections.get(block.phase)
        yield from _cut_short(run, block, injection)
        yield from _halts(run.phases.get(block.phase), injection)
        if not recovery.windows:
            yield f"{block.phase}: no recovery was observed after the last window"
        yield from _empty(recovery.windows)
    for part in (windows.baseline, *windows.sweeps.values()):
        yield from _empty(part)
    yield from _without_clean_answer(run, windows)
    yield from _untouched(run, windows)
    yield from outlasting(run, windows)


def find_problems(run: RunData, windows: RunWindows) -> Iterator[str]:
    """What cannot be right in the data of `run`."""
    yield from windows.problems
    for phase in run.phases.values():
        yield from _guard_problems(run.spec, phase)
    if BASELINE in run.phases:
        yield from _load_problems(run.phases[BASELINE], windows.baseline)
    for block, recovery in zip(run.blocks, windows.recoveries, strict=True):
        measured, injection = run.phases.get(block.phase), run.injections.get(block.phase)
        if injection is None:
            yield f"{block.phase}: there is no injection; did its inject step finish?"
        elif measured is not None:
            yield from _unplanned(block, injection)
            yield from _load_problems(measured, recovery.windows)
            yield from _timeline_problems(measured, injection)
            yield from _ledger_problems(run, measured, injection)
            yield from _misplaced(block.phase, windows.requests[block.phase], injection)


def events_of(phase: PhaseData, *names: str) -> list[TimelineEvent]:
    """The events of `phase` called any of `names`, in the order of time."""
    mine = (event for event in phase.timeline if event.event in names and event.phase in (None, phase.phase))
    return sorted(mine, key=lambda event: (event.at, event.event, event.fault or "", event.window or 0))


def _cut_short(run: RunData, block: Block, injection: Injection | None) -> Iterator[str]:
    phase = run.phases.get(block.phase)
    for window in injection.windows if injection else ():
        hold = run.spec.fault(window.fault).dose.hold
        if not window.off - window.on >= hold - SETTLE:
            held = format_duration(round(window.off - window.on, 3)) if window.off > window.on else "0s"
            yield f"{_name(window)} was held for {held} of {format_duration(hold)}"
    for event in events_of(phase, "off") if phase else ():
        if event.detail.get("why") != "removed":
            yield f"window {event.window} of {event.fault} did not end by removal but: {event.detail.get('why')}"


def _halts(phase: PhaseData | None, injection: Injection | None) -> Iterator[str]:
    if phase is not None and (injection is None or injection.halted is None):
        for event in events_of(phase, "halt"):
            yield f"{phase.phase}: the gateway halted the run: {event.detail.get('reason')}"


def _empty(windows: Iterable[Window]) -> Iterator[str]:
    empty = [window for window in windows if not window.samples]
    if empty:
        fault = f" of {empty[0].fault}" if empty[0].fault else ""
        place = empty[0].place if not fault else "sweep"
        first = f"first window {empty[0].index}{fault}"
        yield f"{empty[0].phase}: {len(empty)} windows of the {place} hold no request, {first}"


def _without_clean_answer(run: RunData, windows: RunWindows) -> Iterator[str]:
    """Prompts met after the baseline that it has no whole answer to: what compares with it would pass over them."""
    comparing = [name for name in named_slis(run.spec) if resolve_sli(name).kind.compares]
    judged = chain(*windows.sweeps.values(), *(recovery.windows for recovery in windows.recoveries))
    lacking = {sample.observation.prompt for window in judged for sample in window.samples if sample.clean is None}
    if comparing and lacking:
        yield (
            f"{comparing[0]}: the baseline has no whole answer to {len(lacking)} of the prompts met later, first "
            f"{min(lacking)}; a longer baseline covers every prompt of the set"
        )


def _untouched(run: RunData, windows: RunWindows) -> Iterator[str]:
    """Doses that an objective judges and at which no request was touched: its numbers say nothing of the fault there.

    A fault that touched nothing at any dose is left to its witness, which says so once.
    """
    anywhere, judged = touched_doses(run), touched_doses(run, guarded=True)
    for fault in run.spec.spec.faults:
        what, advice = ACTS[isinstance(fault, ClusterFault)]
        if any(name == fault.name for name, _ in anywhere):
            injected = {window.dose for window in windows.sweeps[fault.name]}
            for dose in sorted(judged_doses(run.spec, fault) & injected):
                if (fault.name, dose) not in judged:
                    said = format_value(dose, fault.axis().dimension)
                    yield f"{fault.name}: no {what} at dose {said}; {advice}"


def _name(window: InjectedWindow) -> str:
    return f"window {window.window} of {window.fault}"


def _unplanned(block: Block, injection: Injection) -> Iterator[str]:
    planned = {(window.fault, window.index): window.dose for window in block.windows}
    for window in injection.windows:
        if planned.get((window.fault, window.window)) != window.dose:
            yield f"{_name(window)} was injected at dose {window.dose:g}; the plan has no such window"
    for (fault, index), times in Counter((w.fault, w.window) for w in injection.windows).items():
        if times > 1:
            yield f"window {index} of {fault} is in the injection {times} times"
    if injection.phase != block.phase:
        yield f"{block.phase}: its injection is of {injection.phase}"


def _load_problems(phase: PhaseData, windows: Sequence[Window]) -> Iterator[str]:
    """Load must have run from before the first window until after the last one; at a halt, which is a gap, it ends."""
    for name in ("started", "done"):
        found = len(events_of(phase, name))
        if found != 1:
            yield f"{phase.phase}: the timeline holds {found} `{name}` events; 1 is needed"
    end = max((window.end for window in windows), default=-math.inf)
    for event in events_of(phase, "done") if not events_of(phase, "halt") else ():
        if not event.at >= end - SETTLE:
            yield f"{phase.phase}: load ended {format_duration(round(end - event.at, 3))} before the last window did"


def _timeline_problems(phase: PhaseData, injection: Injection) -> Iterator[str]:
    # After a halt measure does not wait for inject to notice it.
    if injection.status.status == "ok" and not events_of(phase, "injected", "halt"):
        yield f"{phase.phase}: the timeline has no `injected` event; inject did not finish"
    for name in ("on", "off"):
        events = events_of(phase, name)
        injected = {(w.fault, w.window): w.on if name == "on" else w.off for w in injection.windows}
        for (fault, index), at in injected.items():
            stamps = [event.at for event in events if (event.fault, event.window) == (fault, index)]
            if len(stamps) != 1 or not abs(stamps[0] - at) <= SETTLE:
                found = ", ".join(f"{stamp:.3f} s" for stamp in stamps) or "never"
                yield f"window {index} of {fault} went {name} at {at:.3f} s by the injection, by the timeline: {found}"
        for event in events:
            if (event.fault, event.window) not in injected:
                yield f"window {event.window} of {event.fault} went {name} and is not in the injection"


def _ledger_problems(run: RunData, phase: PhaseData, injection: Injection) -> Iterator[str]:
    doses = {(window.fault, window.window): window.dose for window in injection.windows}
    wrong = [
        row.request
        for row in phase.ledger
        if row.window is not None and doses.get((str(row.fault), row.window)) != row.dose
    ]
    if wrong:
        yield f"{phase.phase}: {len(wrong)} ledger rows name a window or dose that was not injected, first {min(wrong)}"
    applied = Counter((row.fault, row.window) for row in phase.ledger if row.applied)
    for window in injection.windows:
        if isinstance(run.spec.fault(window.fault), ClusterFault):
            yield from unproved(window, events_of(phase, "proof"))
            continue
        found = applied[window.fault, window.window]
        if found < window.applied:
            yield f"{_name(window)} touched {window.applied} requests by its proof; the ledger holds {found}"


def _guard_problems(spec: ChaosSpec, phase: PhaseData) -> Iterator[str]:
    """The gateway must have left unguarded whom the draw chose: every number rests on who is in which arm."""
    wrong = {row.request for row in phase.ledger if (row.filtered == UNGUARDED) != spec.unguards(row.request)}
    if wrong:
        yield (
            f"{phase.phase}: {len(wrong)} requests passed the filters, or did not, against the draw of `unguarded`, "
            f"first {min(wrong)}; is the gateway of another version of chaosgate?"
        )


def _misplaced(phase: str, requests: Sequence[Request], injection: Injection) -> Iterator[str]:
    """Requests whose arrival and window, both stamped by the gateway, contradict each other by more than SETTLE."""
    wrong = [request.observation.request for request in requests if _contradicts(request, injection)]
    if wrong:
        count = f"{phase}: {len(wrong)} requests"
        yield f"{count} arrived at another time than the window the ledger gives them, first {min(wrong)}"


def _contradicts(request: Request, injection: Injection) -> bool:
    for window in injection.windows:
        booked = request.windows.get(window.fault)
        if booked == window.window and not window.on - SETTLE <= request.seen <= window.off + SETTLE:
            return True
        within = request.by_ledger and window.on + SETTLE < request.seen < window.off - SETTLE
        if within and booked is None and injection.halted is None:
            return True
    return False
