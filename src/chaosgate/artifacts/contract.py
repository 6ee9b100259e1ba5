"""Which artifacts exist: file name, schema name and the model of their content."""

from __future__ import annotations

from dataclasses import dataclass

from chaosgate.model.base import Frozen
from chaosgate.model.observation import Gauge, LedgerRow, Observation, TimelineEvent
from chaosgate.model.result import Cleanup, Endpoint, Estimates, Fits, Injection, Record, Recording, Status, Verdict
from chaosgate.model.spec import ChaosSpec


@dataclass(frozen=True)
class Artifact:
    """One kind of file. `model` is the content of a document, or of each line of a JSONL file; None for free text."""

    name: str
    file: str
    model: type[Frozen] | None

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


ARTIFACTS: dict[str, Artifact] = {
    artifact.name: artifact
    for artifact in (
        Artifact("spec", "spec.json", ChaosSpec),
        Artifact("status", "status.json", Status),
        Artifact("endpoint", "endpoint.json", Endpoint),
        Artifact("observations", "observations.jsonl", Observation),
        Artifact("gauges", "gauges.jsonl", Gauge),
        Artifact("ledger", "ledger.jsonl", LedgerRow),
        Artifact("timeline", "timeline.jsonl", TimelineEvent),
        Artifact("injection", "injection.json", Injection),
        Artifact("estimates", "estimates.json", Estimates),
        Artifact("fit", "fit.json", Fits),
        Artifact("verdict", "verdict.json", Verdict),
        Artifact("record", "record.json", Record),
        Artifact("recording", "recording.json", Recording),
        Artifact("cleanup", "cleanup.json", Cleanup),
        Artifact("report", "report.html", None),
    )
}
