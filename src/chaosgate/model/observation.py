"""What is seen of a run: observations at the client, ledger and timeline at the gateway, gauges of the engine, windows.

Times are seconds. Client times count from the start of the phase on the client's monotonic clock and give durations
only; gateway times count from the gateway's start and are the run's time base.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Literal

from chaosgate.model.base import Frozen, Line
from chaosgate.units import Bound

Outcome = Literal["ok", "error", "cut", "timeout", "refused", "cancelled"]
"""`ok` a whole answer; `error` an HTTP or in-stream error; `cut` a stream without its end; `refused` no connection;
`cancelled` closed by the client as the load wants it: that is the client's own doing, and counts in no SLI."""
Place = Literal["baseline", "control", "dose", "recovery"]
LogProbs = tuple[float, int]
"""The sum of the natural logarithms of the probabilities of an answer's tokens, and how many tokens these are."""
MIN_WINDOWS = 3
"""Windows that an estimate needs: with fewer, the variance between them rests on one degree of freedom or none."""
MAX_SCHEDULE_DELAY = 0.050
"""Seconds of P99 schedule delay above which the client, not the target, is what was measured."""


class Observation(Frozen):
    """One request as its client saw it."""

    request: str
    """`<seed>.<phase>.<number>`, sent in the header X-Chaosgate-Request."""
    phase: str
    prompt: str
    """`<set>/<index>`."""
    scheduled: float
    """When the request was due."""
    sent: float
    """When it was sent; later than `scheduled` when the client lags."""
    first: float | None
    """When the first content token came."""
    tokens: tuple[float, ...]
    """When each content event came."""
    end: float
    status: int | None
    """The HTTP status, None when there was no response."""
    outcome: Outcome
    answer: Literal["right", "wrong"] | None
    """Whether the answer is the prompt's known one; None when the prompt has none."""
    text: str
    """`sha256:<hex>` of the answer's text."""
    accepted: bool | None = None
    """Whether the user of the log that is replayed would take the answer; None where no log tells."""
    finish: Line | None = None
    """The finish_reason that the stream gave, the last one where it gave several; None where it gave none."""
    claimed: int | None = None
    """The completion tokens of the answer by the server's last usage figures; None where it sent none."""
    prompt_tokens: int | None = None
    """The tokens of the prompt by the same figures; None where the server sent none."""
    opened: float | None = None
    """When the first event with a choice came, even an empty one: the server had begun to answer."""
    last: float | None = None
    """When the last event with a choice came, even one that has a finish reason only."""
    events: int = 0
    """How many events with a choice came, empty ones included."""
    reasoning: tuple[float, ...] = ()
    """When each event with reasoning text and no content came; reasoning is no part of the answer."""
    tenant: str | None = None
    """The tenant of the workload that it is of; None where there are none."""
    why: Line | None = None
    """What went wrong, as the client or the server said it; None of a whole answer."""
    warmup: bool = False
    """Sent before the phase's measured part began; never judged."""
    said: str | None = None
    """The answer's text, kept only where the spec names an SLI that reads texts; else None."""
    logprobs: LogProbs | None = None
    """The log-probability of the answer, asked for only where the spec names an SLI that reads it; None where the
    server gave none, or one that is no finite number."""

    @property
    def texts(self) -> tuple[float, ...]:
        """When each event with text came, reasoning included, in order."""
        return tuple(sorted((*self.reasoning, *self.tokens))) if self.reasoning else self.tokens

    @property
    def output_tokens(self) -> int:
        """How many tokens the server made: by its own count where it gives one, else its events with text."""
        return self.claimed or len(self.tokens) + len(self.reasoning)


class LedgerRow(Frozen):
    """What the gateway did with one request for one fault of its phase; `fault` is None in a phase without faults."""

    request: str
    phase: str
    fault: str | None
    window: int | None
    """The window that was on when the request arrived."""
    dose: float | None
    draw: float | None
    """The selection draw in [0, 1)."""
    planned: bool
    applied: bool
    """Whether the fault took effect. Inside an engine: whether its transform had run when the answer began, which a
    stream does at its first token. If it raises after that, this stays and the stream ends with an error."""
    bypassed: str | None
    """Why a planned request was not touched, for people: `no window`, `dose 0`, `spared by the draw`, `halted`,
    `answered by <fault>`, `cut by <fault>`, `the stream ended first` and what else the gateway's chain may meet.
    `no opt-in` stands at one that is not planned because it did not ask for the fault."""
    effect: str | None
    """What was done, such as `delay 0.103 s`."""
    seen: float
    """Arrival at the gateway."""
    done: float
    """The last byte passed on, or the connection's end."""
    repeat: int = 0
    """How many requests with this id came before; above 0 a client used an id twice."""
    filtered: str | None = None
    """What the gateway's filters did to the request, such as `byte-limit refused: ...`; the same for all its faults.
    `unguarded` stands at one that passed none of them, because the spec wants that."""


class TimelineEvent(Frozen):
    """One event of a run on the gateway's clock.

    Events: `started` (detail.warmup: seconds) and `done` (detail.tokens and
    detail.promptTokens: what it cost) of a phase; `subject` read back (detail); `on` and `off` of a
    window (off with detail.why: removed, expired or halted); `proof` with detail.applied, the requests touched in a
    window; `injected`: the sweep and its recovery are over; `halt` with detail.reason.
    """

    at: float
    event: Literal["started", "done", "subject", "on", "off", "proof", "injected", "halt"]
    phase: str | None = None
    fault: str | None = None
    window: int | None = None
    dose: float | None = None
    detail: dict[str, Any] = {}


def cluster_gauge(fault: str, gauge: str) -> str:
    """The name of a gauge of the target of a fault of the cluster, such as `k8s:lost-pod:ready`."""
    return f"k8s:{fault}:{gauge}"


class Gauge(Frozen):
    """One reading of something beside the requests, `at` on the gateway's clock; `chaosgate.model.gauges` names them.

    Without a value it says from when on something could not be read, and why; such a line is written once a phase and
    reason, and `name` may then be that of a whole source, such as `vllm:*`.
    """

    at: float
    phase: str
    name: str
    value: float | None
    reason: Line | None = None


class RequestBound(Frozen):
    """What one request must keep to count as good."""

    sli: str
    """An SLI kind that gives a request's latency: `ttft`, not ttft-p95."""
    bound: Bound
    """What it must keep."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a prompt before it is asked."""

    answer: str | None
    """The only right answer; None where there is none."""
    json: bool = False
    """Whether that answer is a JSON value, whose keys are no part of what is to be recalled."""
    entities: tuple[str, ...] = ()
    """What a right answer names, such as the order of the user who asks."""
    strangers: frozenset[str] = frozenset()
    """Entities of other prompts of the set of which this prompt says nothing: whoever names them mixed them up."""
    text: str = ""
    """What the prompt asks, without the turns before it."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One request placed in a window: what the client saw, and the prompt's first answer in the baseline."""

    observation: Observation
    clean: str | None
    """The `text` digest of the clean arm, None when the prompt had no whole answer in the baseline."""
    slo: tuple[RequestBound, ...] = ()
    """What the spec wants of every request, for its goodput."""
    clean_said: str | None = None
    """The text of the clean arm, None where the run keeps no texts."""
    clean_logprobs: LogProbs | None = None
    """The log-probability of the clean arm's answer, None where the run keeps none."""
    known: Known | None = None
    """What is known of the prompt, only where the spec names an SLI that reads it."""


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of a run in which nothing changed, with the requests that belong to it."""

    place: Place
    phase: str
    fault: str | None
    index: int
    dose: float | None
    start: float
    end: float
    samples: tuple[Sample, ...]
    """Those that are judged: where filters are, the requests that they guard."""
    unguarded: tuple[Sample, ...] = ()
    """Those that pass no filter, by the spec's `unguarded`: the witness of a fault reads them, and nothing else does.
    Their clean arm is of unguarded requests, too: a filter may change what an answer looks like."""
    worked_out: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What was worked out of the samples, which never change, by what it is: many estimates ask for the same again."""
