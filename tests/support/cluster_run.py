"""A simulated run of a fault of the cluster: that of `simulated_run` with gauges of the target and proofs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cluster_targets import cluster_fault
from simulated_run import OBJECTIVES, Conditions, Json, simulate, stream_spec

from chaosgate.estimate import RunData
from chaosgate.model.fault import GaugeName
from chaosgate.model.observation import Gauge, cluster_gauge
from chaosgate.model.result import InjectedWindow
from chaosgate.model.spec import ChaosSpec

Read = Callable[[float, list[InjectedWindow]], float]
"""A gauge at a time on the gateway's clock, of the windows at doses above 0 that have begun by then."""


def lost(at: float, begun: list[InjectedWindow]) -> float:
    """Every window took as many pods as its dose says."""
    return float(sum(window.dose for window in begun))


def ready(at: float, begun: list[InjectedWindow]) -> float:
    """Of two pods those of the last window's dose are missing for 1.5 s."""
    return 2.0 - (begun[-1].dose if begun and at < begun[-1].on + 1.5 else 0.0)


def cut(at: float, begun: list[InjectedWindow]) -> float:
    """The limit in force is cut by the dose while its window is on."""
    return 1.0 - (begun[-1].dose if begun and at < begun[-1].off else 0.0)


DELETED: dict[GaugeName, Read] = {"lost": lost, "ready": ready}
CUT: dict[GaugeName, Read] = {"cpu": cut, "ready": lambda at, begun: 2.0}


def cluster_spec(kind: str = "pod.delete", *values: Any, objectives: tuple[Json, ...] = OBJECTIVES[3:]) -> ChaosSpec:
    """A spec with one fault of the kind; its windows are of 4 s, with 1 s between."""
    return stream_spec(faults=(cluster_fault(kind, *values).to_json(),), fits=(), objectives=objectives)


def cluster_run(
    spec: ChaosSpec | None = None, gauges: dict[GaugeName, Read] | None = None, conditions: Conditions | None = None
) -> RunData:
    """A run that must pass unless `gauges` or `conditions` say otherwise; the requests themselves feel nothing."""
    run = simulate(spec or cluster_spec(), conditions or Conditions(bites=0.0))
    fault = run.spec.spec.faults[0].name
    injection, phase = run.injections["block1"], run.phases["block1"]
    windows = tuple(window.model_copy(update={"applied": int(window.dose > 0)}) for window in injection.windows)
    applied = {window.window: window.applied for window in windows}
    timeline = [
        event.model_copy(update={"detail": {"applied": applied[event.window or 0]}})
        if event.event == "proof"
        else event
        for event in phase.timeline
    ]
    ledger = [row.model_copy(update={"planned": False, "applied": False, "effect": None}) for row in phase.ledger]
    start, end = phase.timeline[0].at, phase.timeline[-1].at
    seconds = [start + 0.3 + number for number in range(int(end - start))]
    read = [
        Gauge(at=at, phase="block1", name=cluster_gauge(fault, name), value=value(at, begun_by(at, windows)))
        for at in seconds
        for name, value in (gauges or DELETED).items()
    ]
    changed = replace(phase, timeline=timeline, ledger=ledger, gauges=read)
    return replace(
        run,
        phases={**run.phases, "block1": changed},
        injections={"block1": injection.model_copy(update={"windows": windows})},
    )


def begun_by(at: float, windows: tuple[InjectedWindow, ...]) -> list[InjectedWindow]:
    """The windows at doses above 0 that have begun at `at`."""
    return [window for window in windows if window.dose > 0 and window.on <= at]
