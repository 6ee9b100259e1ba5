"""Many questions to one run: what a chance finding among them costs.

A run passes when every objective is shown to hold. That is an intersection-union test: who passes a subject that breaks
one objective has been wrong about that one, so that each may be tested at the full level (Berger, Technometrics 24,
1982). A run fails when any objective is shown to be broken. That is a union: each further objective is a further chance
to be wrong, and the probabilities are adjusted after Holm.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(probabilities: Sequence[float]) -> list[float]:
    """`probabilities` adjusted for their number, in their order: one below a level is below it with all the others.

    Holm, Scandinavian Journal of Statistics 6 (1979): the smallest is multiplied by their number, the next by one less,
    and none may become smaller than one before it. No assumption is made on how they depend on one another.
    """
    order = np.argsort(probabilities, kind="stable")
    factors = np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(np.asarray(probabilities, dtype=float)[order] * factors), 1.0)
    return [float(each) for each in adjusted]
