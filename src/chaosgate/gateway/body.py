"""A request's body on its way upstream: passed on as it comes, digested, its beginning kept for the model's name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator

from aiohttp import web

MAX_KEPT = 64 * 1024
"""Bytes of a body that are kept until its request ends; a longer one is not searched for its model's name."""
UNKNOWN_MODEL = "unknown"


class Body:
    """The body of `request`, read once."""

    def __init__(self, request: web.Request) -> None:
        self.exists = request.body_exists
        self._content = request.content
        self._digest = hashlib.sha256()
        self._kept = bytearray()
        self._size = 0

    async def chunks(self) -> AsyncIterator[bytes]:
        """The bytes as they come from the client."""
        async for chunk in self._content.iter_any():
            self._size += len(chunk)
            self._digest.update(chunk)
            if self._size <= MAX_KEPT:
                self._kept += chunk
            yield chunk

    async def drain(self) -> None:
        """Read what is left, so that the connection can carry the next request."""
        if self.exists:
            async for _ in self.chunks():
                pass

    def digest(self) -> str:
        """SHA-256 of what was read, in hex."""
        return self._digest.hexdigest()

    def model(self) -> str:
        """The `model` of a JSON body, `unknown` when it has none or is longer than MAX_KEPT."""
        if self._size > MAX_KEPT:
            return UNKNOWN_MODEL
        try:
            data = json.loads(self._kept)
        except (ValueError, RecursionError):
            return UNKNOWN_MODEL
        model = data.get("model") if isinstance(data, dict) else None
        return model if isinstance(model, str) else UNKNOWN_MODEL
