"""Random numbers for arrays: each element a pure function of a key and its own number, the same on numpy and torch.

A generator with a state would give other numbers as soon as a prompt is cut into other parts, and every library has a
generator of its own. Here an integer hash of (key, number) takes its place, written in the Python array API.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from array_api_compat import array_namespace, device

from chaosgate.draws import Draw
from chaosgate.model.sites import Array

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WORD = 2**32 - 1
"""The low 32 bits. Products of such a word and a factor below 2**31 stay within int64, whatever the library."""
_FIRST, _SECOND = 0x21F0AAAD, 0x735A2D97
"""Factors of a 32-bit finaliser of low bias: Wellons' hash-prospector, the variant with both factors below 2**31."""


def key_of(draw: Draw, site: str) -> int:
    """The 53 random bits of `draw` at `site`, as a key for the functions below."""
    return int(draw.at(site) * 2**53)


def drawn(count: int, draw: Draw, what: str) -> NDArray[np.float64]:
    """So many numbers in [0, 1), those of `what` for one request, at once and on this machine's own memory."""
    # Here and not above: a spec is read and checked without the time that numpy takes to be imported.
    import numpy as np

    return np.asarray(uniforms(np.zeros(0), count, key_of(draw, what)))


def drawn_below(limit: int, count: int, draw: Draw, what: str) -> NDArray[np.uint8]:
    """So many whole numbers below `limit`, which is at most 256."""
    return (drawn(count, draw, what) * limit).astype("uint8")


def uniforms(like: Array, count: int, key: int, first: int = 0) -> Array:
    """`count` numbers, uniform in (0, 1) with 32 bits, float64, on the device of `like`.

    They are those of the elements `first`, `first` + 1, ... of the stream `key`.
    """
    xp = array_namespace(like)
    number = first + xp.arange(count, dtype=xp.int64, device=device(like))
    return (xp.astype(_bits(number, key), xp.float64) + 0.5) / (WORD + 1)


def normals(like: Array, key: int, first: int = 0) -> Array:
    """Standard normal numbers in the shape, type and place of `like`, by Box and Muller (Ann. Math. Stat. 29, 1958).

    Element i of `like`, counted in C order, gets number `first` + i of the stream `key`. They are computed in float64
    and rounded to the type of `like`, so that libraries whose logarithms differ in the last bit agree.
    """
    xp = array_namespace(like)
    count, skipped = math.prod(like.shape), first % 2
    pairs = xp.reshape(uniforms(like, count + skipped + (count + skipped) % 2, key, first - skipped), (-1, 2))
    radius, angle = xp.sqrt(-2.0 * xp.log(pairs[:, 0])), 2 * math.pi * pairs[:, 1]
    numbers = xp.reshape(xp.stack((radius * xp.cos(angle), radius * xp.sin(angle)), axis=1), (-1,))
    return xp.reshape(xp.astype(numbers[skipped : skipped + count], like.dtype), like.shape)


def _bits(number: Any, key: int) -> Any:
    """32 random bits of each of the int64 `number`s, all at least 0."""
    low = _mixed((number & WORD) ^ _mixed(key & WORD))
    # The second round takes in what the first could not hold: the high words of number and key.
    return _mixed(low ^ ((number >> 32) & WORD) ^ ((key >> 32) & WORD) ^ _SECOND)


def _mixed(word: Any) -> Any:
    word = ((word ^ (word >> 16)) * _FIRST) & WORD
    word = ((word ^ (word >> 15)) * _SECOND) & WORD
    return word ^ (word >> 15)
