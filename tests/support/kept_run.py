"""A run's folder made by hand: what a run of the small drill leaves, without a run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from small_drill import write_spec

from chaosgate.artifacts import RECORD, RECORDING, SEAL, STATUS, VERDICT, Identity, write_document
from chaosgate.artifacts import write_spec as write_resolved
from chaosgate.components.places import run_dir, spec_file
from chaosgate.components.recording import record_digest
from chaosgate.deploy.processes import created, here
from chaosgate.model.load import load_spec
from chaosgate.model.plan import CLEANUP, CONCLUDE, DEPLOY
from chaosgate.model.result import (
    Cleanup,
    Process,
    Reason,
    Record,
    Recording,
    StatusName,
    StepStatus,
    Verdict,
    VerdictName,
)
from chaosgate.planner import make_plan
from chaosgate.run.journal import FILE, JournalPage, StepEntry

STARTED = 1_800_000_000.0
"""When a kept run started: seconds since the epoch."""


class KeptRun:
    """The folder of run `run` below `state`, with the spec of the small drill; each method adds what a step leaves."""

    def __init__(self, state: Path, run: str = "small-drill-1") -> None:
        self.state, self.run = state, run
        self.folder = run_dir(state.resolve(), run)
        self.folder.mkdir(parents=True)
        self.spec = load_spec(write_spec(self.folder))
        write_resolved(spec_file(self.folder), self.spec)
        self.identity = Identity(run, self.spec.digest())
        self.plan = make_plan(self.spec)
        self.entries = {
            step.id: StepEntry(step=step.id, component=step.component)
            for step in (*self.plan.steps, self.plan.finally_)
        }

    def step(self, step: str, **fields: Any) -> KeptRun:
        """An entry of the journal; `started` and `ended` are seconds after STARTED."""
        for key in ("started", "ended"):
            if key in fields:
                fields[key] += STARTED
        self.entries[step] = StepEntry.model_validate({**dict(self.entries[step]), **fields})
        return self.journal()

    def journal(self, **end: Any) -> KeptRun:
        """The journal as it stands, with how the runner ended."""
        page = JournalPage(steps=tuple(self.entries.values()), **end)
        (self.folder / FILE).write_text(page.model_dump_json())
        return self

    def ended(self, step: str, status: StatusName, reason: str | None = None) -> KeptRun:
        """The status a step left."""
        content = StepStatus(step=step, status=status, reason=reason)
        write_document(self.folder / step / STATUS.file, STATUS, self.identity, content)
        return self

    def opened(self) -> KeptRun:
        """The record as deploy opens it."""
        return self._record(DEPLOY, "error", "not finished")

    def concluded(self, verdict: VerdictName = "pass", text: str = "answers: fine", recorded: bool = True) -> KeptRun:
        """Verdict, record, report and recording, as conclude leaves them."""
        reasons = (Reason(verdict=verdict, text=text),)
        write_document(
            self.folder / CONCLUDE / VERDICT.file, VERDICT, self.identity, Verdict(verdict=verdict, reasons=reasons)
        )
        (self.folder / CONCLUDE / "report.html").write_text("<html></html>")
        recording = Recording(mlflow_run="m1" if recorded else None)
        write_document(self.folder / CONCLUDE / RECORDING.file, RECORDING, self.identity, recording)
        return self._record(CONCLUDE, verdict, text)

    def _record(self, step: str, verdict: VerdictName, text: str) -> KeptRun:
        record = Record(
            name="small-drill",
            verdict=verdict,
            reasons=(Reason(verdict=verdict, text=text),),
            subject=None,
            started="2027-01-15T08:00:00+00:00",
            finished=None,
            environment={},
            recorded="nowhere",
        )
        write_document(self.folder / step / RECORD.file, RECORD, self.identity, record)
        return self

    def sealed(self, *left: str) -> KeptRun:
        """The seal over the record in force: clean unless something is left."""
        digest = record_digest(self.folder, self.run)
        seal = Cleanup(clean=not left, actions=(), left=left, record_digest=digest)
        write_document(self.folder / CLEANUP / SEAL.file, SEAL, self.identity, seal)
        return self

    def process(self, role: str, pid: int | None = None, host: str | None = None) -> KeptRun:
        """A process of the run: `pid`, without it one that is gone; `host`: on another machine."""
        place = here() if host is None else here().model_copy(update={"host": host, "boot": "another"})
        process = Process(role=role, pid=pid or 1, created=created(pid) if pid else 0.5, place=place)
        file = self.folder / "processes" / f"{role}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(process.model_dump_json())
        return self

    def log(self, role: str, text: str | bytes) -> KeptRun:
        """What a step or server logged."""
        file = self.folder / "logs" / f"{role}.log"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return self


def running(state: Path, run: str = "small-drill-1") -> KeptRun:
    """A run in the third window of its sweep, whose runner is this very process."""
    kept = KeptRun(state, run).opened().process("runner", os.getpid())
    kept.ended("deploy", "ok").step("deploy", started=0, ended=2.5, exit_code=0)
    kept.ended("baseline-measure", "ok").step("baseline-measure", started=2.5, ended=6, exit_code=0)
    load = {"elapsed": 4.0, "requests": 412, "ttft_p99": 0.0123, "error_rate": 0.01}
    sweep = {"fault": "slow-wire", "dose": 0.1, "dimension": "duration", "window": 2, "of": 9}
    kept.step("block1-measure", started=6, load=load).step("block1-inject", started=6, sweep=sweep)
    return kept


def finished(state: Path, run: str = "small-drill-1", verdict: VerdictName = "pass", code: int = 0) -> KeptRun:
    """A run that came to its end and left nothing."""
    kept = KeptRun(state, run).opened().process("runner").concluded(verdict)
    for at, step in enumerate(kept.entries):
        kept.step(step, started=at, ended=at + 1, exit_code=0)
        if step not in ("gate", "cleanup"):
            kept.ended(step, "ok")
    return kept.sealed().journal(exit_code=code)
