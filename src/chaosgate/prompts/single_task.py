"""Sets that ask one task of the embedded model, and the one that mixes them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random

from chaosgate.draws import shuffled
from chaosgate.prompts.grading import AnswerForm
from chaosgate.prompts.prompt import Prompt
from chaosgate.prompts.tasks import TASKS, Exchange, ask_recall, facts
from chaosgate.prompts.words import WORDS

PROMPTS = 48
"""Prompts of a set that is drawn: one that a model answers wrong weighs 2 %, and seconds of load cover all of them."""
MIXED_OF_EACH = 10

_RECALL_PAIRS = 24
_RECALL_SEED = 20240
_RECALL_WORDS = WORDS[:60]


def recall_24() -> tuple[Prompt, ...]:
    """Asks for one of 24 facts in the prompt, each time at another place, so that every place is asked once."""
    places = shuffled(list(range(_RECALL_PAIRS)), _RECALL_SEED, "place")
    return tuple(_recall_prompt(number, place) for number, place in enumerate(places))


def _recall_prompt(number: int, place: int) -> Prompt:
    order = shuffled(list(range(len(_RECALL_WORDS))), _RECALL_SEED, "prompt", number)
    words = [_RECALL_WORDS[index] for index in order]
    # No word is key and value at once, and none twice: only one answer can be right, and no other fact gives it.
    pairs = list(zip(words[:_RECALL_PAIRS], words[_RECALL_PAIRS : 2 * _RECALL_PAIRS], strict=True))
    asked = ask_recall(pairs[place])
    return Prompt(facts(pairs) + asked.prompt, asked.answer)


def recall_8() -> tuple[Prompt, ...]:
    """Asks for one of 8 facts in the prompt."""
    return _drawn("recall-8", "recall", 8)


def json_8() -> tuple[Prompt, ...]:
    """Asks for three of 8 facts in the prompt as a JSON object."""
    return _drawn("json-8", "json", 8)


def copy_16() -> tuple[Prompt, ...]:
    """Asks for the 16 words of the prompt again."""
    return _drawn("copy-16", "copy", 16)


def capitals() -> tuple[Prompt, ...]:
    """Asks for the capital of a made-up country, which the embedded model knows by heart and no other model knows."""
    return _drawn("capitals", "capital", 1)


def add() -> tuple[Prompt, ...]:
    """Asks for a sum modulo 10, which the embedded model knows by heart."""
    return _drawn("add", "add", 1)


def mixed() -> tuple[Prompt, ...]:
    """Asks every task in turn: the first prompts of recall-24, json-8, copy-16, capitals and add."""
    sets = (recall_24(), json_8(), copy_16(), capitals(), add())
    return tuple(prompts[number] for number in range(MIXED_OF_EACH) for prompts in sets)


def form_of(task: str) -> AnswerForm:
    """How the answers of `task` are compared."""
    return "json" if task == "json" else "text"


def distinct(task: str, size: int, random: Random) -> Iterator[Exchange]:
    """Exchanges of `task`, none of them twice. Whoever asks for more than the task has waits without end."""
    seen = set()
    while True:
        exchange = TASKS[task].draw(random, size)
        if exchange.prompt not in seen:
            seen.add(exchange.prompt)
            yield exchange


def _drawn(name: str, task: str, size: int) -> tuple[Prompt, ...]:
    """The prompts of the set `name`. The name is its seed: Python seeds a generator with the SHA-512 of a text."""
    exchanges = islice(distinct(task, size, Random(name)), PROMPTS)
    return tuple(Prompt(one.prompt, one.answer, form_of(task)) for one in exchanges)
