from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from chaosgate.engine.network.products import rms_norm, rowwise

RANDOM = np.random.default_rng(5)


def test_a_row_is_bit_equal_alone_and_among_others() -> None:
    x, weight = RANDOM.standard_normal((50, 128), dtype=np.float32), RANDOM.standard_normal((128, 96), dtype=np.float32)
    together = rowwise(x, weight)
    assert_allclose(together, x.astype(float) @ weight, atol=1e-4)
    for row in (0, 7, 49):
        assert_array_equal(rowwise(x[row : row + 1], weight)[0], together[row])
    assert_array_equal(rowwise(x[3:20], weight), together[3:20])


def test_rms_norm_gives_unit_mean_square_times_the_scale() -> None:
    x = 30 * RANDOM.standard_normal((8, 128), dtype=np.float32)
    assert_allclose((rms_norm(x, np.ones(128, np.float32), 1e-5) ** 2).mean(axis=1), 1, atol=1e-5)
    assert_allclose(rms_norm(x, np.full(128, 3, np.float32), 1e-5), 3 * rms_norm(x, np.ones(128, np.float32), 1e-5))
