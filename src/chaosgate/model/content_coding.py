"""What the headers `Content-Encoding` of a body say: whether it can be read as it comes."""

from __future__ import annotations

from collections.abc import Iterable


def content_coding(values: Iterable[str]) -> str | None:
    """The codings that `values` of the header name, with commas between them; None where a body comes as it is.

    `identity` is none, and the case of letters means nothing (RFC 9110, 8.4.1 and 12.5.3).
    """
    named = (one.strip() for value in values for one in value.split(","))
    return ", ".join(one for one in named if one and one.lower() != "identity") or None
