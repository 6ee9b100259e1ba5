"""The numbers that faults draw for arrays: their distribution, and that nothing but key and number decides on them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from chaosgate.draws import Draw
from chaosgate.model.counter_noise import key_of, normals, uniforms

KEYS = st.integers(0, 2**53 - 1)
MANY = np.zeros(400_000)


def test_uniforms_are_uniform_and_never_0_or_1() -> None:
    found = uniforms(MANY, 400_000, 5)
    assert stats.kstest(found, "uniform").pvalue > 0.001
    assert 0 < found.min() < found.max() < 1


@pytest.mark.parametrize("key", [0, 1, 2**32, 2**53 - 1])
def test_normals_are_standard_normal(key: int) -> None:
    found = normals(MANY, key)
    assert stats.kstest(found, "norm").pvalue > 0.001
    assert abs(found.mean()) < 4 / np.sqrt(found.size)
    assert found.std() == pytest.approx(1, abs=4 / np.sqrt(2 * found.size))


@pytest.mark.parametrize("lag", [1, 2, 3, 32, 64, 128, 1000])
def test_neighbours_are_independent(lag: int) -> None:
    found = normals(MANY, 77)
    for one, other in ((found, found), (abs(found), abs(found))):
        assert abs(np.corrcoef(one[:-lag], other[lag:])[0, 1]) < 4.5 / np.sqrt(found.size)


@pytest.mark.parametrize("keys", [range(1000), [number << 32 for number in range(1000)], range(0, 2**50, 2**40)])
def test_streams_of_neighbouring_keys_are_independent(keys: range | list[int]) -> None:
    streams = np.array([normals(np.zeros(256), key) for key in keys])
    correlation = np.corrcoef(streams[:-1].ravel(), streams[1:].ravel())[0, 1]
    assert abs(correlation) < 4.5 / np.sqrt(streams[1:].size)
    assert streams.mean(axis=1).std() == pytest.approx(1 / 16, rel=4 / np.sqrt(2 * len(streams)))


def test_a_stream_goes_on_beyond_32_bits() -> None:
    near, far = uniforms(MANY, 1000, 3, 0), uniforms(MANY, 1000, 3, 2**32)
    assert abs(np.corrcoef(near, far)[0, 1]) < 4.5 / np.sqrt(1000)


@given(KEYS, st.integers(0, 2**40), st.integers(0, 40), st.integers(0, 40))
def test_an_array_in_parts_gets_the_same_numbers(key: int, first: int, one: int, other: int) -> None:
    whole = normals(np.zeros(one + other), key, first)
    parts = normals(np.zeros(one), key, first), normals(np.zeros(other), key, first + one)
    assert np.array_equal(np.concatenate(parts), whole)
    both = uniforms(MANY, one, key, first), uniforms(MANY, other, key, first + one)
    assert np.array_equal(np.concatenate(both), uniforms(MANY, one + other, key, first))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_shape_and_type_are_those_of_the_array(dtype: type) -> None:
    found = normals(np.zeros((3, 2, 5), dtype), 1)
    assert (found.shape, found.dtype) == ((3, 2, 5), dtype)


def test_a_key_depends_on_every_word_of_a_draw() -> None:
    words = [Draw(seed, fault, request) for seed, fault, request in itertools.product((1, 2), ("a", "b"), ("x", "y"))]
    keys = [key_of(draw, site) for draw in words for site in ("noise", "position")]
    assert len(set(keys)) == 16
    assert all(0 <= key < 2**53 for key in keys)


def test_the_array_api_alone_is_enough() -> None:
    strict = pytest.importorskip("array_api_strict")
    for shape in ((7,), (5, 3), (4, 2, 8)):
        given_, like = np.zeros(shape, np.float32), strict.zeros(shape, dtype=strict.float32)
        assert np.array_equal(np.asarray(normals(like, 12345, 3)), normals(given_, 12345, 3))


def test_torch_gives_the_same_bits() -> None:
    torch = pytest.importorskip("torch")
    found = normals(torch.zeros((100, 128)), 987654321, 11)
    assert found.dtype == torch.float32
    assert np.array_equal(found.numpy(), normals(np.zeros((100, 128), np.float32), 987654321, 11))
    assert np.array_equal(uniforms(found, 1000, 7, 5).numpy(), uniforms(MANY, 1000, 7, 5))
