"""What is seen of one request while it is in flight, and how it becomes an observation whatever happens."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from chaosgate.loadgen.delta import DONE_EVENT, Choice, Event, LogProbs, Usage, finish_reason, known_count
from chaosgate.model.observation import Observation, Outcome
from chaosgate.prompts.prompt import Prompt


class PhaseClock:
    """Seconds since the phase began, which is when this object was made. Monotonic, one for a whole phase."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start = clock()

    def restart(self, start: float | None = None) -> None:
        """The phase begins now, where its clock had to be made before; or at the reading `start` of its clock.

        On Linux and macOS all processes of a machine share `time.monotonic`, so one can tell another.
        """
        self._start = self._clock() if start is None else start

    def now(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._start


class Call(msgspec.Struct, frozen=True, gc=False):
    """One request as it is planned. `prompt_name` is `<set>/<index>`; `scheduled` counts from the phase's start."""

    request: str
    phase: str
    prompt_name: str
    prompt: Prompt
    scheduled: float
    warmup: bool
    tenant: str | None = None
    """The tenant of the workload that sends it."""
    cancel_after: float | None = None
    """Seconds after which the client gives the request up by itself; None where it does not."""


@dataclass(frozen=True)
class Pending:
    """A request in flight: when it was due, when its first token came (None before that), on the phase's clock."""

    request: str
    scheduled: float
    first: float | None
    warmup: bool


class Trace:
    """One request in flight. `observation` may be asked at any time: until `settle` the request counts as given up."""

    __slots__ = (
        "_asked",
        "_claimed",
        "_clock",
        "_end",
        "_events",
        "_finish",
        "_keeps_text",
        "_last",
        "_logprobs",
        "_opened",
        "_outcome",
        "_pieces",
        "_reasoning",
        "_sent",
        "_tokens",
        "call",
        "finished",
        "status",
        "why",
    )

    def __init__(self, call: Call, clock: PhaseClock, keeps_text: bool = False) -> None:
        """`keeps_text`: whether the observation holds what was answered."""
        self.call = call
        self._keeps_text = keeps_text
        self._logprobs: list[float] = []
        self.status: int | None = None
        self.why: str | None = None
        """What went wrong, in one line."""
        self.finished = False
        """Whether the stream said that the answer is whole."""
        self._finish: str | None = None
        self._claimed: int | None = None
        self._asked: int | None = None
        self._clock = clock
        self._sent: float | None = None
        self._end: float | None = None
        self._opened: float | None = None
        self._last: float | None = None
        self._events = 0
        self._tokens: list[float] = []
        self._reasoning: list[float] = []
        self._pieces: list[str] = []
        self._outcome: Outcome = "timeout"

    def stamp_sent(self) -> None:
        """To be called just before the request is handed to the network.

        The time to connect is part of the answer's latency: stamped after it, a server that is slow to accept would
        look like a client that lags.
        """
        self._sent = self._clock.now()

    def take(self, events: Iterable[Event], at: float) -> None:
        """Add the events that came in one piece at `at`. What one of them raises leaves those before it added."""
        tokens, pieces = self._tokens, self._pieces
        for event in events:
            if event.choices:
                choice = event.choices[0]
                text = choice.delta
                # Most events have neither, and are taken without a call for each.
                if choice.finish_reason is not None or choice.logprobs is not None:
                    self._take_unusual(choice)
                if text is not None and text.content:
                    tokens.append(at)
                    pieces.append(text.content)
                elif text is not None and (text.reasoning_content or text.reasoning):
                    self._reasoning.append(at)
                self._events += 1
                self._last = at
                if self._opened is None:
                    self._opened = at
            elif event is DONE_EVENT:
                self.finished = True
                self._end = at if self._end is None else self._end
            if event.usage is not None:
                self._take_usage(event.usage)

    def _take_unusual(self, choice: Choice) -> None:
        """What a choice has beside its text; a ValueError where the answer was broken off."""
        if choice.finish_reason is not None:
            self._finish = finish_reason(choice.finish_reason)
            self.finished = True
        if choice.logprobs is not None:
            self._take_logprobs(choice.logprobs)

    def _take_logprobs(self, logprobs: LogProbs) -> None:
        """One number a token; one that the server does not tell leaves the whole answer without."""
        found = (token.logprob for token in logprobs.content or ())
        self._logprobs += [math.nan if one is None else one for one in found]

    def _take_usage(self, usage: Usage) -> None:
        claimed, asked = known_count(usage.completion_tokens), known_count(usage.prompt_tokens)
        self._claimed = self._claimed if claimed is None else claimed
        self._asked = self._asked if asked is None else asked

    def settle(self, outcome: Outcome) -> None:
        """The request is over. It ended with its `[DONE]`, or else now."""
        self._outcome = outcome
        if self._end is None or outcome != "ok":
            self._end = self._clock.now()

    def pending(self) -> Pending:
        """What is known of the request while it is in flight."""
        first = self._tokens[0] if self._tokens else None
        return Pending(self.call.request, self.call.scheduled, first, self.call.warmup)

    def observation(self) -> Observation:
        """The request as its client saw it; one that was never settled ran out of time now."""
        call, tokens = self.call, tuple(self._tokens)
        end = self._clock.now() if self._end is None else self._end
        text = "".join(self._pieces)
        return Observation.of_checked(
            {
                "request": call.request,
                "phase": call.phase,
                "prompt": call.prompt_name,
                "scheduled": call.scheduled,
                "sent": end if self._sent is None else self._sent,
                "first": tokens[0] if tokens else None,
                "tokens": tokens,
                "end": end,
                "status": self.status,
                "outcome": self._outcome,
                "answer": call.prompt.grade(text),
                "accepted": self._accepted(text),
                "text": text_digest(text),
                "finish": self._finish,
                "claimed": self._claimed,
                "prompt_tokens": self._asked,
                "opened": self._opened,
                "last": self._last,
                "events": self._events,
                "reasoning": tuple(self._reasoning),
                "tenant": call.tenant,
                "why": None if self._outcome == "ok" else self.why,
                "warmup": call.warmup,
                "said": in_utf8(text) if self._keeps_text else None,
                "logprobs": self._logprob(),
            }
        )

    def _logprob(self) -> tuple[float, int] | None:
        total = sum(self._logprobs)
        return (total, len(self._logprobs)) if self._logprobs and math.isfinite(total) else None

    def _accepted(self, text: str) -> bool | None:
        """Nobody takes half an answer; of a prompt without a log, or an answer nobody waited for, nothing is known."""
        if self._outcome == "ok":
            return self.call.prompt.accepts(text)
        return None if self._outcome == "cancelled" or self.call.prompt.suggestion is None else False


def in_utf8(text: str) -> str:
    """`text` as a file can hold it: halves of a surrogate pair are joined, and a lone one becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# The same prompts get the same answers, and no other part of an observation takes as long.
@lru_cache(maxsize=1024)
def text_digest(text: str) -> str:
    """`sha256:<hex>` of an answer in UTF-8. A lone surrogate, which JSON can carry, is encoded like any code point."""
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
