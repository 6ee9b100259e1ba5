"""Files that a command writes where a person names them."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from chaosgate.errors import UsageError


def write_file(path: Path, text: str, option: str) -> None:
    """Write `text` so that `path` holds all of it or what it held before; a UsageError names `option` where it cannot.

    A link stays a link, and what is no regular file, such as /dev/stdout, is written to as it is.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
        else:
            _replace(Path(os.path.realpath(path)), text)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}; choose another with {option} FILE") from error


def _replace(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        # Created as the user's umask says, unlike the private files of a run.
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
