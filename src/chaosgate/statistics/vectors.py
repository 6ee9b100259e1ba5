"""Cosines of vectors of length 1, and the clusters that they form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from chaosgate.statistics.arrays import Floats


def cosine(one: Floats, other: Floats) -> float:
    """The cosine of the angle between two vectors of length 1, from -1 to 1."""
    return float(np.clip(one @ other, -1.0, 1.0))


def mean_pairwise_cosine(vectors: Sequence[Floats]) -> float:
    """The mean cosine of all pairs of different ones among `vectors` of length 1; a ValueError for fewer than two.

    The squared length of their sum is n plus twice the sum over the pairs, which saves the n * n cosines.
    """
    n = len(vectors)
    if n < 2:
        raise ValueError(f"read {n} vectors; a pair needs two")
    total = np.sum(vectors, axis=0)
    return float(np.clip((total @ total - n) / (n * (n - 1)), -1.0, 1.0))


def cluster_sizes(vectors: Sequence[Floats], distance: float) -> list[int]:
    """The sizes of the clusters of `vectors`, the largest first.

    Clusters are joined while the mean of the cosine distances between their members is at most `distance`: average
    linkage, or UPGMA (Sokal & Michener 1958).
    """
    if len(vectors) < 2:
        return [1] * len(vectors)
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import pdist

    # Rounding may leave the distance of equal vectors a hair below 0, which linkage refuses.
    distances = np.clip(pdist(np.asarray(vectors), metric="cosine"), 0.0, None)
    labels = fcluster(linkage(distances, method="average"), t=distance, criterion="distance")
    return sorted(Counter(labels.tolist()).values(), reverse=True)
