"""Which artifacts exist: file name, schema name and the model of their content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from chaosgate.model.base import Frozen
from chaosgate.model.observation import Gauge, LedgerRow, Observation, TimelineEvent
from chaosgate.model.result import Cleanup, Endpoint, Estimates, Fits, Injection, Record, Recording, StepStatus, Verdict
from chaosgate.model.spec import ChaosSpec

Model = TypeVar("Model", bound=Frozen)


@dataclass(frozen=True)
class Artifact(Generic[Model]):
    """One kind of file. `model` is the content of a document, or of each line of a JSONL file."""

    name: str
    file: str
    model: type[Model]

    @property
    def schema(self) -> str:
        """The schema's name and version, written into the file."""
        return f"chaosgate/{self.name}/v1"


@dataclass(frozen=True)
class Identity:
    """Whose file it is: the run and the digest of its spec. A file of another run or spec is refused."""

    run: str
    spec: str | None
    """None for a reader that knows only the run; never None in a file."""


ANY_RUN = "any"
"""The run in the file of a spec: any number of runs may use it."""

SPEC: Artifact[ChaosSpec] = Artifact("spec", "spec.json", ChaosSpec)
STATUS: Artifact[StepStatus] = Artifact("status", "status.json", StepStatus)
ENDPOINT: Artifact[Endpoint] = Artifact("endpoint", "endpoint.json", Endpoint)
OBSERVATIONS: Artifact[Observation] = Artifact("observations", "observations.jsonl", Observation)
GAUGES: Artifact[Gauge] = Artifact("gauges", "gauges.jsonl", Gauge)
LEDGER: Artifact[LedgerRow] = Artifact("ledger", "ledger.jsonl", LedgerRow)
TIMELINE: Artifact[TimelineEvent] = Artifact("timeline", "timeline.jsonl", TimelineEvent)
INJECTION: Artifact[Injection] = Artifact("injection", "injection.json", Injection)
ESTIMATES: Artifact[Estimates] = Artifact("estimates", "estimates.json", Estimates)
FIT: Artifact[Fits] = Artifact("fit", "fit.json", Fits)
VERDICT: Artifact[Verdict] = Artifact("verdict", "verdict.json", Verdict)
RECORD: Artifact[Record] = Artifact("record", "record.json", Record)
RECORDING: Artifact[Recording] = Artifact("recording", "recording.json", Recording)
SEAL: Artifact[Cleanup] = Artifact("cleanup", "cleanup.json", Cleanup)
"""What the step `cleanup` leaves: with it the run is over."""
REPORT: Artifact[Frozen] = Artifact("report", "report.html", Frozen)
SUMMARY: Artifact[Frozen] = Artifact("summary", "summary.md", Frozen)
"""Pages for people: written as text and never read back, so their model has no fields."""

ARTIFACTS: dict[str, Artifact[Any]] = {
    artifact.name: artifact
    for artifact in (
        *(SPEC, STATUS, ENDPOINT),
        *(OBSERVATIONS, GAUGES, LEDGER, TIMELINE, INJECTION),
        *(ESTIMATES, FIT, VERDICT, RECORD, REPORT, SUMMARY, RECORDING, SEAL),
    )
}
"""Every artifact by its name; a port of a component is named after the artifact it carries."""
