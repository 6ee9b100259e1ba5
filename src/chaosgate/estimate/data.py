"""What a run left behind, as one frozen value: the input of every estimate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chaosgate.model.observation import Gauge, LedgerRow, Observation, TimelineEvent
from chaosgate.model.plan import Block
from chaosgate.model.result import Injection, Subject
from chaosgate.model.spec import ChaosSpec


@dataclass(frozen=True)
class PhaseData:
    """What was seen in one phase: requests at the client, ledger and timeline at the gateway, gauges of the engine."""

    phase: str
    observations: Sequence[Observation]
    ledger: Sequence[LedgerRow]
    timeline: Sequence[TimelineEvent]
    gauges: Sequence[Gauge] = ()


@dataclass(frozen=True)
class RunData:
    """A whole run: what was asked for (`spec`, `blocks`), what was done (`injections`) and what was seen (`phases`).

    `phases` is keyed by phase (`baseline`, then the phase of each block), `injections` by the phase of each block;
    `subject` is the one deploy recorded. The order of the items within a phase does not matter.
    """

    spec: ChaosSpec
    blocks: tuple[Block, ...]
    phases: Mapping[str, PhaseData]
    injections: Mapping[str, Injection]
    subject: Subject
