"""Errors as OpenAI's API writes them, so that its clients read those of whoever stands in between, too."""

from __future__ import annotations

from typing import Any


def openai_error(message: str, kind: str, code: str | int | None = None, param: str | None = None) -> dict[str, Any]:
    """The body of an error: `kind` is its `type`, `param` the parameter of the request that is to blame."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}
