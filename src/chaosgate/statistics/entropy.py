"""Entropy of counts and divergence between two of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from chaosgate.statistics.arrays import Floats

SMOOTHING = 0.5
"""What is added to every count before two are compared, so that an empty bin makes no divergence infinite: the
estimator of Krichevsky & Trofimov (IEEE Transactions on Information Theory 27, 1981), Jeffreys' prior of a
multinomial."""


def entropy_bits(counts: Sequence[int]) -> float:
    """Shannon's entropy of the shares that `counts` make up, in bits (Shannon 1948, section 6).

    It is that of the counts seen: with few of them it lies below that of the source, by about (bins - 1) / (2 n ln 2)
    (Miller 1955). A ValueError where nothing was counted.
    """
    if not sum(counts):
        raise ValueError("there is no entropy of nothing; count something first")
    from scipy.special import entr

    return float(entr(_shares(counts)).sum() / math.log(2))


def divergence(counts: Sequence[int], reference: Sequence[int]) -> float:
    """How far the shares of `counts` lie from those of `reference`, in nats: Kullback & Leibler (1951).

    Both are smoothed by SMOOTHING, so that it is finite; 0 where the counts are equal. A ValueError where the bins are
    not as many.
    """
    if len(counts) != len(reference):
        raise ValueError(f"read {len(counts)} and {len(reference)} bins; both counts need the same bins")
    from scipy.special import rel_entr

    return float(rel_entr(_shares(counts, SMOOTHING), _shares(reference, SMOOTHING)).sum())


def histogram(values: Sequence[float], bins: int) -> list[int]:
    """How many of `values`, from 0 to 1, lie in each of `bins` of equal width; 1 lies in the last."""
    return [int(count) for count in np.histogram(values, bins=bins, range=(0.0, 1.0))[0]]


def _shares(counts: Sequence[int], more: float = 0.0) -> Floats:
    weights = np.asarray(counts, dtype=float) + more
    shares: Floats = weights / weights.sum()
    return shares
