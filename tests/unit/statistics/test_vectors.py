from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.statistics.arrays import Floats
from chaosgate.statistics.vectors import cluster_sizes, cosine, mean_pairwise_cosine


def at(degrees: float) -> Floats:
    """The vector of length 1 at an angle."""
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])


def test_the_cosine_of_an_angle() -> None:
    assert cosine(at(0), at(60)) == pytest.approx(0.5)
    assert cosine(at(0), at(180)) == -1


@given(st.integers(2, 20), st.integers(0, 2**32 - 1))
def test_the_mean_of_all_pairs_is_that_of_the_pairs_one_by_one(n: int, seed: int) -> None:
    drawn = np.random.default_rng(seed).normal(size=(n, 5))
    vectors = list(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))
    pairs = [float(one @ other) for one, other in itertools.combinations(vectors, 2)]
    assert mean_pairwise_cosine(vectors) == pytest.approx(float(np.mean(pairs)))


def test_one_vector_has_no_pair() -> None:
    with pytest.raises(ValueError, match="read 1 vectors; a pair needs two"):
        mean_pairwise_cosine([at(0)])


def test_vectors_within_the_distance_are_one_cluster() -> None:
    # The cosine distance between 0 and 30 degrees is 0.134, that to 90 degrees 1 and 0.5.
    assert cluster_sizes([at(0), at(90), at(30)], 0.3) == [2, 1]
    assert cluster_sizes([at(0), at(90), at(30)], 0.1) == [1, 1, 1]


def test_the_distance_to_a_cluster_is_the_mean_of_those_to_its_members() -> None:
    # 1 - cos 40 = 0.234 and 1 - cos 60 = 0.5: 0.367 on average, while the nearest and the farthest say otherwise.
    vectors = [at(0), at(20), at(60)]
    assert cluster_sizes(vectors, 0.36) == [2, 1]
    assert cluster_sizes(vectors, 0.37) == [3]


def test_equal_vectors_are_one_cluster_and_few_have_their_own() -> None:
    assert cluster_sizes([at(7)] * 5, 0.3) == [5]
    assert cluster_sizes([at(7)], 0.3) == [1]
    assert cluster_sizes([], 0.3) == []
