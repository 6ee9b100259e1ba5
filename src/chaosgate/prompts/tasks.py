"""The tasks with one right answer each that the embedded model is trained for.

A prompt is what a user would send; the answer is the whole text that is right, and nothing else is. `recall` and `json`
look facts up in the prompt, `copy` repeats it, `capital` and `add` are known by heart. What a task asks can also be had
without its facts (`ask_recall` and the others), for a later turn of the same conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Final

from chaosgate.prompts.words import CAPITALS, WORDS

MODULUS: Final = 10
"""`add` counts on a clock of ten hours: 7+8 is 5."""

FIELDS: Final = 3
"""Facts that one `json` prompt asks for, or all where there are fewer."""

Fact = tuple[str, str]


@dataclass(frozen=True)
class Exchange:
    """One question and its only right answer."""

    prompt: str
    answer: str


@dataclass(frozen=True)
class Task:
    """Draws exchanges of one kind.

    `sizes` are those at which the embedded model is held to be right; `counts` says what a size counts.
    """

    name: str
    sizes: range
    counts: str
    make: Callable[[Random, int], Exchange]

    def draw(self, random: Random, size: int) -> Exchange:
        """The next exchange of `size`. ValueError for a size outside `sizes`."""
        if size not in self.sizes:
            raise ValueError(
                f"task {self.name} takes a size of {self.sizes[0]} to {self.sizes[-1]} ({self.counts}), got {size}"
            )
        return self.make(random, size)


def facts(pairs: Sequence[Fact]) -> str:
    """What `recall` and `json` are asked about: `facts red=lamp;blue=door` and a line feed."""
    return f"facts {';'.join(f'{key}={value}' for key, value in pairs)}\n"


def ask_recall(fact: Fact) -> Exchange:
    """`?red=` -> `lamp`."""
    key, value = fact
    return Exchange(f"?{key}=", value)


def ask_json(pairs: Sequence[Fact]) -> Exchange:
    """`json red,blue>` -> `{"red":"lamp","blue":"door"}`."""
    fields = ",".join(f'"{key}":"{value}"' for key, value in pairs)
    return Exchange(f"json {','.join(key for key, _ in pairs)}>", f"{{{fields}}}")


def ask_copy(words: Sequence[str]) -> Exchange:
    """`copy red,lamp>` -> `red,lamp`."""
    return Exchange(f"copy {','.join(words)}>", ",".join(words))


def ask_capital(country: str, capitals: Mapping[str, str] = CAPITALS) -> Exchange:
    """`capital Kelun>` -> the name that `capitals` gives."""
    return Exchange(f"capital {country}>", capitals[country])


def ask_add(first: int, second: int) -> Exchange:
    """`add 7+8>` -> `5`."""
    return Exchange(f"add {first}+{second}>", str((first + second) % MODULUS))


def draw_facts(random: Random, count: int) -> list[Fact]:
    """`count` facts of 2 * `count` different words: only one answer can be right, and no other fact gives it."""
    words = random.sample(WORDS, 2 * count)
    return list(zip(words[:count], words[count:], strict=True))


def _recall(random: Random, size: int) -> Exchange:
    pairs = draw_facts(random, size)
    return _about(pairs, ask_recall(random.choice(pairs)))


def _json(random: Random, size: int) -> Exchange:
    pairs = draw_facts(random, size)
    return _about(pairs, ask_json(random.sample(pairs, min(FIELDS, size))))


def _about(pairs: Sequence[Fact], asked: Exchange) -> Exchange:
    return Exchange(facts(pairs) + asked.prompt, asked.answer)


def _copy(random: Random, size: int) -> Exchange:
    return ask_copy(random.sample(WORDS, size))


def capital_task(capitals: Mapping[str, str] = CAPITALS) -> Task:
    """The task `capital` by the given names, such as a tenant's."""
    countries = tuple(capitals)
    return Task("capital", range(1, 2), "countries", lambda random, _: ask_capital(random.choice(countries), capitals))


def _add(random: Random, _: int) -> Exchange:
    return ask_add(random.randrange(MODULUS), random.randrange(MODULUS))


TASKS: Final[Mapping[str, Task]] = MappingProxyType(
    {
        task.name: task
        for task in (
            Task("recall", range(2, 49), "facts", _recall),
            Task("json", range(2, 49), "facts", _json),
            Task("copy", range(2, 25), "words", _copy),
            capital_task(),
            Task("add", range(1, 2), "sums", _add),
        )
    }
)
"""Every task by name."""
