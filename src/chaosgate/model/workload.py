"""The load of a spec: who sends how much of what, and what its client does to its own requests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator, model_serializer, model_validator
from pydantic.alias_generators import to_camel

from chaosgate.model.arrivals import Arrivals, ClosedArrivals, OpenRate, TraceArrivals
from chaosgate.model.base import Frozen, Name
from chaosgate.model.lengths import MAX_ANSWER_TOKENS, LengthDistribution
from chaosgate.model.presets import presets
from chaosgate.registry import unknown
from chaosgate.units import Duration, Share

MAX_WORKERS = 64
"""Processes that one load may start."""
MAX_PROMPTS = 4096
"""Prompts that are made from lengths: each is held in memory."""


class SetPrompts(Frozen):
    """The prompts of a set, cycled in order."""

    set: str
    """The name of a built-in set, such as recall-24; `chaosgate catalogue` lists them with an example each."""


class FilePrompts(Frozen):
    """The prompts of a file, cycled in order."""

    file: Annotated[str, Field(min_length=1, max_length=1_000)]
    """A JSON Lines or CSV file beside the spec, with `prompt` or `messages` and, where it is known, `answer`."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    """The file's digest, written when the file is read."""
    text: str | None = None
    """What the file holds, written when the file is read."""

    @model_serializer(mode="wrap")
    def _as_given(self, handler: Any) -> dict[str, Any]:
        return {key: value for key, value in handler(self).items() if value is not None}


class Lengths(Frozen):
    """How long made prompts and their answers are."""

    words: LengthDistribution
    """Words of a prompt."""
    max_tokens: LengthDistribution | None = None
    """The most tokens of an answer, for each prompt by itself; without it the workload's `maxTokens`."""

    @model_validator(mode="after")
    def _short_enough(self) -> Lengths:
        if self.max_tokens is not None and self.max_tokens.longest > MAX_ANSWER_TOKENS:
            raise ValueError(
                f"`maxTokens` reaches to {self.max_tokens.longest}; at most {MAX_ANSWER_TOKENS} are allowed"
            )
        return self


class MadePrompts(Frozen):
    """Prompts that are made of plain words, of given lengths; nothing is known of their answers."""

    lengths: Lengths | Literal["trace"]
    """How long they are, or `trace`: as the requests of the trace that is replayed."""
    count: Annotated[int, Field(ge=1, le=MAX_PROMPTS)] = 256
    """How many different ones there are, cycled in order; of a trace each request has its own."""

    @model_serializer(mode="wrap")
    def _as_given(self, handler: Any) -> dict[str, Any]:
        written = handler(self)
        if self.lengths == "trace":
            written.pop("count")
        return dict(written)


Prompts = SetPrompts | FilePrompts | MadePrompts
"""Where prompts come from, told apart by their keys."""


class Cancellation(Frozen):
    """Requests that the client itself gives up, as users do who close a page; they count in no SLI."""

    share: Annotated[Share, Field(gt=0)]
    """The share of requests, each by a draw of its own."""
    after: Annotated[Duration, Field(gt=0)]
    """How long after it was sent the client closes the connection, unless the answer is whole by then."""


class Spikes(Frozen):
    """Short bursts of Poisson arrivals on top of the load."""

    rate: OpenRate
    """Requests per second that a spike adds."""
    width: Annotated[Duration, Field(gt=0)]
    """How long a spike is."""
    every: Annotated[Duration, Field(gt=0)]
    """From the begin of one to that of the next; the first begins so long after the phase."""

    @model_validator(mode="after")
    def _apart(self) -> Spikes:
        if self.width >= self.every:
            raise ValueError("`width` is not less than `every`, and then spikes never end; write a smaller `width`")
        return self

    def rate_at(self, seconds: float) -> float:
        """What is added at `seconds` from the phase's start."""
        return self.rate if seconds >= self.every and seconds % self.every < self.width else 0.0

    def expected(self, seconds: float) -> float:
        """Requests of spikes in the first `seconds`, on average."""
        periods = seconds / self.every
        if periods < 1:
            return 0.0
        whole = math.floor(periods)
        return self.rate * ((whole - 1) * self.width + min(self.width, seconds - whole * self.every))


class Tenant(Frozen):
    """A user of the target with a load of its own."""

    name: Name
    """How its requests are told apart; a server sees it as the `user` of the request."""
    arrivals: Arrivals
    """When its requests are sent; an open loop."""
    prompts: Prompts
    """What it asks; of a set that has prompts for tenants of this name only those."""
    spikes: Spikes | None = None
    """Bursts on top of its arrivals."""

    @model_validator(mode="after")
    def _open(self) -> Tenant:
        if isinstance(self.arrivals, ClosedArrivals):
            raise ValueError("`process: closed` has no rate of its own; a tenant needs another, such as poisson")
        _check_fitting(self)
        return self

    @model_serializer(mode="wrap")
    def _as_given(self, handler: Any) -> dict[str, Any]:
        return _without_defaults(self, handler(self), ("spikes",))


@dataclass(frozen=True)
class LoadStream:
    """One of the streams of requests that make up a load."""

    tenant: str | None
    arrivals: Arrivals
    prompts: Prompts
    spikes: Spikes | None


class Workload(Frozen):
    """The load of every phase."""

    preset: str | None = None
    """A load by name, such as warm-up, steady, long-tail or slo-spikes; keys beside it change it."""
    arrivals: Arrivals | None = None
    """When requests are sent; needed without `tenants`."""
    prompts: Prompts | None = None
    """What is asked; needed without `tenants`."""
    max_tokens: Annotated[int, Field(ge=1, le=4096)] = 64
    """The most tokens of an answer; the server is asked for no more."""
    warmup: Duration = 5.0
    """Load before the baseline whose requests are never judged."""
    timeout: Annotated[Duration, Field(gt=0)] = 30.0
    """When the client gives a request up."""
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0
    """The seed of every draw of the run, not negative: it is part of every request's name and seeds numpy."""
    workers: Annotated[int, Field(ge=1, le=MAX_WORKERS)] = 1
    """Processes of the client; more than one where one core does not send the rate in time."""
    cancel: Cancellation | None = None
    """Requests that the client gives up by itself."""
    spikes: Spikes | None = None
    """Bursts on top of the arrivals."""
    tenants: Annotated[tuple[Tenant, ...], Field(max_length=64)] = ()
    """Users with a load of their own each, in place of `arrivals`, `prompts` and `spikes`; merged by time."""

    @model_validator(mode="before")
    @classmethod
    def _of_preset(cls, data: Any) -> Any:
        name = data.get("preset") if isinstance(data, dict) else None
        if not isinstance(name, str):
            return data
        if name not in presets():
            raise ValueError(unknown("preset", name, presets()))
        given = {to_camel(key) for key in data}
        return {**{key: value for key, value in presets()[name].workload.items() if key not in given}, **data}

    @model_validator(mode="after")
    def _one_load(self) -> Workload:
        given = [key for key in ("arrivals", "prompts", "spikes") if getattr(self, key) is not None]
        if self.tenants and given:
            raise ValueError(f"`{given[0]}` stands beside `tenants`, each of which has its own; remove one of the two")
        if not self.tenants:
            for key, hint in (("arrivals", "{process: poisson, rate: 20/s}"), ("prompts", "{set: recall-24}")):
                if key not in given:
                    raise ValueError(f"`{key}` is missing; write {key}: {hint}, or `tenants` with their own")
        names = [tenant.name for tenant in self.tenants]
        if len(set(names)) < len(names):
            raise ValueError(f"two tenants have one name; read {', '.join(names)}: rename one")
        if not self.tenants:
            _check_fitting(self)
        return self

    @field_validator("workers")
    @classmethod
    def _all_with_work(cls, workers: int, info: ValidationInfo) -> int:
        arrivals = info.data.get("arrivals")
        if isinstance(arrivals, ClosedArrivals) and workers > arrivals.concurrency:
            raise ValueError(
                f"read {workers}, more than the concurrency of {arrivals.concurrency}: some would have nothing to "
                "send; write fewer"
            )
        return workers

    @model_serializer(mode="wrap")
    def _as_given(self, handler: Any) -> dict[str, Any]:
        # A spec that makes no use of these reads, and is digested, as it was before they were there.
        unused = ("preset", "arrivals", "prompts", "workers", "cancel", "spikes", "tenants")
        return _without_defaults(self, handler(self), unused)

    def streams(self) -> tuple[LoadStream, ...]:
        """The streams of requests that the load consists of: one for each tenant, or the only one."""
        if self.tenants:
            return tuple(LoadStream(one.name, one.arrivals, one.prompts, one.spikes) for one in self.tenants)
        assert self.arrivals is not None  # one of the two is there
        assert self.prompts is not None
        return (LoadStream(None, self.arrivals, self.prompts, self.spikes),)

    @property
    def concurrency(self) -> int | None:
        """The requests in flight of a closed loop; None of an open one."""
        return self.arrivals.concurrency if isinstance(self.arrivals, ClosedArrivals) else None

    @property
    def varies(self) -> bool:
        """Whether the number of requests in a window is random."""
        return any(stream.arrivals.varies or stream.spikes is not None for stream in self.streams())

    def rate_at(self, seconds: float) -> float | None:
        """Requests per second of all streams at `seconds` from the phase's start; None where the target sets them."""
        rates = [stream.arrivals.rate_at(seconds) for stream in self.streams()]
        spikes = sum(stream.spikes.rate_at(seconds) for stream in self.streams() if stream.spikes)
        return _total(rates, spikes)

    def mean_rate(self, seconds: float) -> float | None:
        """Requests per second of all streams, on average over the first `seconds` of a phase; None: unknown."""
        rates = [stream.arrivals.mean_rate(seconds) for stream in self.streams()]
        spikes = sum(stream.spikes.expected(seconds) for stream in self.streams() if stream.spikes)
        return _total(rates, spikes / seconds if seconds > 0 else 0.0)


def _total(rates: list[float | None], more: float) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return sum(known) + more if len(known) == len(rates) else None


def _check_fitting(load: Workload | Tenant) -> None:
    """A ValueError where prompts or spikes do not go with the arrivals."""
    if isinstance(load.prompts, MadePrompts) and load.prompts.lengths == "trace":
        if not isinstance(load.arrivals, TraceArrivals):
            raise ValueError("`lengths: trace` goes with arrivals of `process: trace`, whose file tells the lengths")
        if load.arrivals.times is not None and load.arrivals.inputs is None:
            raise ValueError(
                f"`lengths: trace`: {load.arrivals.file} tells no lengths; write `lengths: {{words: ...}}`"
            )
    if load.spikes is not None and isinstance(load.arrivals, ClosedArrivals):
        raise ValueError("`spikes` are added to an open loop; a closed one (`process: closed`) has none")


def _without_defaults(model: Frozen, written: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """`written` without those of `keys` that are at their defaults."""
    defaults = {key: type(model).model_fields[key].default for key in keys}
    unused = {key for key, default in defaults.items() if getattr(model, key) == default}
    return {key: value for key, value in written.items() if key not in unused}
