"""What to do next, and how the cleanup stands: sentences that every report for people ends with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chaosgate.model.result import VerdictName
from chaosgate.report.view import ReportView


@dataclass(frozen=True)
class Advice:
    """A sentence, and the command that does what it says."""

    text: str
    command: str


_BY_VERDICT: dict[VerdictName, tuple[Advice, ...]] = {
    "pass": (Advice("See what changed since an earlier run:", "chaosgate compare EARLIER {run}"),),
    "warn": (
        Advice(
            "Read the warnings before the next deployment:",
            "chaosgate report {run} -O report.html",
        ),
        Advice("See what changed since an earlier run:", "chaosgate compare EARLIER {run}"),
    ),
    "fail": (
        Advice("See at which dose the objective broke, with the timeline:", "chaosgate report {run} -O report.html"),
        Advice("See what changed since a run that passed:", "chaosgate compare PASSED {run}"),
        Advice("Change the model, the image or its configuration, and run the spec again:", "chaosgate run SPEC"),
    ),
    "inconclusive": (
        Advice("Mend what the reasons name (more windows, a longer hold, a quieter machine):", "chaosgate plan SPEC"),
        Advice("Run it again; nothing was proved for or against the subject:", "chaosgate run SPEC"),
    ),
    "error": (
        Advice("See where the run went wrong:", "chaosgate logs {run}"),
        Advice("Run it again; nothing was proved for or against the subject:", "chaosgate run SPEC"),
    ),
}


def next_steps(view: ReportView) -> tuple[Advice, ...]:
    """What to do next, the cleanup first where it is not proved."""
    return tuple(Advice(advice.text, advice.command.format(run=view.run)) for advice in _advice(view))


def _advice(view: ReportView) -> Iterator[Advice]:
    if view.ended and view.seal is None:
        yield Advice("The run is not sealed; once it has ended, clean up:", "chaosgate cleanup {run}")
    elif view.ended and not view.sealed_clean:
        yield Advice("Something may be left behind; clean up before anything else:", "chaosgate cleanup {run}")
    yield from _BY_VERDICT[view.verdict.verdict]


def cleanup_sentence(view: ReportView) -> str:
    """Whether it is proved that nothing was left behind."""
    if view.seal is None:
        return "not sealed when this was written: cleanup comes last"
    if view.seal.clean:
        return "clean, nothing left behind"
    return f"unclean: {'; '.join(view.seal.left) or 'nothing says what was left behind'}"
