"""Which cached positions the rows of a batch read."""

from __future__ import annotations

import numpy as np

from chaosgate.engine.network import attention
from chaosgate.engine.network.attention import ROWS_AT_ONCE, TILE, KVPool, Scores
from chaosgate.engine.network.batch import Batch
from chaosgate.engine.network.sites import Tap
from chaosgate.engine.network.stored import Array, Ints


class Reading:
    """Attention of one batch over one pool; made once and used by every layer.

    `places` says where each row's own key and value belong.
    """

    def __init__(self, pool: KVPool, batch: Batch) -> None:
        self.pool = pool
        self._batch = batch
        size = pool.block_size
        owner = np.repeat(np.arange(len(batch.tables)), np.diff(batch.starts))
        self.places = batch.tables[owner, batch.positions // size] * size + batch.positions % size
        self._tables = batch.tables if batch.tap is None else _hooked_tables(batch.tap, batch, pool)
        if batch.singles:
            lengths = batch.positions[: batch.singles] + 1
            tiles = -(-int(lengths.max()) // TILE)
            self._mask = attention.mask(lengths, tiles)
            self._columns = tiles * TILE // size

    def attend(self, layer: int, query: Array) -> Array:
        """What the heads of every row read, in the shape of `query`."""
        batch, tap = self._batch, self._batch.tap
        # Whose scores are hooked is computed alone, which gives the same numbers.
        hooked = set() if tap is None else set(tap.on(f"layer.{layer}.attention.scores"))
        if len(query) == batch.singles and not hooked:
            return self._singles(layer, query)
        mixed = np.empty_like(query)
        if batch.singles:
            mixed[: batch.singles] = self._singles(layer, query[: batch.singles])
        for request in hooked.union(range(batch.singles, len(batch.tables))):
            self._request(layer, query, mixed, request, tap if request in hooked else None)
        return mixed

    def _singles(self, layer: int, query: Array) -> Array:
        keys, values = self.pool.read(layer, self._tables[: self._batch.singles, : self._columns])
        return attention.attend(query, keys, values, self._mask)

    def _request(self, layer: int, query: Array, mixed: Array, request: int, tap: Tap | None = None) -> None:
        rows = self._batch.rows(request)
        at_once = ROWS_AT_ONCE if tap is None else rows.stop - rows.start
        for start in range(rows.start, rows.stop, at_once):
            part = slice(start, min(start + at_once, rows.stop))
            lengths = self._batch.positions[part] + 1
            tiles = -(-int(lengths[-1]) // TILE)
            columns = tiles * TILE // self.pool.block_size
            keys, values = self.pool.read(layer, self._tables[request : request + 1, :columns])
            change = None if tap is None else _score_hook(tap, request, layer, int(lengths[-1]))
            mixed[part] = attention.attend(query[part], keys, values, attention.mask(lengths, tiles), change)


def _score_hook(tap: Tap, request: int, layer: int, positions: int) -> Scores:
    def change(scores: Array) -> Array:
        changed = scores.copy()
        seen = scores[:, :, :positions]
        site = f"layer.{layer}.attention.scores"
        changed[:, :, :positions] = tap.call(request, site, seen, layer, heads=len(scores))
        return changed

    return change


def _hooked_tables(tap: Tap, batch: Batch, pool: KVPool) -> Ints:
    """The tables as the hooks at `kv.blocks` want them read; where rows are written stays as it is."""
    tables = batch.tables
    for request in tap.on("kv.blocks"):
        used = int(batch.positions[batch.rows(request).stop - 1]) // pool.block_size + 1
        answer = tap.call(request, "kv.blocks", batch.tables[request, :used])
        wrong = answer[(answer < 0) | (answer >= pool.empty)]
        if wrong.size:
            tap.fail(request, f"the hook at kv.blocks gave block {wrong[0]}; the pool has blocks 0 to {pool.empty - 1}")
            continue
        tables = tables.copy() if tables is batch.tables else tables
        tables[request, :used] = answer
    return tables
