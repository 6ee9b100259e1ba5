from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra torch")

from rich.console import Console

from chaosgate.engine.training import loop
from chaosgate.engine.training.loop import run
from chaosgate.errors import UsageError


class Counting:
    """Adds up its steps' numbers; stops working once `breaks` steps are done."""

    def __init__(self, steps: int = 120, seed: int = 3, breaks: int = 10**6) -> None:
        self.seed, self.steps, self.step = seed, steps, 0
        self.smoothed = {"loss": 0.5}
        self.sum = 0
        self.breaks = breaks

    def advance(self) -> None:
        if self.step == self.breaks:
            raise KeyboardInterrupt
        self.step += 1
        self.sum += self.step

    def state(self) -> dict[str, Any]:
        return {"seed": self.seed, "steps": self.steps, "step": self.step, "sum": self.sum}

    def resume(self, state: dict[str, Any]) -> None:
        self.step, self.sum = state["step"], state["sum"]


def console() -> Console:
    return Console(file=io.StringIO(), width=200)


def test_an_interrupted_training_goes_on_to_the_same_end(tmp_path: Path) -> None:
    checkpoint = tmp_path / "model.pt"
    with pytest.raises(KeyboardInterrupt):
        run(Counting(breaks=110), checkpoint, console())
    again = Counting()
    run(again, checkpoint, console())
    assert (again.step, again.sum) == (120, 120 * 121 // 2)


def test_a_finished_training_is_not_repeated(tmp_path: Path) -> None:
    run(Counting(), tmp_path / "model.pt", console())
    again = Counting(breaks=0)
    run(again, tmp_path / "model.pt", console())
    assert again.sum == 120 * 121 // 2


@pytest.mark.parametrize(("name", "other"), [("seed", Counting(seed=4)), ("steps", Counting(steps=130))])
def test_a_checkpoint_of_another_training_is_refused(tmp_path: Path, name: str, other: Counting) -> None:
    checkpoint = tmp_path / "model.pt"
    run(Counting(), checkpoint, console())
    known = getattr(Counting(), name)
    with pytest.raises(UsageError) as refused:
        run(other, checkpoint, console())
    assert str(refused.value) == (
        f"the checkpoint {checkpoint} is of a training with {name} {known}, not {getattr(other, name)}; "
        f"train with --{name} {known}, or name another checkpoint"
    )


def test_it_says_how_it_goes(tmp_path: Path) -> None:
    told = console()
    run(Counting(), tmp_path / "model.pt", told)
    text = told.file.getvalue()
    assert "step 50 loss 0.500" in text
    assert "step 100 loss 0.500" in text


def test_a_broken_save_leaves_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = tmp_path / "model.pt"
    run(Counting(steps=20), checkpoint, console())
    before = checkpoint.read_bytes()

    def full(state: object, path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr(loop.torch, "save", full)
    with pytest.raises(OSError, match="no space left"):
        loop.save(Counting(), checkpoint)
    assert checkpoint.read_bytes() == before
