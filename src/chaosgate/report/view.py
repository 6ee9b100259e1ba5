"""What a report is made from: the frozen results of one run, each of which may be missing but the last word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chaosgate.model.observation import TimelineEvent
from chaosgate.model.result import EXIT_UNCLEAN, Cleanup, Estimates, Fits, Injection, Record, Verdict
from chaosgate.model.spec import ChaosSpec


@dataclass(frozen=True)
class RunFile:
    """A file that a run was to leave behind; `problem` says why it cannot be read, None when it can."""

    step: str
    """The step that writes it, empty for the spec."""
    name: str
    problem: str | None

    @property
    def path(self) -> str:
        """Where it stands below the run's folder."""
        return f"{self.step}/{self.name}" if self.step else self.name


@dataclass(frozen=True)
class ReportView:
    """One run as its report sees it. `injections` is by phase; a run that ended early has no estimates or fits."""

    spec: ChaosSpec
    run: str
    verdict: Verdict
    estimates: Estimates | None
    fits: Fits | None
    injections: Mapping[str, Injection]
    record: Record
    timeline: Sequence[TimelineEvent]
    seal: Cleanup | None = None
    """What cleanup left, None until the run is sealed: conclude never sees one. Clean only while the seal holds."""
    files: Sequence[RunFile] = ()
    """The files the run was to leave; empty where nobody looked."""

    @property
    def ended(self) -> bool:
        """Whether a seal is due: conclude, which looks at no file, writes its report before the cleanup."""
        return self.seal is not None or bool(self.files)

    @property
    def sealed_clean(self) -> bool:
        """Whether it is proved that nothing was left behind."""
        return self.seal is not None and self.seal.clean

    @property
    def exit_code(self) -> int:
        """What the run's command answers by its files: 4 unless it is sealed clean, else the verdict's."""
        return self.verdict.exit_code if self.sealed_clean else EXIT_UNCLEAN

    @property
    def missing(self) -> list[RunFile]:
        """The files that cannot be read."""
        return [file for file in self.files if file.problem is not None]
