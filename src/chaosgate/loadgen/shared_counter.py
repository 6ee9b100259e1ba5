"""Numbers that several processes draw from, each number once and none left out."""

from __future__ import annotations

import fcntl
import os
import struct
import tempfile

_NUMBER = struct.Struct("=Q")


class SharedCounter:
    """Counts in a file that is open as `descriptor`, which a child inherits; the file's lock keeps two apart."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def next(self) -> int:
        """0, then 1, and so on, over all processes."""
        fcntl.lockf(self.descriptor, fcntl.LOCK_EX)
        try:
            read = os.pread(self.descriptor, _NUMBER.size, 0)
            number: int = _NUMBER.unpack(read)[0] if read else 0
            os.pwrite(self.descriptor, _NUMBER.pack(number + 1), 0)
        finally:
            fcntl.lockf(self.descriptor, fcntl.LOCK_UN)
        return number


class CounterFile:
    """The file of a counter, which has no name and is gone with the last process that has it open."""

    def __init__(self) -> None:
        # It stays open until `close`.
        self._file = tempfile.TemporaryFile()  # noqa: SIM115

    def counter(self) -> SharedCounter:
        """The counter, which begins at 0."""
        return SharedCounter(self._file.fileno())

    def close(self) -> None:
        """Close the file in this process."""
        self._file.close()
