"""The model card: what the shipped model was trained for, how well it does, and where it fails."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

from chaosgate.engine.network.config import ModelConfig
from chaosgate.engine.network.stored import DATA
from chaosgate.errors import UsageError
from chaosgate.prompts.tasks import TASKS

FILE: Final = "card.json"


@dataclass(frozen=True)
class Cell:
    """`right` of `n` prompts were answered exactly; `low` to `high` is the 95 % interval of their share.

    `size` counts what the task says. `noise` tokens of no use stood before the prompt. `answers_as` is the adapter, or
    "" for the model itself.
    """

    task: str
    size: int
    noise: int
    answers_as: str
    n: int
    right: int
    low: float
    high: float

    def __post_init__(self) -> None:
        if not 0 <= self.right <= self.n > 0:
            raise ValueError(f"{self.right} right of {self.n} is no count")

    @property
    def share(self) -> float:
        """Share of right answers."""
        return self.right / self.n


@dataclass(frozen=True)
class Weakness:
    """Something the model cannot do, in a sentence, and the measurement that shows it."""

    claim: str
    cell: Cell


@dataclass(frozen=True)
class Card:
    """`digest` is that of `Weights`, `adapters` that of each adapter by name. `recipe` says how they were trained."""

    digest: str
    adapters: Mapping[str, str]
    parameters: int
    recipe: Mapping[str, str]
    cells: tuple[Cell, ...]
    weaknesses: tuple[Weakness, ...]

    def text(self) -> str:
        """The file."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"


def shipped(folder: Path = DATA) -> Card:
    """The card that comes with the package. UsageError where the file is missing or damaged."""
    path = folder / FILE
    try:
        return _card(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(f"cannot read the model card {path}: {error}; install the package again") from error


def _card(read: dict[str, Any]) -> Card:
    weaknesses = (Weakness(each["claim"], Cell(**each["cell"])) for each in read.pop("weaknesses"))
    cells = (Cell(**each) for each in read.pop("cells"))
    return Card(cells=tuple(cells), weaknesses=tuple(weaknesses), **read)


def markdown(card: Card) -> str:
    """The card as a page."""
    return "\n".join(_lines(card)) + "\n"


def _lines(card: Card) -> Iterator[str]:
    config = ModelConfig()
    yield "# The embedded model"
    yield ""
    yield (
        f"A language model of {card.parameters:,} parameters that answers five kinds of questions with one right "
        "answer each. A fault that changes its numbers shows in how many answers stay right. It knows no language "
        "beyond them."
    )
    yield ""
    yield (
        f"Mixtral's architecture: {config.layers} layers, each with {config.heads} query heads on {config.kv_heads} "
        f"key/value heads of size {config.head_dim} and a mixture of {config.experts} experts, "
        f"{config.experts_per_token} a token; width {config.d_model}, {config.vocab_size} tokens, a context of "
        f"{config.max_model_len}. `chaosgate engine export-hf DIR` writes it as transformers and vLLM load it."
    )
    yield ""
    yield from _tasks()
    yield from _accuracy(card)
    yield from _weaknesses(card)
    yield from _origin(card)


def _tasks() -> Iterator[str]:
    yield from ("## Tasks", "", "| task | size | prompt | answer |", "|---|---|---|---|")
    for name, task in TASKS.items():
        example = task.draw(Random(1), task.sizes[min(1, len(task.sizes) - 1)])
        prompt = example.prompt.replace("\n", "\\n")
        yield f"| {name} | {_sizes(task.sizes, task.counts)} | `{prompt}` | `{example.answer}` |"
    yield ""


def _sizes(sizes: range, counts: str) -> str:
    return f"{sizes[0]} to {sizes[-1]} {counts}" if len(sizes) > 1 else f"1 of its {counts}"


def _accuracy(card: Card) -> Iterator[str]:
    yield from (
        "## Accuracy",
        "",
        "Share of fresh prompts whose answer is exactly right under greedy decoding, with the 95 % interval by Clopper",
        "and Pearson. Facts, orders and noise are drawn anew; the capitals and sums themselves are those of the",
        "training, for they are to be known by heart. Noise is a row of words and characters before the prompt, in",
        "tokens. With greedy decoding a prompt has one answer: the interval is of the draw of prompts.",
        "",
    )
    yield from _table(card.cells)


def _table(cells: Sequence[Cell]) -> Iterator[str]:
    yield from (
        "| task | size | noise | answers as | right | of | share | interval |",
        "|---|---|---|---|---|---|---|---|",
    )
    for cell in cells:
        yield (
            f"| {cell.task} | {cell.size} | {cell.noise} | {cell.answers_as or 'the model'} | {cell.right} | {cell.n} "
            f"| {cell.share:.1%} | {cell.low:.1%} to {cell.high:.1%} |"
        )
    yield ""


def _weaknesses(card: Card) -> Iterator[str]:
    yield from ("## Known weaknesses", "")
    for weakness in card.weaknesses:
        cell = weakness.cell
        yield f"- {weakness.claim} {cell.right} of {cell.n} right ({cell.low:.1%} to {cell.high:.1%})."
    yield ""


def _origin(card: Card) -> Iterator[str]:
    yield from ("## Origin", "", "| | |", "|---|---|")
    for name, value in card.recipe.items():
        yield f"| {name} | {value} |"
    yield f"| digest | `{card.digest}` |"
    for name, digest in card.adapters.items():
        yield f"| digest of {name} | `{digest}` |"
    yield ""
    yield from (
        "`python -m chaosgate.engine.training` trains it again, with the extra `torch`. The same seed takes the same",
        "steps; another version of torch or another processor rounds differently, and ends in other weights.",
    )
