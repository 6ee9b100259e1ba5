"""The named sets of prompts. A set is the same on every machine: it is made from a fixed seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from chaosgate.draws import shuffled
from chaosgate.errors import UsageError
from chaosgate.registry import unknown

# Plain words that the embedded model reads as one token each; any other model knows them too.
_LINES = (
    "red blue green black white gold silver pink brown gray",
    "apple lemon grape melon peach berry olive onion plum mango",
    "lion tiger horse sheep mouse eagle shark whale zebra otter",
    "stone river ocean cloud storm beach forest island valley meadow",
    "table chair lamp clock mirror window door floor shelf ladder",
    "copper iron steel glass paper cotton leather marble amber pearl",
)
_WORDS = tuple(word for line in _LINES for word in line.split())

_RECALL_PAIRS = 24
_RECALL_SEED = 20240


@dataclass(frozen=True)
class Prompt:
    """One prompt and, where it is known, the only right answer."""

    text: str
    answer: str | None


@dataclass(frozen=True)
class PromptSet:
    """Prompts that are cycled in order: request k asks prompt k modulo their number."""

    name: str
    prompts: tuple[Prompt, ...]

    def index(self, number: int) -> int:
        """Which prompt request `number` asks."""
        return number % len(self.prompts)


def prompt_set(name: str) -> PromptSet:
    """The set called `name`; a UsageError names the nearest known one."""
    if name not in _SETS:
        raise UsageError(unknown("prompt set", name, _SETS))
    return PromptSet(name, _SETS[name]())


def prompt_sets() -> list[str]:
    """The names of all sets, sorted."""
    return sorted(_SETS)


def _recall() -> tuple[Prompt, ...]:
    """24 prompts of 24 facts each; each prompt asks for a fact at another place, so that every place is asked once."""
    places = shuffled(list(range(_RECALL_PAIRS)), _RECALL_SEED, "place")
    return tuple(_recall_prompt(number, place) for number, place in enumerate(places))


def _recall_prompt(number: int, place: int) -> Prompt:
    order = shuffled(list(range(len(_WORDS))), _RECALL_SEED, "prompt", number)
    words = [_WORDS[index] for index in order]
    # No word is key and value at once, and none twice: only one answer can be right, and no other fact gives it.
    keys, values = words[:_RECALL_PAIRS], words[_RECALL_PAIRS : 2 * _RECALL_PAIRS]
    facts = ";".join(f"{key}={value}" for key, value in zip(keys, values, strict=True))
    return Prompt(f"facts {facts}\n?{keys[place]}=", values[place])


_SETS: dict[str, Callable[[], tuple[Prompt, ...]]] = {"recall-24": _recall}
