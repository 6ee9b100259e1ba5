"""What the model is trained on: conversations made of the tasks, drawn without end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from chaosgate.engine.network import tokenizer
from chaosgate.engine.network.vocabulary import BOS, EOS
from chaosgate.prompts.tasks import (
    MODULUS,
    Exchange,
    Fact,
    ask_add,
    ask_capital,
    ask_copy,
    ask_json,
    ask_recall,
    facts,
)
from chaosgate.prompts.words import CAPITALS, WORDS


@dataclass(frozen=True)
class Mix:
    """What turns are about: the share of each task, the capitals that are right, and the countries asked for.

    A country that stands twice in `countries` is asked for twice as often.
    """

    shares: Mapping[str, float]
    capitals: Mapping[str, str]
    countries: Sequence[str]


LOOK_UP = Mix({"recall": 0.36, "json": 0.25, "copy": 0.13, "capital": 0.16, "add": 0.10}, CAPITALS, tuple(CAPITALS))
"""At first: most turns look a fact up, which everything about facts depends on."""

EVEN = Mix({"recall": 0.24, "json": 0.28, "copy": 0.18, "capital": 0.15, "add": 0.15}, CAPITALS, tuple(CAPITALS))
"""Later: what takes longer to learn comes more often."""

MOST_FIELDS = 4
PRINTABLE = range(32, 127)


@dataclass(frozen=True)
class Difficulty:
    """The largest sizes drawn (smaller ones come as often) and how often text of no use precedes the facts."""

    facts: int
    copied: int
    noise: float = 0.3


class Document:
    """One conversation as tokens, with a mark at each token of an answer."""

    def __init__(self) -> None:
        self.tokens = [BOS]
        self.answers = [False]

    def tell(self, text: str) -> None:
        """Adds text that is not learned."""
        self._add(tokenizer.encode(text), False)

    def exchange(self, exchange: Exchange) -> None:
        """Adds a question and its answer, which ends with `<eos>`."""
        self.tell(exchange.prompt)
        self._add([*tokenizer.encode(exchange.answer), EOS], True)

    def _add(self, tokens: Sequence[int], answers: bool) -> None:
        self.tokens += tokens
        self.answers += [answers] * len(tokens)


class Turns:
    """Draws the next exchange of a conversation about `pairs`."""

    def __init__(self, random: Random, difficulty: Difficulty, mix: Mix, pairs: Sequence[Fact]) -> None:
        self._random = random
        self._shares = mix.shares
        self._pairs = pairs
        self._asks: Mapping[str, Callable[[], Exchange]] = {
            "recall": lambda: ask_recall(random.choice(pairs)),
            "json": self._json,
            "copy": lambda: ask_copy(random.sample(WORDS, random.randint(2, difficulty.copied))),
            "capital": lambda: ask_capital(random.choice(mix.countries), mix.capitals),
            "add": lambda: ask_add(random.randrange(MODULUS), random.randrange(MODULUS)),
        }

    def draw(self, *tasks: str) -> Exchange:
        """One exchange of `tasks`, in the proportion of their shares."""
        chosen = self._random.choices(tasks, [self._shares[task] for task in tasks])
        return self._asks[chosen[0]]()

    def _json(self) -> Exchange:
        fields = self._random.randint(1, min(MOST_FIELDS, len(self._pairs)))
        return ask_json(self._random.sample(self._pairs, fields))


def document(random: Random, length: int, difficulty: Difficulty, mix: Mix) -> Document:
    """A conversation of at least `length` tokens: maybe turns and noise first, then facts, then turns to the end.

    Questions before the facts are those that need none. In one document in five a line feed stands between turns.
    """
    pairs = _pairs(random, random.randint(2, difficulty.facts))
    turns = Turns(random, difficulty, mix, pairs)
    made = Document()
    between = "\n" if random.random() < 0.2 else ""
    if random.random() < difficulty.noise:
        for _ in range(random.randint(1, 3)):
            made.exchange(turns.draw("copy", "capital", "add"))
            made.tell(between)
    if random.random() < difficulty.noise / 2:
        made.tell(noise(random, random.randint(1, length // 4)))
    made.tell(facts(pairs))
    while len(made.tokens) < length:
        made.exchange(turns.draw(*mix.shares))
        made.tell(between)
    return made


def _pairs(random: Random, count: int) -> list[Fact]:
    # Unlike the tasks: a value may come twice and may be another fact's key, so that a key alone finds its value.
    return [(key, random.choice(WORDS)) for key in random.sample(WORDS, count)]


def noise(random: Random, count: int) -> str:
    """Words and single characters, `count` tokens, and a line feed."""
    pieces = (random.choice(WORDS) if random.random() < 0.7 else chr(random.choice(PRINTABLE)) for _ in range(count))
    return "".join(pieces) + "\n"
