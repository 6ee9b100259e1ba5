"""Random draws that anyone can repeat: each is a pure function of what it is for.

A draw depends on (seed, fault, request, site) and on nothing else: not on the order of arrival, the concurrency or the
dose, so the planned ledger of a run is the same however it is carried out, and a request hit at a low dose stays hit at
a higher one. BLAKE2b (RFC 7693) keyed by these words serves as the counter-based generator: its output is uniform and
draws for different words are independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from hashlib import blake2b

_SCALE = 2.0**-53


def uniform(seed: int, *words: str | int) -> float:
    """One number in [0, 1) with 53 bits, the same for the same seed and words on every machine."""
    text = "\x1f".join(str(word) for word in (seed, *words))
    digest = blake2b(text.encode(), digest_size=8, person=b"chaosgate").digest()
    return (int.from_bytes(digest, "big") >> 11) * _SCALE


def exponential(mean: float, seed: int, *words: str | int) -> float:
    """One exponential draw with the given mean, by inversion: -mean * ln(1 - u)."""
    return -mean * math.log1p(-uniform(seed, *words))


def shuffled(items: list[int], seed: int, *words: str | int) -> list[int]:
    """A permutation of `items`: sorted by one uniform draw each, so every order is equally likely."""
    return sorted(items, key=lambda item: uniform(seed, *words, "order", item))


@dataclass(frozen=True)
class Draw:
    """The draws of one fault for one request. `at(site)` is uniform in [0, 1); sites are independent of each other."""

    seed: int
    fault: str
    request: str

    def at(self, site: str) -> float:
        """The draw at `site`, a name the fault chooses, such as `"jitter"`."""
        return uniform(self.seed, self.fault, self.request, site)
