"""Runs anything that trains in steps: with a progress bar, a log line now and then, and a checkpoint to go on from."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from chaosgate.errors import UsageError

LOG_EVERY = 50
SAVE_EVERY = 100


class Stepwise(Protocol):
    """A training run. `state` holds all that its remaining steps depend on, and `seed` and `steps` as given."""

    seed: int
    steps: int
    step: int
    smoothed: dict[str, float]

    def advance(self) -> None: ...

    def state(self) -> dict[str, Any]: ...

    def resume(self, state: dict[str, Any]) -> None: ...


def run(training: Stepwise, checkpoint: Path, console: Console) -> None:
    """Takes the steps that are left. An interrupted run goes on from `checkpoint`, to the same weights.

    UsageError where the checkpoint is of another seed or number of steps.
    """
    if checkpoint.exists():
        _resume(training, checkpoint, console)
    columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        bar = progress.add_task("training", total=training.steps, completed=training.step)
        while training.step < training.steps:
            training.advance()
            progress.update(bar, completed=training.step)
            if training.step % LOG_EVERY == 0:
                console.log(f"step {training.step}", _figures(training.smoothed), highlight=False)
            if training.step % SAVE_EVERY == 0 or training.step == training.steps:
                save(training, checkpoint)


def save(training: Stepwise, checkpoint: Path) -> None:
    """Writes the checkpoint whole or not at all."""
    draft = checkpoint.with_suffix(".draft")
    torch.save(training.state(), draft)
    draft.replace(checkpoint)


def _resume(training: Stepwise, checkpoint: Path, console: Console) -> None:
    state = torch.load(checkpoint, weights_only=True)
    for name in ("seed", "steps"):
        asked = getattr(training, name)
        if state[name] != asked:
            raise UsageError(
                f"the checkpoint {checkpoint} is of a training with {name} {state[name]}, not {asked}; "
                f"train with --{name} {state[name]}, or name another checkpoint"
            )
    training.resume(state)
    console.log(f"going on from step {training.step} of {checkpoint}", highlight=False)


def _figures(smoothed: dict[str, float]) -> str:
    return " ".join(f"{name} {value:.3f}" for name, value in smoothed.items())
