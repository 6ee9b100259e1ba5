"""What a request asks of the gateway itself, in `X-Chaos-Mode` and baggage, and what it is told of that.

Nothing here ever breaks a request: what cannot be read is left aside, and a header of the response says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from urllib.parse import quote

from aiohttp import web

from chaosgate.gateway.config import GatewayConfig
from chaosgate.gateway.ledger import NOT_REACHED, Touch, Visit
from chaosgate.gateway.noise import noise_faults
from chaosgate.gateway.stream import PassThrough
from chaosgate.gateway.windows import ActiveWindow
from chaosgate.model.baggage import BAGGAGE_HEADER
from chaosgate.model.fault import Fault
from chaosgate.model.opt_in import EVERY_FAULT, MODE_HEADER, NOISE_KEY, VARIANT_KEY, named_faults
from chaosgate.model.request_facts import RequestFacts
from chaosgate.model.standing import dose_of
from chaosgate.registry import unknown

INJECTED_HEADER = "X-Chaos-Injected"
"""In the response to a request that opted in: `fault;kind;effect`, with commas between faults. The three are
percent-encoded where they hold one of these signs."""
IGNORED_HEADER = "X-Chaos-Ignored"
"""In the response to a request that opted in: what of its wishes was left aside and why, percent-encoded likewise."""
MAX_REASON = 300
"""Bytes of a reason or an effect that are told, before they are percent-encoded."""
MAX_REASONS = 8
"""Reasons that are told: with those, encoded, a header stays below the 8,190 bytes that many clients take."""

_PLAIN = " !#$&'()*+-./:<=>?@[]^_`{|}~\""
"""What stays as it is in a told text: printable ASCII but `%`, `,`, `;` and the backslash."""


@dataclass(frozen=True)
class Wishes:
    """The wishes of one request that could be read, and in words why others were left aside."""

    opted: bool = False
    """Whether it asks for anything."""
    mode: tuple[str, ...] = ()
    noise: str | None = None
    """The line of noise as it was sent."""
    variant: str | None = None
    """The variant that it names, where there is such a one."""
    faults: tuple[Fault, ...] = ()
    """The faults of its noise."""
    ignored: tuple[str, ...] = ()

    def windows(self, since: float) -> dict[str, ActiveWindow]:
        """The windows of its noise, by fault: each for this request alone, open `since` its arrival."""
        return {fault.name: ActiveWindow(fault.name, 0, dose_of(fault), since, math.inf) for fault in self.faults}


NOTHING = Wishes()

_VISIT = web.RequestKey("visit", Visit)
_WISHES = web.RequestKey("wishes", Wishes)


def variant_of(facts: RequestFacts) -> str | None:
    """The variant that a request's baggage names, known or not."""
    return facts.baggage.members.get(VARIANT_KEY)


def read_wishes(config: GatewayConfig, facts: RequestFacts) -> Wishes:
    """What the request asks for; NOTHING for one that asks for nothing."""
    if MODE_HEADER not in facts.headers and BAGGAGE_HEADER not in facts.headers:
        return NOTHING
    mode, noise, variant = named_faults(facts), facts.baggage.members.get(NOISE_KEY), variant_of(facts)
    if not mode and noise is None and variant is None:
        return NOTHING
    faults, refused = _noise(config, facts, noise)
    return Wishes(
        opted=True,
        mode=mode,
        noise=noise,
        variant=variant if variant in config.variants else None,
        faults=faults,
        ignored=_first((*refused, *_unknown_variant(config, variant)), _unknown_faults(config, mode)),
    )


def note_wishes(request: web.BaseRequest, visit: Visit, config: GatewayConfig, facts: RequestFacts) -> Wishes:
    """The same, kept with the request for `tell_wishes` and for its trace."""
    wishes = read_wishes(config, facts)
    request[_VISIT], request[_WISHES] = visit, wishes
    return wishes


def noted(request: web.BaseRequest) -> tuple[Wishes, tuple[Touch, ...]]:
    """What the request asked for, and what every fault did to it so far."""
    visit = request.get(_VISIT)
    return request.get(_WISHES, NOTHING), () if visit is None else tuple(visit.touches)


def tell_wishes(request: web.BaseRequest, response: web.StreamResponse) -> None:
    """Tell a request that opted in what was done to it and what was left aside, in the headers of its response."""
    wishes, touches = noted(request)
    if not wishes.opted:
        return
    passed = isinstance(response, PassThrough)
    injected = [f"{touch.fault};{touch.kind};{_told(effect)}" for touch, effect in injected_by(touches, passed)]
    for name, texts in ((INJECTED_HEADER, injected), (IGNORED_HEADER, [*map(_told, wishes.ignored)])):
        if texts:
            response.headers.add(name, ", ".join(texts))


def injected_by(touches: tuple[Touch, ...], passed: bool) -> Iterator[tuple[Touch, str]]:
    """The touches that took effect, with their effects; with `passed` also editors of a response that still comes."""
    for touch in touches:
        if touch.window is None or touch.window.dose == 0:
            continue
        if touch.applied:
            yield touch, touch.effect or ""
        elif passed and touch.bypassed == NOT_REACHED:
            yield touch, "edits the stream"


def _noise(config: GatewayConfig, facts: RequestFacts, line: str | None) -> tuple[tuple[Fault, ...], tuple[str, ...]]:
    """The faults of a line of noise, and why there are none although it was sent."""
    if not config.noise or line is None:
        return (), ()
    # A comma that is not encoded tears a line in two: half a wish may ask for more than the whole.
    if facts.baggage.refused:
        return (), tuple(f"{NOISE_KEY}: {reason}" for reason in facts.baggage.refused)
    try:
        return noise_faults(line), ()
    except ValueError as error:
        return (), (f"{NOISE_KEY}: {error}",)


def _first(reasons: Sequence[str], more: Iterable[str]) -> tuple[str, ...]:
    """As many of `reasons` and then of `more` as are told; no other one is made, for each costs a search."""
    return tuple(islice(chain(reasons, more), MAX_REASONS))


def _unknown_faults(config: GatewayConfig, mode: tuple[str, ...]) -> Iterator[str]:
    names = [fault.name for fault in config.faults]
    for name in mode:
        if name not in names and name != EVERY_FAULT:
            yield f"{MODE_HEADER}: {unknown('fault', name, [*names, EVERY_FAULT])}"


def _unknown_variant(config: GatewayConfig, variant: str | None) -> Iterator[str]:
    if variant is not None and config.variants and variant not in config.variants:
        yield f"{VARIANT_KEY}: {unknown('variant', variant, config.variants)}; the request went to the default server"


def _told(text: str) -> str:
    return quote(text.encode(errors="replace")[:MAX_REASON], safe=_PLAIN)
