"""What every part of the forward pass computes with."""

from __future__ import annotations

import numpy as np

from chaosgate.engine.network.stored import Array


def rowwise(x: Array, weight: Array) -> Array:
    """`x @ weight`, one product a row.

    A BLAS picks its kernel, and with it the order of summation, by the shape of a product. With one shape for every row
    its result is the same alone and in any batch, so that greedy text is the same at any concurrency. At this size it
    is no slower than one product over all rows.
    """
    product: Array = np.matmul(x[:, None], weight)
    return product[:, 0]


def rms_norm(x: Array, scale: Array, eps: float) -> Array:
    """Each row divided by its root mean square, times `scale` (arXiv 1910.07467)."""
    mean = np.vecdot(x, x) * np.float32(1 / x.shape[-1])
    return np.asarray(x * (1 / np.sqrt(mean + np.float32(eps)))[:, None] * scale)
