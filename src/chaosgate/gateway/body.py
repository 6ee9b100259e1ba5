"""A request's body on its way upstream: passed on as it comes, or read whole where a fault wants to see it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from aiohttp import hdrs, web

from chaosgate.model.content_coding import content_coding
from chaosgate.model.prompt_text import PromptText, write_prompt

MAX_KEPT = 64 * 1024
"""Bytes of a body that are kept until its request ends; a longer one is not searched for its model's name."""
MAX_READ = 32 * 1024 * 1024
"""Bytes of a body that are read whole for a fault; a longer one passes as it comes, untouched by such faults."""
UNKNOWN_MODEL = "unknown"


class Body:
    """The body of `request`, read once."""

    def __init__(self, request: web.BaseRequest) -> None:
        self.exists = request.body_exists
        self._content = request.content
        self._sized = hdrs.CONTENT_LENGTH in request.headers
        self._packed = content_coding(request.headers.getall(hdrs.CONTENT_ENCODING, ())) is not None
        self._digest = hashlib.sha256()
        self._kept = bytearray()
        self._ahead: list[bytes] = []
        self._object: dict[str, Any] = {}
        self.size = 0
        """Bytes read so far."""
        self._whole = not self.exists
        self.replaced: bytes | None = None
        """What goes upstream in its place."""
        self._when_sent: Callable[[], None] | None = None

    def when_sent(self, call: Callable[[], None]) -> None:
        """Call `call` as soon as nothing is left to be sent; at once where there is no body."""
        self._when_sent = call if self.exists else None
        if not self.exists:
            call()

    def in_one_piece(self) -> bytes | None:
        """The body as bytes where it is short and is here: it goes out together with the head.

        None where it has not come yet, or where somebody wants to know when it is sent.
        """
        if self._when_sent is not None:
            return None
        if self.replaced is None and not self._ahead and self._has_come():
            data = self._content.read_nowait()
            self._count(data)
            self._whole, self.replaced = True, data
        return self.replaced if self.replaced is not None and len(self.replaced) <= MAX_KEPT else None

    def _has_come(self) -> bool:
        return self._sized and self._content.is_eof() and self._content.total_bytes <= MAX_KEPT

    async def chunks(self) -> AsyncIterator[bytes]:
        """The bytes as they go upstream, those that were read ahead first."""
        if self.replaced is not None:
            yield self.replaced
        else:
            ahead, self._ahead = self._ahead, []
            for chunk in ahead:
                yield chunk
            async for chunk in self._read():
                yield chunk
        if self._when_sent is not None:
            self._when_sent()

    async def read_object(self) -> Mapping[str, Any] | str:
        """The body as a JSON object, read whole; where it is none, in words why, for the ledger.

        Not more than MAX_READ bytes are held.
        """
        async for chunk in self._read():
            self._ahead.append(chunk)
            if self.size > MAX_READ:
                return "the body is too long"
        self._whole = True
        if self._packed:
            return "the body is compressed"
        data = _parsed(b"".join(self._ahead))
        if not isinstance(data, dict):
            return "the body is no JSON object"
        self._object = data
        return data

    def rewrite(self, prompt: PromptText) -> None:
        """Send the JSON object that was read with `prompt` in the place of its own."""
        text = _decoded(b"".join(self._ahead))
        self.replaced = write_prompt(text, self._object, prompt).encode(errors="surrogatepass")

    def keep(self) -> bool:
        """Keep the body so that it can be sent more than once; False where it was not read whole."""
        if self.exists and self._whole and self.replaced is None:
            self.replaced = b"".join(self._ahead)
        return self._whole

    async def drain(self) -> None:
        """Read what is left, so that the connection can carry the next request."""
        if self.exists:
            async for _ in self._read():
                pass

    def digest(self) -> str:
        """SHA-256 of what was read, in hex."""
        return self._digest.hexdigest()

    def model(self) -> str:
        """The `model` of a JSON body, `unknown` when it has none or is longer than MAX_KEPT."""
        if self.size > MAX_KEPT:
            return UNKNOWN_MODEL
        data = _parsed(self._kept)
        model = data.get("model") if isinstance(data, dict) else None
        return model if isinstance(model, str) else UNKNOWN_MODEL

    async def _read(self) -> AsyncIterator[bytes]:
        async for chunk in self._content.iter_any():
            self._count(chunk)
            yield chunk

    def _count(self, chunk: bytes) -> None:
        self.size += len(chunk)
        self._digest.update(chunk)
        if self.size <= MAX_KEPT:
            self._kept += chunk


def _decoded(body: bytes | bytearray) -> str:
    """The text of a JSON body, whose first bytes show its encoding; a ValueError where it is of none."""
    return body.decode(json.detect_encoding(body), "surrogatepass")


def _parsed(body: bytes | bytearray) -> Any:
    try:
        return json.loads(_decoded(body))
    except (ValueError, RecursionError):
        return None
