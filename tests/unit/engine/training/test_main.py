from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from chaosgate.engine.network import adapters, card, weights
from chaosgate.engine.training.__main__ import main

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="needs the extra torch")


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, *more: str) -> int:
    arguments = ["--out", str(folder / "out"), "--checkpoints", str(folder / "kept"), *more]
    monkeypatch.setattr(sys, "argv", ["training", *arguments])
    return main()


def test_without_torch_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("chaosgate.engine.training.")]:
        if not name.endswith("__main__"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert run(monkeypatch, tmp_path) == 2
    assert capsys.readouterr().err == (
        "chaosgate training: training needs torch, which is not installed; "
        "install it with: pip install 'chaosgate[torch]'\n"
    )


def test_a_wrong_option_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, tmp_path, "--steps", "0") == 2
    assert capsys.readouterr().err.endswith("Error: Invalid value for '--steps': 0 is not in the range x>=1.\n")


@needs_torch
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_it_trains_stores_and_measures(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from chaosgate.engine.training import grading

    monkeypatch.setattr(grading, "N", 2)
    monkeypatch.setattr(grading, "NOISES", (0,))
    steps = ["--steps", "2", "--adapter-steps", "2", "--seed", "4"]
    assert run(monkeypatch, tmp_path, *steps) == 0
    made = card.shipped(tmp_path / "out")
    assert made.digest == weights.shipped(tmp_path / "out").digest()
    low = adapters.shipped(tmp_path / "out")
    assert made.adapters == {name: adapter.digest() for name, adapter in low.items()}
    assert made.recipe["steps"] == "2 of up to 2048 tokens, seed 4; 2 for each adapter"
    assert {cell.n for cell in made.cells if "capital," not in cell.task} == {2}
    assert "# The embedded model" in capsys.readouterr().err

    assert run(monkeypatch, tmp_path, "--steps", "3", "--seed", "4") == 2
    assert capsys.readouterr().err.endswith("train with --steps 2, or name another checkpoint\n")
