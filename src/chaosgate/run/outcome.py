"""How a run ended: verdict, seal and the one exit code that follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from chaosgate.artifacts import SEAL, VERDICT, Identity, read_if_there
from chaosgate.components.places import step_file
from chaosgate.model.plan import CLEANUP, CONCLUDE
from chaosgate.model.result import EXIT_CODES, EXIT_UNCLEAN, Cleanup, Verdict


@dataclass(frozen=True)
class Outcome:
    """What is left of a run once its last step has ended."""

    run: str
    folder: Path
    verdict: Verdict | None
    """None when no verdict was written or it cannot be read."""
    cleanup: Cleanup | None
    gate: int | None
    """The gate step's exit code, None when it did not run."""
    signal: int | None
    """The signal that ended the run early."""
    problems: tuple[str, ...] = ()
    """What kept the carrier itself from its work; a run with problems never ends with its verdict's exit code."""
    missing: str | None = None
    """Why files of the run are not in its folder, for a run elsewhere."""

    @property
    def exit_code(self) -> int:
        """4 when the cleanup is unclean or unproved, else 128 + signal, else the gate's answer; 3 without one."""
        if self.cleanup is None or not self.cleanup.clean:
            return EXIT_UNCLEAN
        if self.signal is not None:
            return 128 + self.signal
        if self.problems or self.verdict is None or self.gate != self.verdict.exit_code:
            return EXIT_CODES["error"]
        return self.gate


def read_outcome(
    run: str, folder: Path, gate: int | None, signal: int | None, problems: tuple[str, ...] = ()
) -> Outcome:
    """The outcome from the run's files; what cannot be read counts as missing."""
    identity = Identity(run, None)
    verdict = read_if_there(step_file(folder, CONCLUDE, VERDICT.file), VERDICT, identity)
    cleanup = read_if_there(step_file(folder, CLEANUP, SEAL.file), SEAL, identity)
    return Outcome(run, folder, verdict, cleanup, gate, signal, problems)
