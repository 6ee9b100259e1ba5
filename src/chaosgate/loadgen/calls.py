"""Every request of a phase as it is planned: its name, what it asks, when it is due, whether its client gives it up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from chaosgate.draws import uniform
from chaosgate.loadgen.arrivals import schedule
from chaosgate.loadgen.trace import Call
from chaosgate.model.request_id import request_prefix
from chaosgate.model.workload import Workload
from chaosgate.prompts.sources import prompts_of


@dataclass(frozen=True)
class Part:
    """The part of a load that one of several processes sends: every `of`th request, from the `index`th on."""

    index: int = 0
    of: int = 1

    def has(self, number: int) -> bool:
        """Whether this part sends request `number`."""
        return number % self.of == self.index

    def share(self, count: int) -> int:
        """How many of `count` it has."""
        return len(range(self.index, count, self.of))


WHOLE = Part()
"""All of a load, sent by one process."""


class Calls:
    """The requests of one phase. A UsageError where the workload's prompts are unknown or were never read."""

    def __init__(self, workload: Workload, phase: str, warmup: float) -> None:
        self._workload, self._phase, self._warmup = workload, phase, warmup
        self._prefix = request_prefix(workload.seed, phase)
        self._streams = workload.streams()
        self._prompts = [prompts_of(stream, workload.seed) for stream in self._streams]

    def due(self, seconds: float, part: Part, most: int | None = None) -> Iterator[Call]:
        """The requests of an open loop that are due in the first `seconds` and that `part` sends, in order.

        Of the whole load they are the first `most`.
        """
        for number, due in enumerate(islice(schedule(self._workload, seconds, self._phase), most)):
            if part.has(number):
                asked = due.index if due.row is None else due.row
                yield self._call(number, due.at, due.stream, asked)

    def next(self, number: int, at: float) -> Call:
        """Request `number` of a closed loop, whose slot fell free at `at`."""
        return self._call(number, at, 0, number)

    def _call(self, number: int, at: float, stream: int, asked: int) -> Call:
        prompts = self._prompts[stream]
        index = prompts.index(asked)
        request = f"{self._prefix}{number}"
        return Call(
            request=request,
            phase=self._phase,
            prompt_name=f"{prompts.name}/{index}",
            prompt=prompts.at(index),
            scheduled=at,
            warmup=at < self._warmup,
            tenant=self._streams[stream].tenant,
            cancel_after=self._cancel_after(request),
        )

    def _cancel_after(self, request: str) -> float | None:
        cancel = self._workload.cancel
        if cancel is None or uniform(self._workload.seed, "cancel", request) >= cancel.share:
            return None
        return cancel.after
