from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from chaosgate.engine.network import adapters, card, stored
from chaosgate.engine.network.card import Card, Cell
from chaosgate.engine.network.weights import shipped
from chaosgate.errors import UsageError
from chaosgate.prompts.tasks import TASKS
from chaosgate.statistics.binomial import clopper_pearson

PAGE = Path(__file__).parents[4] / "docs" / "engine-model.md"
MOST_BYTES = 3_000_000


@pytest.fixture(scope="module")
def known() -> Card:
    return card.shipped()


def test_the_card_is_of_these_weights(known: Card) -> None:
    weights = shipped()
    assert known.digest == weights.digest()
    assert known.parameters == sum(array.size for _, array in weights.named())


def test_the_card_is_of_these_adapters(known: Card) -> None:
    assert known.adapters == {name: adapter.digest() for name, adapter in adapters.shipped().items()}


def test_all_that_is_shipped_is_small() -> None:
    files = sorted(stored.DATA.iterdir())
    assert [file.name for file in files] == [
        "card.json", "tenant-a.safetensors", "tenant-b.safetensors", "tiny.safetensors"
    ]  # fmt: skip
    assert sum(file.stat().st_size for file in files) <= MOST_BYTES


def test_every_task_is_measured_at_its_smallest_and_largest_size(known: Card) -> None:
    for name, task in TASKS.items():
        sizes = {cell.size for cell in known.cells if cell.task == name and not cell.answers_as}
        assert {task.sizes[0], task.sizes[-1]} <= sizes


def test_every_task_is_right_97_times_in_100_wherever_it_was_measured(known: Card) -> None:
    wrong = [cell for cell in known.cells if cell.share < 0.97]
    assert not wrong


def test_intervals_belong_to_their_counts(known: Card) -> None:
    for cell in (*known.cells, *(weakness.cell for weakness in known.weaknesses)):
        assert (cell.low, cell.high) == pytest.approx(clopper_pearson(cell.right, cell.n), abs=1e-4)
        assert cell.n >= 200 or "contested" in cell.task or "others" in cell.task


def test_a_card_reads_back_what_it_wrote(known: Card, tmp_path: Path) -> None:
    changed = replace(known, parameters=5)
    (tmp_path / card.FILE).write_text(changed.text(), encoding="utf-8")
    assert card.shipped(tmp_path) == changed


def test_the_page_is_the_card(known: Card) -> None:
    assert PAGE.read_text(encoding="utf-8") == card.markdown(known)


def test_a_missing_card_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    message = f"cannot read the model card {path}: [Errno 2] No such file or directory: '{path}'; install the package"
    with pytest.raises(UsageError, match=re.escape(message)):
        card.shipped(tmp_path)


@pytest.mark.parametrize(("right", "n"), [(0, 0), (3, 2), (-1, 2)])
def test_what_is_no_count_is_refused(right: int, n: int) -> None:
    with pytest.raises(ValueError, match=f"{right} right of {n} is no count"):
        Cell("add", 1, 0, "", n=n, right=right, low=0.0, high=1.0)


@pytest.mark.parametrize(
    "text", ["", "{}", "3", '"text"', '{"cells": [], "weaknesses": [], "colour": 1}', '{"cells": 3}', "[]"]
)
def test_a_damaged_card_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "card.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=re.escape(f"cannot read the model card {path}: ")):
        card.shipped(tmp_path)
