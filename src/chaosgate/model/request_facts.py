"""What is known of a request before a fault touches it: what faults select by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from chaosgate.model.baggage import BAGGAGE_HEADER, Baggage, read_baggage


@dataclass(frozen=True)
class RequestFacts:
    """A request's path, headers and, where it was read, its body."""

    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    """By name, whatever the case of its letters: the gateway gives a multidict that does not mind."""
    body: Mapping[str, Any] | None = None
    """The JSON object that was sent; None where it was not read, or is none."""

    def header(self, name: str) -> str | None:
        """The value of a header, of several all with commas between them (RFC 9110, 5.2); None where there is none."""
        values = [value for key, value in self.headers.items() if key.lower() == name.lower()]
        return ", ".join(values) if values else None

    @cached_property
    def baggage(self) -> Baggage:
        """What its `baggage` header carries."""
        return read_baggage(self.header(BAGGAGE_HEADER))

    @property
    def model(self) -> str | None:
        """The model that is asked."""
        return self._text("model")

    @property
    def tenant(self) -> str | None:
        """Who asks: the body's `user`, which OpenAI's API has for that."""
        return self._text("user")

    @property
    def stream(self) -> bool:
        """Whether the answer is asked for as a stream."""
        return self.body is not None and self.body.get("stream") is True

    def _text(self, key: str) -> str | None:
        value = None if self.body is None else self.body.get(key)
        return value if isinstance(value, str) else None
