"""The ledger as a file that grows while the gateway serves: NDJSON, a row a fault and request."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import TracebackType

from chaosgate.errors import UsageError
from chaosgate.model.observation import LedgerRow


class LedgerFile:
    """Writes rows to `path`, which is begun anew. The first one that cannot be written sets `broken`, and is the last.

    A UsageError says on entering that the file cannot be begun, on leaving that it is not whole.
    """

    def __init__(self, path: Path, broken: asyncio.Event) -> None:
        self._path = path
        self._broken = broken
        self._error: OSError | None = None

    def __enter__(self) -> LedgerFile:
        try:
            # Unbuffered: a gateway that is killed leaves whole rows of all requests but those under way.
            self._file = self._path.open("wb", buffering=0)
        except OSError as error:
            raise self._refusal(error) from error
        return self

    def write(self, row: LedgerRow) -> None:
        """Append one row."""
        if self._error is not None:
            return
        try:
            self._file.write(row.model_dump_json().encode() + b"\n")
        except OSError as error:
            self._error = error
            self._broken.set()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        if self._error is not None:
            raise self._refusal(self._error) from self._error

    def _refusal(self, error: OSError) -> UsageError:
        cause = (error.strerror or str(error)).lower()
        return UsageError(f"--ledger {self._path}: cannot be written: {cause}; make room or name another file")
