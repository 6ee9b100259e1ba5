"""How components read their inputs: each file checked against the run and the spec it must belong to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from chaosgate.artifacts import (
    ENDPOINT,
    GAUGES,
    LEDGER,
    OBSERVATIONS,
    SPEC,
    STATUS,
    TIMELINE,
    Identity,
    read_document,
    read_lines,
)
from chaosgate.components.definition import Context
from chaosgate.errors import ArtifactError
from chaosgate.estimate import PhaseData
from chaosgate.model.result import Endpoint, Status
from chaosgate.model.spec import ChaosSpec


def read_spec(context: Context) -> tuple[ChaosSpec, Identity]:
    """The resolved spec of the run, and whose files belong to it."""
    spec = read_document(context.inputs["spec"], SPEC)
    return spec, Identity(context.run, spec.digest())


def read_endpoint(context: Context, identity: Identity) -> Endpoint:
    """Where the target is reached; an ArtifactError when deploy did not get that far."""
    return read_document(context.inputs["endpoint"], ENDPOINT, identity)


def read_statuses(files: Mapping[str, Path], identity: Identity) -> Iterator[tuple[str, Status]]:
    """How each step ended; a step that left no status crashed."""
    for step, path in files.items():
        try:
            found = read_document(path, STATUS, identity)
            yield step, Status(status=found.status, reason=found.reason)
        except ArtifactError as error:
            yield step, Status(status="failed", reason=f"left no status behind: {error}")


def sentence(step: str, status: Status) -> str:
    """How `step` ended, in words; a reason that begins with the step's name is a sentence already."""
    reason = status.reason or "it gave no reason"
    return reason if reason.startswith(f"{step} ") else f"{step} {status.status}: {reason}"


def problem_before(context: Context, identity: Identity) -> str | None:
    """How the step before ended, such as `deploy failed`; None when it is ok.

    Whoever reads this declines: there is nothing to work with. Why the step failed is said where that step is named.
    """
    try:
        before = read_document(context.inputs["status"], STATUS, identity)
    except ArtifactError as error:
        return f"the step before left no status behind: {error}"
    return None if before.status == "ok" else f"{before.step} {before.status}"


def read_phase(phase: str, files: Mapping[str, Path], identity: Identity) -> PhaseData:
    """What the measure step of `phase` saw, from its files by port; gauges may be left out."""
    return PhaseData(
        phase=phase,
        observations=read_lines(files["observations"], OBSERVATIONS, identity),
        ledger=read_lines(files["ledger"], LEDGER, identity),
        timeline=read_lines(files["timeline"], TIMELINE, identity),
        gauges=read_lines(files["gauges"], GAUGES, identity) if "gauges" in files else [],
    )
