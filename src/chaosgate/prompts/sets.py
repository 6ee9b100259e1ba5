"""The named sets of prompts. A set is the same on every machine: it is made from a fixed seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from chaosgate.errors import UsageError
from chaosgate.prompts import assistant_log, conversations, single_task
from chaosgate.prompts.prompt import Prompt
from chaosgate.registry import unknown


@dataclass(frozen=True)
class PromptSet:
    """Prompts that are cycled in order: request k asks prompt k modulo their number."""

    name: str
    prompts: tuple[Prompt, ...]

    def index(self, number: int) -> int:
        """Which prompt request `number` asks."""
        return number % len(self.prompts)

    def at(self, index: int) -> Prompt:
        """The prompt with this index."""
        return self.prompts[index]

    def __len__(self) -> int:
        return len(self.prompts)


def prompt_set(name: str) -> PromptSet:
    """The set called `name`; a UsageError names the nearest known one."""
    return PromptSet(name, maker(name)())


def prompt_sets() -> list[str]:
    """The names of all sets, sorted."""
    return sorted(_SETS)


def maker(name: str) -> Callable[[], tuple[Prompt, ...]]:
    """The function that makes the prompts of the set called `name`, whose docstring says what they ask."""
    if name not in _SETS:
        raise UsageError(unknown("prompt set", name, _SETS))
    return _SETS[name]


_SETS: dict[str, Callable[[], tuple[Prompt, ...]]] = {
    "recall-24": single_task.recall_24,
    "recall-8": single_task.recall_8,
    "json-8": single_task.json_8,
    "copy-16": single_task.copy_16,
    "capitals": single_task.capitals,
    "add": single_task.add,
    "mixed": single_task.mixed,
    "shared-prefix": conversations.shared_prefix,
    "multi-turn": conversations.multi_turn,
    "ten-turns": conversations.ten_turns,
    "two-tenant": conversations.two_tenant,
    "assistant-log": assistant_log.assistant_log,
}
