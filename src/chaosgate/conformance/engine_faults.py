"""What a fault inside the engine owes besides: known sites, and transforms that follow the request, not the batch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from chaosgate.conformance.common import call, check_documented, require
from chaosgate.draws import Draw
from chaosgate.errors import UsageError
from chaosgate.model.fault import EngineFault
from chaosgate.model.sites import Array, Hooks, SiteContext

REQUESTS = 48
"""Requests whose arrays are compared; a fault that follows their sequence meets all sorts of places in it."""
LAYERS, EXPERTS, TOKENS, CUT = 3, 4, 24, 7
"""The model and the prompt of the check, and where the prompt is cut in two."""
STRICT = "array_api_strict"
"""The library that has the Python array API and nothing else: what works there, numpy and torch do, too."""
_D_MODEL, _HEADS, _KV_HEADS, _HEAD_DIM, _VOCABULARY = 16, 4, 2, 8, 64
_SHAPES: dict[str, tuple[int, ...]] = {
    "embedding": (TOKENS, _D_MODEL),
    "rope": (2, TOKENS, _HEAD_DIM // 2),
    "attention.q": (TOKENS, _HEADS, _HEAD_DIM),
    "attention.k": (TOKENS, _KV_HEADS, _HEAD_DIM),
    "attention.v": (TOKENS, _KV_HEADS, _HEAD_DIM),
    "attention.scores": (_HEADS, TOKENS, TOKENS),
    "attention.out": (TOKENS, _HEADS, _HEAD_DIM),
    "router": (TOKENS, EXPERTS),
    "expert": (TOKENS, _D_MODEL),
    "head": (1, _D_MODEL),
    "logits": (_VOCABULARY,),
    "sampler": (_VOCABULARY,),
    "scheduler": (1,),
}
_IDS: dict[str, int] = {"tokenizer": TOKENS, "detokenizer": 1, "kv.blocks": 4}
"""Sites of whole numbers, and how many there are."""
_TOKEN_AXIS = {"rope": 1, "attention.scores": 1} | dict.fromkeys(("head", "logits", "sampler", "scheduler"))
"""Where the axis of tokens is not the first: another one, or none."""

Numbers = NDArray[np.generic]


def check_engine_fault(fault: EngineFault, doses: Sequence[float]) -> None:
    """Check `sites`, `transform` and `received` at ascending `doses`, of which the first is 0."""
    kind = type(fault)
    check_documented(kind, "sites", "transform", "received")
    draws = [fault.draw(7, f"7.block1.{number}") for number in range(REQUESTS)]
    bites = False
    for site in _sites(fault):
        for number, draw in enumerate(draws):
            given = _array(site, number)
            row = [_changed(fault, given, dose, draw, site) for dose in doses]
            _check_row(fault, doses, given, row, site)
            again = [_changed(fault, given, dose, draw, site) for dose in reversed(doses)][::-1]
            same = all(_equal(one, other) for one, other in zip(row, again, strict=True))
            require(same, kind, f"transform at {site} differs between two calls of one draw; keep no state")
            bites = bites or not _equal(row[-1], given)
        _check_cut(fault, doses[-1], draws[1], site)
        _check_strict(fault, doses[-1], draws[1], site)
    require(bites, kind, f"nothing is changed of any of {REQUESTS} requests at the largest dose {doses[-1]}")
    _check_received(fault, doses, draws)


def _sites(fault: EngineFault) -> tuple[str, ...]:
    kind = type(fault)
    sites = call(kind, f"sites({LAYERS})", lambda: fault.sites(LAYERS))
    require(bool(sites), kind, f"sites({LAYERS}) names none; say where it acts")
    try:
        Hooks(dict.fromkeys(sites, lambda array, context: array)).installed(LAYERS, EXPERTS)
    except UsageError as error:
        require(False, kind, f"sites({LAYERS}) gave {sites}: {error}")
    return sites


def _part(site: str) -> str:
    """`attention.k` of `layer.1.attention.k`, `expert` of `layer.0.expert.2`, and `head` as it is."""
    words = [word for word in site.split(".") if not word.isdecimal() and word not in ("layer", "*")]
    return ".".join(words)


def _array(site: str, number: int) -> Numbers:
    """What the site hands over, of finite numbers; another one for each request."""
    random, part = np.random.default_rng(number), _part(site)
    if part in _IDS:
        return random.integers(0, _VOCABULARY, _IDS[part])
    found = random.standard_normal(_SHAPES[part]).astype(np.float32)
    return np.abs(found) / np.abs(found).sum() if part == "sampler" else found


def _context(site: str, draw: Draw, first: int, count: int) -> SiteContext:
    numbers = [int(word) for word in site.split(".") if word.isdecimal()]
    return SiteContext(
        site=site,
        layer=numbers[0] if numbers else None,
        expert=numbers[1] if len(numbers) > 1 else None,
        first=first,
        count=count,
        phase="prefill",
        request=draw.request,
        tenant=None,
        heads={"attention.k": _KV_HEADS, "attention.v": _KV_HEADS}.get(_part(site), _HEADS),
    )


def _changed(fault: EngineFault, given: Numbers, dose: float, draw: Draw, site: str, first: int = 0) -> Numbers:
    """What the fault makes of `given`, which it must leave as it is."""
    kind, before = type(fault), given.copy()
    axis = _TOKEN_AXIS.get(_part(site), 0)
    context = _context(site, draw, first, TOKENS if axis is None else given.shape[axis])
    found = call(kind, f"transform at {site}", lambda: fault.transform(given, dose, draw, context))
    require(_equal(given, before), kind, f"transform at {site} writes into the array it is given; make a new one")
    kept = isinstance(found, np.ndarray) and (found.shape, found.dtype) == (given.shape, given.dtype)
    told = f"{getattr(found, 'dtype', type(found).__name__)} {getattr(found, 'shape', '')}"
    require(kept, kind, f"transform at {site} made {told} of {given.dtype} {given.shape}; keep shape and type")
    return np.asarray(found)


def _check_row(fault: EngineFault, doses: Sequence[float], given: Numbers, row: Sequence[Numbers], site: str) -> None:
    """One request over all doses: untouched at 0, finite, and a token once hit stays hit."""
    kind = type(fault)
    require(_equal(row[0], given), kind, f"transform at {site} changes an array at dose 0; nothing may change there")
    before = np.zeros(1, bool)
    for dose, found in zip(doses, row, strict=True):
        sane = bool(np.isfinite(found).all()) or not fault.finite
        require(sane, kind, f"transform at {site} gave numbers that are not finite at dose {dose}; see `finite`")
        hit = _hit(found, given, site)
        require(
            not (before & ~hit).any(),
            kind,
            f"a token hit at {site} at a lower dose is spared at {dose}; the draw may not depend on the dose",
        )
        before = hit


def _hit(found: Numbers, given: Numbers, site: str) -> NDArray[np.bool_]:
    """Which tokens were changed; one truth for all where the site has no axis of tokens."""
    axis = _TOKEN_AXIS.get(_part(site), 0)
    other = tuple(number for number in range(given.ndim) if number != axis)
    return np.atleast_1d((found != given).any(axis=None if axis is None else other))


def _check_cut(fault: EngineFault, dose: float, draw: Draw, site: str) -> None:
    """A prompt in two parts is the same as in one: a prompt may be cut, and preempted, as the batch wants it."""
    axis = _TOKEN_AXIS.get(_part(site), 0)
    given = _array(site, 1)
    if axis is None or given.shape[axis] < TOKENS:
        return
    whole = _changed(fault, given, dose, draw, site)
    parts = [_changed(fault, part, dose, draw, site, first) for first, part in _cut(given, axis)]
    require(
        _equal(np.concatenate(parts, axis=axis), whole),
        type(fault),
        f"transform at {site} depends on how a prompt is cut; draw by position: context.first plus the row",
    )


def _cut(given: Numbers, axis: int) -> Iterator[tuple[int, Numbers]]:
    first, rest = np.split(given, [CUT], axis=axis)
    yield 0, first
    yield CUT, rest


def _check_strict(fault: EngineFault, dose: float, draw: Draw, site: str) -> None:
    """The same numbers come out where nothing but the array API is there; not checked where that is not installed."""
    if find_spec(STRICT) is None:
        return
    strict, kind, given = import_module(STRICT), type(fault), _array(site, 1)
    context = _context(site, draw, 0, TOKENS)
    found: Array = call(
        kind,
        f"transform at {site} of an array of {STRICT}",
        lambda: fault.transform(strict.asarray(given), dose, draw, context),
    )
    same = _equal(np.asarray(found), _changed(fault, given, dose, draw, site))
    require(same, kind, f"transform at {site} gives other numbers with {STRICT} than with numpy")


def _check_received(fault: EngineFault, doses: Sequence[float], draws: Sequence[Draw]) -> None:
    kind = type(fault)
    for draw in draws:
        got = [_received(fault, dose, draw) for dose in doses]
        rising = all(one <= other for one, other in pairwise(got))
        sane = got[0] == 0 and all(map(math.isfinite, got)) and rising
        require(sane, kind, f"received is {got} at the doses {list(doses)}; it starts at 0, is finite and never falls")


def _received(fault: EngineFault, dose: float, draw: Draw) -> float:
    return call(type(fault), f"received({dose})", lambda: fault.received(dose, draw))


def _equal(one: Numbers, other: Numbers) -> bool:
    """The same values; what is no number equals itself here."""
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
