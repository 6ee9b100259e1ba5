"""The usage figures of an answer, as far as anybody here reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MAX_TOKENS = 2**53
"""A larger count is none: no answer is so long, and JSON's numbers have no end, those that are computed with do."""


def completion_tokens(chunk: Mapping[str, Any]) -> int | None:
    """How many tokens the `usage` of an answer, or of an event, claims for it; None where it has no such count."""
    return _count(chunk, "completion_tokens")


def prompt_tokens(chunk: Mapping[str, Any]) -> int | None:
    """How many tokens the same figures claim for the prompt; None where they have no such count."""
    return _count(chunk, "prompt_tokens")


def _count(chunk: Mapping[str, Any], key: str) -> int | None:
    usage = chunk.get("usage")
    tokens = usage.get(key) if isinstance(usage, Mapping) else None
    return tokens if type(tokens) is int and 0 <= tokens <= MAX_TOKENS else None
