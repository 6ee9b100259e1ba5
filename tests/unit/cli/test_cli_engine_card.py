from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest

from chaosgate.cli.engine_card import FIRST_PROMPT, card_rows, first_request, task_rows, trained_rows
from chaosgate.engine.network import card
from chaosgate.engine.network.card import Card, Cell
from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.runtime.config import EngineConfig
from chaosgate.prompts.tasks import TASKS


def cell(task: str, right: int, noise: int = 0, answers_as: str = "") -> Cell:
    return Cell(task, 8, noise, answers_as, n=200, right=right, low=0.0, high=1.0)


def test_a_task_is_as_good_as_at_its_worst_size() -> None:
    cells = (cell("recall", 200), cell("recall", 197), cell("recall", 3, noise=9), cell("capital", 1, answers_as="t"))
    rows = list(task_rows(Card("d", {}, 1, {}, cells, ())))
    assert [name for name, _ in rows] == ["tasks", *[""] * (len(TASKS) - 1)]
    told = dict(zip(TASKS, (value for _, value in rows), strict=True))
    assert told["recall"].startswith("recall, 98.5% right: facts ")
    assert told["recall"].count("\\n?") == 1
    assert told["capital"].startswith("capital, not measured: capital ")


def test_untrained_weights_and_their_lack_of_adapters_are_told() -> None:
    engine = SimpleNamespace(
        config=EngineConfig(model="m", seed=3), model_config=ModelConfig(), weights_digest="sha256:0", adapters={}
    )
    rows = dict(card_rows(engine, "http://h:1"))
    assert "adapters" not in rows
    assert rows["tasks"] == "none: the weights are untrained, of seed 3; answers are stable, not right"
    assert rows["chat"] == "chaosgate engine chat --url http://h:1"


@pytest.mark.parametrize("text", [None, "{", '"text"'])
def test_a_card_that_cannot_be_read_costs_its_rows_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    shipped, path = card.shipped, tmp_path / card.FILE
    if text is not None:
        path.write_text(text)
    monkeypatch.setattr(card, "shipped", lambda: shipped(tmp_path))
    ((name, value),) = trained_rows()
    assert name == "tasks"
    assert re.fullmatch(f"not known: cannot read the model card {path}: .*; install the package again", value)


def test_the_first_request_is_a_command_that_a_shell_reads_as_meant() -> None:
    words = shlex.split(first_request("it's", "http://h:1"))
    assert words[:5] == ["curl", "-s", "http://h:1/v1/completions", "-H", "Content-Type: application/json"]
    assert json.loads(words[-1]) == {"model": "it's", "prompt": FIRST_PROMPT, "temperature": 0}
