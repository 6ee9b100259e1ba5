"""byte-limit: a prompt that is too long is refused before the tokenizer sees it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from chaosgate.model.content_coding import content_coding
from chaosgate.model.filter import FILTERS, Asked, Filter, Refused


@FILTERS.register("byte-limit")
class ByteLimit(Filter):
    """A limit on the size of prompts, in bytes: what a tokenizer has to work through, however few characters it shows.

    Where a body has no prompt that can be read, such as one of another form, its own bytes are counted. A compressed
    body is refused, for its size says nothing of what it holds.
    """

    kind: Literal["byte-limit"]
    limit: Annotated[int, Field(ge=1)] = 128_000
    """The most bytes of all turns together, in UTF-8."""

    def check(self, asked: Asked) -> Refused | None:
        """413 for a prompt above the limit, 415 for a compressed body (RFC 9110, 15.5.14 and 15.5.16)."""
        coding = content_coding([asked.facts.header("Content-Encoding") or ""])
        if coding is not None:
            message = f"the body is compressed ({coding}), so that its prompt cannot be measured; send it as it is"
            return Refused(415, message, "compressed_body")
        size = _size(asked)
        if size <= self.limit:
            return None
        message = f"the prompt has {size:,} bytes, at most {self.limit:,} are allowed; shorten it"
        return Refused(413, message, "prompt_too_large")


def _size(asked: Asked) -> int:
    if asked.prompt is None:
        return asked.size
    return sum(len(turn.text.encode("utf-8", "replace")) for turn in asked.prompt.turns)
