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
from chaosgate.model.plan import phase_of
from chaosgate.model.result import Endpoint, Status
from chaosgate.model.spec import ChaosSpec


def read_spec(context: Context) -> tuple[ChaosSpec, Identity]:
    """The resolved spec of the run, and whose files belong to it."""
    spec = read_document(context.input("spec"), SPEC, Identity(context.run, None))
    return spec, Identity(context.run, spec.digest())


def read_endpoint(context: Context, identity: Identity) -> Endpoint:
    """Where the target is reached; an ArtifactError when deploy did not get that far."""
    return read_document(context.input("endpoint"), ENDPOINT, identity)


def read_statuses(files: Mapping[str, Path], identity: Identity) -> Iterator[tuple[str, Status]]:
    """How each step ended; a step that left no status crashed."""
    for step, path in files.items():
        try:
            yield step, read_document(path, STATUS, identity)
        except ArtifactError as error:
            yield step, Status(status="failed", reason=f"left no status behind: {error}")


def sentence(step: str, status: Status) -> str:
    """How `step` ended, in words; a reason that begins with the step's name is a sentence already."""
    reason = status.reason or "it gave no reason"
    return reason if reason.startswith(f"{step} ") else f"{step} {status.status}: {reason}"


def first_problem(files: Mapping[str, Path], identity: Identity) -> str | None:
    """Which step is the first that is not ok, such as `deploy failed`; None when all are.

    Whoever reads this declines: there is nothing to work with. Why the step failed is said where that step is named.
    """
    for step, status in read_statuses(files, identity):
        if status.status != "ok":
            return f"{step} {status.status}"
    return None


def read_phase(context: Context, step: str, identity: Identity) -> PhaseData:
    """What one measure step saw; gauges are left out where the reader has no such port."""
    gauges = context.inputs.get("gauges", {}).get(step)
    observations = read_lines(context.inputs["observations"][step], OBSERVATIONS, identity)
    return PhaseData(
        phase=phase_of(step),
        observations=observations,
        ledger=read_lines(context.inputs["ledger"][step], LEDGER, identity),
        timeline=read_lines(context.inputs["timeline"][step], TIMELINE, identity),
        gauges=[] if gauges is None else read_lines(gauges, GAUGES, identity),
    )
