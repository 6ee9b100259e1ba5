"""Writing a file whole or not at all, and reading one with an error that says what to do."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from chaosgate.errors import ArtifactError

MAX_BYTES = 1 << 30
"""The largest artifact that is read, in bytes: well above a day of observations, well below a laptop's memory."""


def write_whole(path: Path, data: bytes) -> None:
    """Write `data` so that `path` holds all of it or what it held before; an ArtifactError names folder and cause."""
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise unwritable(path, error) from error


def is_written(path: Path) -> bool:
    """Whether `path` holds anything. A component leaves a file that it had no content for empty."""
    return path.exists() and path.stat().st_size > 0


def unwritable(path: Path, error: OSError) -> ArtifactError:
    """The sentence for a file that cannot be written, with its cause and what to do."""
    in_the_way = isinstance(error, (FileExistsError, NotADirectoryError))
    cause = "a file stands where a folder is needed" if in_the_way else error.strerror or error
    return ArtifactError(
        f"{path}: cannot be written: {cause}; make room or choose another state directory with --state DIR"
    )


def read_whole(path: Path) -> bytes:
    """The bytes of `path`; an ArtifactError when it is missing, unreadable, empty or larger than MAX_BYTES."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise ArtifactError(f"{path}: has {size} bytes; at most {MAX_BYTES} are read")
        data = path.read_bytes()
    except OSError as error:
        raise ArtifactError(f"{path}: cannot be read: {error.strerror or error}") from error
    if not data:
        raise ArtifactError(f"{path}: is empty; the step that writes it did not finish")
    return data
