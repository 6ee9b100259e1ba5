"""The text of a file that a user gives."""

from __future__ import annotations

from chaosgate.errors import UsageError


def utf8_text(data: bytes, file: str) -> str:
    """`data` as UTF-8, without the mark that some editors put first; a UsageError names `file` and the wrong byte."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: byte {error.start} is no UTF-8; save the file as UTF-8") from error
