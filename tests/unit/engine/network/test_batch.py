from __future__ import annotations

import numpy as np

from chaosgate.engine.network.adapters import Adapter
from chaosgate.engine.network.attention import KVPool
from chaosgate.engine.network.batch import Batch, whole
from chaosgate.engine.network.config import ModelConfig


def test_a_text_takes_the_first_blocks(config: ModelConfig) -> None:
    batch = whole(KVPool(config, 20, 16), [5] * 40)
    assert batch.tables.tolist() == [[0, 1, 2, 20, 20, 20, 20, 20]]
    assert batch.positions.tolist() == list(range(40))
    assert (batch.rows(0), batch.singles) == (slice(0, 40), 0)


def test_rows_are_gathered_by_adapter() -> None:
    one, other = Adapter("one", 1, 1.0, ()), Adapter("other", 1, 1.0, ())
    none = np.zeros(0, np.int64)
    batch = Batch(none, none, none, (0, 1, 2, 3, 6), 3, (one, None, other, one))
    assert list(batch.adapted()) == [([0, 3, 4, 5], one), ([2], other)]
    assert list(Batch(none, none, none, (0, 1), 1).adapted()) == []
