"""One exception tree. Whatever a user can cause is a `ChaosgateError`, printed without a traceback."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class ChaosgateError(Exception):
    """Something a user can mend. The text says what was read, where, what is allowed and what to do next."""

    exit_code = 3


class UsageError(ChaosgateError):
    """A wrong argument or a file that cannot be read as asked."""

    exit_code = 2


class RegistryError(ChaosgateError):
    """A kind that is registered twice, or a name that no kind carries."""

    exit_code = 2


class PlanError(ChaosgateError):
    """A valid spec that cannot become a plan, such as two faults overlapping on one target."""

    exit_code = 2


class ArtifactError(ChaosgateError):
    """A file of a run that is missing, cut short, altered, or of another run or schema."""


class DeployError(ChaosgateError):
    """The target or its gateway did not come up, or does not serve what the spec names."""


class GatewayError(ChaosgateError):
    """The gateway could not be reached or refused a call."""


class LoadError(ChaosgateError):
    """The load could not be sent as planned: a process of its client did not start, or ended too early."""


class ClusterError(ChaosgateError):
    """The Kubernetes API could not be reached or refused a call, or an object did not become what it should be."""


class TrackingError(ChaosgateError):
    """The tracking server could not be reached or refused the record. The run's files stay whole."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong in a spec, or in a file that goes with it.

    `path` leads to the value (`("spec", "faults", 0, "dose")`); `line` and `column` count from 1, 0 means unknown.
    `at_key` says that the last key of the path is wrong, not the value under it. `file` is where it stands, None where
    nobody has placed it yet.
    """

    path: tuple[str | int, ...]
    message: str
    line: int = 0
    column: int = 0
    at_key: bool = False
    file: str | None = None

    def render(self, file: str) -> str:
        """`file:line:col path: message`, the form editors and CI understand; no place when it is unknown.

        `file` names a problem that knows no file of its own.
        """
        place = f":{self.line}:{self.column}" if self.line else ""
        return f"{self.file or file}{place} {dotted(self.path)}: {self.message}"


class SpecError(ChaosgateError):
    """A spec that is refused, with every problem found in it."""

    exit_code = 2

    def __init__(self, file: str, problems: Sequence[Problem]) -> None:
        self.file = file
        self.problems = tuple(problems)
        super().__init__("\n".join(problem.render(file) for problem in problems))


def one_line(text: str) -> str:
    """`text` of another's making as one line that is safe to print: what cannot be printed becomes a space or `\ufffd`.

    A server's answer may hold line ends, with which it could forge a line of a log, or escape sequences of a terminal.
    """
    return "".join(char if char.isprintable() else " " if char.isspace() else "\ufffd" for char in text)


def dotted(path: Sequence[str | int]) -> str:
    """`spec.faults[0].dose` for `("spec", "faults", 0, "dose")`; `(document)` for the root."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "(document)"
