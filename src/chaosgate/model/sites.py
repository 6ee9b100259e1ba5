"""The places in an engine at which a fault can take hold of an array, and what it is told there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from chaosgate.errors import UsageError
from chaosgate.registry import nearest

Array = Any
"""An array of the Python array API, of numpy or torch: a transform uses nothing that only one of them has."""

Phase = Literal["prefill", "decode"]

SITES: Final[Mapping[str, str]] = {
    "tokenizer": "token ids of the prompt (tokens,)",
    "embedding": "rows of the embedding (tokens, d_model)",
    "layer.N.rope": "angles in radians by which queries [0] and keys [1] are turned (2, tokens, head_dim / 2)",
    "layer.N.attention.q": "turned queries (tokens, heads, head_dim)",
    "layer.N.attention.k": "turned keys as the cache takes them (tokens, kv_heads, head_dim)",
    "layer.N.attention.v": "values as the cache takes them (tokens, kv_heads, head_dim)",
    "layer.N.attention.scores": "scores before the causal mask and the softmax (heads, tokens, positions)",
    "layer.N.attention.out": "what each head read, before the output projection (tokens, heads, head_dim)",
    "layer.N.router": "router logits (tokens, experts)",
    "layer.N.expert.M": "output of one expert before its weight, also where it was not chosen (tokens, d_model)",
    "head": "normalised state of the last token, which the head projects (1, d_model)",
    "logits": "logits of the next token (vocabulary,)",
    "sampler": "probabilities after temperature and top-p (vocabulary,); what comes back is scaled to sum 1",
    "kv.blocks": "ids of the request's cache blocks in the order of positions (blocks,)",
    "scheduler": "the request's place in line (1,): the arrival number, lower goes first",
    "detokenizer": "the generated token id before it becomes text (1,)",
}
"""Every site with the array that is handed over there and its shape. N counts layers, M experts, both from 0."""

WITHOUT_CACHE: Final = frozenset({"tokenizer", "head", "logits", "sampler", "scheduler", "detokenizer"})
"""Sites that leave the keys and values of a token sequence as they are; all others change what the cache holds."""


@dataclass(frozen=True)
class SiteContext:
    """What a transform is told about the array it gets.

    The array holds exactly one request's part of a step: tokens `first` .. `first + count - 1` of its sequence, prompt
    tokens first. `phase` is "prefill" for prompt tokens and "decode" for generated ones, also when they are computed
    anew after a preemption. A prompt may come in several parts, so a transform must not depend on how it is cut: it
    draws by position, `first` plus the row. `heads` is the number of heads in the array where it has such an axis.
    """

    site: str
    layer: int | None
    expert: int | None
    first: int
    count: int
    phase: Phase
    request: str
    tenant: str | None
    heads: int | None = None


Transform = Callable[[Array, SiteContext], Array]
"""Gets an array, returns one of the same shape and leaves the given one as it is."""


class UnknownSiteError(UsageError):
    """A hook on a site that the engine does not have."""


@dataclass(frozen=True)
class Hooks:
    """Transforms by site; a name may have `*` for a number, as in `layer.*.attention.k`.

    A request with a hook outside WITHOUT_CACHE reads no keys and values of others, and what it computes is kept from
    them, unless `shares` is set: then whoever sends the same prefix finds it, in place of what was found there before.
    `salt`, as the request's own, parts the cache: only requests with the same one find each other's blocks.
    """

    transforms: Mapping[str, Transform]
    shares: bool = False
    salt: str = ""

    def then(self, other: Hooks) -> Hooks:
        """These hooks and after them, at the same site, those of `other`; shared only if both may be."""
        merged = dict(self.transforms)
        for site, transform in other.transforms.items():
            merged[site] = _chain(merged[site], transform) if site in merged else transform
        return Hooks(merged, self.shares and other.shares, self.salt + other.salt)

    def installed(self, layers: int, experts: int) -> dict[str, Transform]:
        """The transforms by full site name in an engine of this size; UnknownSiteError for a name that matches none."""
        known = list(site_names(layers, experts))
        found: dict[str, Transform] = {}
        for pattern, transform in self.transforms.items():
            for site in _matching(pattern, known):
                found[site] = _chain(found[site], transform) if site in found else transform
        return found


def site_names(layers: int, experts: int) -> Iterator[str]:
    """The full names of all sites of an engine with so many layers and experts a layer."""
    for site in SITES:
        for layer in range(layers if ".N." in site else 1):
            for expert in range(experts if site.endswith(".M") else 1):
                yield site.replace(".N.", f".{layer}.").removesuffix(".M") + (f".{expert}" if ".M" in site else "")


def _matching(pattern: str, known: list[str]) -> list[str]:
    shape = re.compile(re.escape(pattern).replace(r"\*", r"\d+"))
    found = [site for site in known if shape.fullmatch(site)]
    if not found:
        raise UnknownSiteError(_unknown(pattern, known))
    return found


def _unknown(pattern: str, known: list[str]) -> str:
    near = nearest(pattern, known)
    hint = f"did you mean {near!r}?" if near else f"known sites: {', '.join(SITES)}"
    return f"unknown site {pattern!r}; {hint}"


def _chain(first: Transform, second: Transform) -> Transform:
    return lambda array, context: second(first(array, context), context)
