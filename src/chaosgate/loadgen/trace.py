"""What is seen of one request while it is in flight, and how it becomes an observation whatever happens."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chaosgate.errors import one_line
from chaosgate.model.observation import Observation, Outcome
from chaosgate.model.usage import completion_tokens
from chaosgate.prompts.prompt import Prompt
from chaosgate.sse import DONE

_BROKEN_OFF = ("abort", "error")
"""Finish reasons with which vLLM ends an answer that is not whole."""
MAX_REASON = 64
"""Characters of a finish reason that are kept; the longest that OpenAI's API has is `content_filter`."""


class PhaseClock:
    """Seconds since the phase began, which is when this object was made. Monotonic, one for a whole phase.

    `start` is the reading of `clock` at which it began, where another process says so: on Linux and macOS all
    processes of a machine share `time.monotonic`.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, start: float | None = None) -> None:
        self._clock = clock
        self._start = clock() if start is None else start

    def restart(self) -> None:
        """The phase begins now, where its clock had to be made before."""
        self._start = self._clock()

    def now(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._start


@dataclass(frozen=True)
class Call:
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
class Delta:
    """What one event of a chat stream adds: text, maybe none, and what it says of the answer as a whole."""

    content: str = ""
    finish: str | None = None
    """Why the answer ends here."""
    claimed: int | None = None
    """How many completion tokens the server says it has sent."""
    done: bool = False
    """Whether it is the final `[DONE]`."""

    @property
    def finished(self) -> bool:
        """Whether it says that the answer is whole."""
        return self.done or self.finish is not None


@dataclass(frozen=True)
class Pending:
    """A request in flight: when it was due, when its first token came (None before that), on the phase's clock."""

    request: str
    scheduled: float
    first: float | None
    warmup: bool


def read_delta(data: str) -> Delta:
    """The meaning of one event's data; a ValueError says why it is malformed or which error it reports.

    An event without choices (usage figures) adds no text. Only the first choice counts: one is asked for.
    """
    if data == DONE:
        return Delta(done=True)
    event = _read_event(data)
    choice = _first_choice(event)
    delta = choice.get("delta") or {}
    content = (delta.get("content") if isinstance(delta, dict) else delta) or ""
    if not isinstance(content, str):
        raise ValueError(f"read {data[:200]!r}; an event needs text, or nothing, in choices[0].delta.content")
    return Delta(content, _finish(choice), completion_tokens(event))


def _finish(choice: dict[str, Any]) -> str | None:
    """The finish reason of a choice in one printable line; a ValueError for one of an answer that is not whole."""
    finish = choice.get("finish_reason")
    if finish in _BROKEN_OFF:
        raise ValueError(f"the answer ended with finish_reason {finish!r}")
    return None if finish is None else one_line(str(finish))[:MAX_REASON]


def _read_event(data: str) -> dict[str, Any]:
    try:
        event = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"read {data[:200]!r}, which is no JSON ({error})") from None
    if not isinstance(event, dict):
        raise ValueError(f"read {data[:200]!r}; an event is a JSON object")
    if event.get("error") is not None:
        raise ValueError(f"the server reported an error in the stream: {str(event['error'])[:200]}")
    return event


def _first_choice(event: dict[str, Any]) -> dict[str, Any]:
    choices = event.get("choices")
    if choices == []:
        return {}
    if not isinstance(choices, list) or not isinstance(choices[0], dict):
        raise ValueError(f"read {str(event)[:200]!r}; an event needs a list of objects in choices")
    return choices[0]


class Trace:
    """One request in flight. `observation` may be asked at any time: until `settle` the request counts as given up."""

    def __init__(self, call: Call, clock: PhaseClock) -> None:
        self.call = call
        self.status: int | None = None
        self.finished = False
        """Whether the stream said that the answer is whole."""
        self._finish: str | None = None
        self._claimed: int | None = None
        self._clock = clock
        self._sent: float | None = None
        self._end: float | None = None
        self._tokens: list[float] = []
        self._pieces: list[str] = []
        self._outcome: Outcome = "timeout"

    def stamp_sent(self) -> None:
        """To be called just before the request is handed to the network.

        The time to connect is part of the answer's latency: stamped after it, a server that is slow to accept would
        look like a client that lags.
        """
        self._sent = self._clock.now()

    def take(self, data: str, at: float) -> None:
        """Add the data of one event that came at `at`; a ValueError when it is malformed or reports an error."""
        delta = read_delta(data)
        if delta.content:
            self._tokens.append(at)
            self._pieces.append(delta.content)
        self.finished = self.finished or delta.finished
        self._finish = self._finish if delta.finish is None else delta.finish
        self._claimed = self._claimed if delta.claimed is None else delta.claimed
        if data == DONE and self._end is None:
            self._end = at

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
        end = self._clock.now() if self._end is None else self._end
        text = "".join(self._pieces)
        return Observation(
            request=self.call.request,
            phase=self.call.phase,
            prompt=self.call.prompt_name,
            scheduled=self.call.scheduled,
            sent=end if self._sent is None else self._sent,
            first=self._tokens[0] if self._tokens else None,
            tokens=tuple(self._tokens),
            end=end,
            status=self.status,
            outcome=self._outcome,
            answer=self.call.prompt.grade(text),
            accepted=self._accepted(text),
            text=text_digest(text),
            finish=self._finish,
            claimed=self._claimed,
            tenant=self.call.tenant,
            warmup=self.call.warmup,
        )

    def _accepted(self, text: str) -> bool | None:
        """Nobody takes half an answer; of a prompt without a log nothing is known."""
        if self._outcome == "ok":
            return self.call.prompt.accepts(text)
        return None if self.call.prompt.suggestion is None else False


def text_digest(text: str) -> str:
    """`sha256:<hex>` of an answer in UTF-8. A lone surrogate, which JSON can carry, is encoded like any code point."""
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
