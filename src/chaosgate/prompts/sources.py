"""From what a spec says of prompts to the prompts themselves."""

from __future__ import annotations

from pathlib import PurePath
from typing import Protocol

from chaosgate.errors import UsageError
from chaosgate.model.arrivals import TraceArrivals
from chaosgate.model.workload import FilePrompts, LoadStream, MadePrompts, SetPrompts
from chaosgate.prompts.lines import read_prompts
from chaosgate.prompts.made import MadePromptSet, TracePromptSet
from chaosgate.prompts.prompt import Prompt
from chaosgate.prompts.sets import PromptSet, prompt_set
from chaosgate.prompts.table import read_table


class PromptSource(Protocol):
    """Prompts that are asked one after the other; `<name>/<index>` names one of them."""

    @property
    def name(self) -> str:
        """What they are called."""

    def __len__(self) -> int:
        """How many there are."""

    def index(self, number: int) -> int:
        """Which prompt request `number` asks; of a trace `number` is the row."""

    def at(self, index: int) -> Prompt:
        """The prompt with this index."""


def prompts_of(stream: LoadStream, seed: int) -> PromptSource:
    """The prompts of a stream of the load; a UsageError where a set is unknown or a file cannot be read.

    Of prompts of which some are of the stream's tenant, only those are asked.
    """
    match stream.prompts:
        case SetPrompts(set=name):
            return _own(prompt_set(name), stream.tenant)
        case FilePrompts() as given:
            return _own(PromptSet(PurePath(given.file).stem, _file_prompts(given)), stream.tenant)
        case MadePrompts(lengths="trace"):
            return _trace_prompts(stream.arrivals, seed)
        case MadePrompts() as made:
            assert made.lengths != "trace"
            return MadePromptSet(made.lengths, made.count, seed)


def _own(prompts: PromptSet, tenant: str | None) -> PromptSet:
    own = tuple(prompt for prompt in prompts.prompts if tenant is not None and prompt.tenant == tenant)
    return PromptSet(prompts.name, own) if own else prompts


def _file_prompts(given: FilePrompts) -> tuple[Prompt, ...]:
    if given.text is None:
        raise UsageError(f"the prompts {given.file!r} have not been read; load the spec from its file")
    match PurePath(given.file).suffix.lower():
        case ".jsonl":
            return read_prompts(given.text.encode(), given.file)
        case ".csv":
            return read_table(given.text, given.file)
        case suffix:
            raise UsageError(f"{given.file}: read the ending {suffix!r}; prompts are in a .jsonl or a .csv file")


def _trace_prompts(arrivals: object, seed: int) -> TracePromptSet:
    if not isinstance(arrivals, TraceArrivals) or arrivals.inputs is None:
        raise UsageError("`lengths: trace` needs a trace that tells lengths; load the spec from its file")
    return TracePromptSet(arrivals.inputs, arrivals.outputs, seed)
