"""What a person sees when the engine is up: the model, what it can do, where it is reached, a first request."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from chaosgate.cli.console import make_console
from chaosgate.cli.engine_examples import escaped, example
from chaosgate.engine.network import card
from chaosgate.engine.network.card import Card
from chaosgate.errors import UsageError
from chaosgate.prompts.tasks import TASKS

if TYPE_CHECKING:
    from chaosgate.engine.runtime.engine import Engine

FIRST_PROMPT = "add 7+8>"

Row = tuple[str, str]


def print_card(engine: Engine, url: str) -> None:
    """Print the card of a model that is served at `url`."""
    console = make_console()
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, value in card_rows(engine, url):
        table.add_row(Text(name, style="bold"), Text(value))
    console.print(table)
    # Outside of the table, which would break it up: it is there to be copied.
    console.print(f"\n{first_request(engine.config.model, url)}\n", markup=False)
    console.print("Ctrl-C ends it.", style="dim")


def card_rows(engine: Engine, url: str) -> list[Row]:
    """The lines of the card: what each is, and its value."""
    model, name = engine.model_config, engine.config.model
    experts = f"{model.experts} experts, {model.experts_per_token} a token"
    trained = engine.config.seed is None
    return [
        ("model", f"{name}: Mixtral's architecture, {model.layers} layers, {experts}"),
        ("context", f"{model.max_model_len} tokens, prompt and answer together"),
        ("weights", engine.weights_digest),
        *([("adapters", ", ".join(f"{name}:{adapter}" for adapter in engine.adapters))] if engine.adapters else []),
        *(trained_rows() if trained else [("tasks", _untrained(engine.config.seed))]),
        ("URL", f"{url}/v1"),
        ("chat", f"chaosgate engine chat --url {url}"),
    ]


def trained_rows() -> list[Row]:
    """What the shipped model was trained for; a card that cannot be read costs its rows, and not the server."""
    try:
        return list(task_rows(card.shipped()))
    except UsageError as error:
        return [("tasks", f"not known: {error}")]


def task_rows(shipped: Card) -> Iterator[Row]:
    """What the model was trained for: how often it is right, at its worst size, and an example of each task."""
    for number, task in enumerate(TASKS.values()):
        shares = [
            cell.share for cell in shipped.cells if (cell.task, cell.noise, cell.answers_as) == (task.name, 0, "")
        ]
        right = f"{min(shares):.1%} right" if shares else "not measured"
        one = example(task, Random(task.name))
        yield ("" if number else "tasks", f"{task.name}, {right}: {escaped(one.prompt)} -> {escaped(one.answer)}")


def _untrained(seed: int | None) -> str:
    return f"none: the weights are untrained, of seed {seed}; answers are stable, not right"


def first_request(model: str, url: str) -> str:
    """A command that asks a first question."""
    body = json.dumps({"model": model, "prompt": FIRST_PROMPT, "temperature": 0})
    header = shlex.quote("Content-Type: application/json")
    return f"curl -s {url}/v1/completions -H {header} -d {shlex.quote(body)}"
