"""Whom a fault may touch: the part of a fault that looks at a request and says yes or no."""

from __future__ import annotations

import re

from pydantic import field_validator

from chaosgate.model.baggage import TOKEN
from chaosgate.model.base import Frozen
from chaosgate.model.request_facts import RequestFacts
from chaosgate.units import Share

_NO_PATH = re.compile(r"[?#*]")
"""What would never be in a path that a request has: its query stands apart, and nothing is a pattern here."""
_SECRET = frozenset(("authorization", "proxy-authorization", "cookie", "api-key", "x-api-key"))
"""Headers whose values are secrets: a spec is kept, shown and sent around."""


class Select(Frozen):
    """Which requests a fault may touch: those of which everything holds that is written here."""

    share: Share = 1.0
    """The share of requests, drawn by request id; the draw does not depend on the dose."""
    path: str | None = None
    """The exact URL path, such as /v1/chat/completions."""
    model: str | None = None
    """The exact `model` that is asked."""
    tenant: str | None = None
    """Who asks: the exact `user` of the body, which OpenAI's API has for that."""
    stream: bool | None = None
    """Whether the answer is asked for as a stream."""
    header: dict[str, str] = {}
    """Headers with their exact values, all of them. A name's letters may be large or small; a value's may not."""
    opt_in: bool = False
    """Only requests that ask for it: `X-Chaos-Mode` with the fault's name or `on`, or the baggage `llm.mesh.noise`."""

    @field_validator("path")
    @classmethod
    def _one_path(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith("/"):
            raise ValueError(f"read {value!r}; a path starts with `/`, such as /v1/chat/completions")
        if value is not None and (stray := _NO_PATH.search(value)):
            raise ValueError(
                f"read {value!r}; a path is compared as a whole, without query or wildcards; leave {stray[0]} out"
            )
        return value

    @field_validator("header")
    @classmethod
    def _names_of_headers(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value:
            if not re.fullmatch(TOKEN, name):
                raise ValueError(f"read the header name {name!r}; write one without spaces or colons, such as X-Team")
            if name.lower() in _SECRET:
                raise ValueError(f"read the header {name!r}, which holds a secret; select by a header that has none")
        return value

    def matches(self, facts: RequestFacts) -> bool:
        """Whether such a request may be touched at all, before the opt-in is asked for and the share is drawn.

        A body that is no JSON object, or was not read, matches no model, tenant or stream.
        """
        return (
            self.path in (None, facts.path)
            and all(facts.header(name) == value for name, value in self.header.items())
            and (not self.reads_body() or (facts.body is not None and self._matches_body(facts)))
        )

    def reads_body(self) -> bool:
        """Whether a request's body has to be read before anybody can say whether it matches."""
        return (self.model, self.tenant, self.stream) != (None, None, None)

    def describe(self) -> str:
        """What is asked of a request besides the share, in words that follow `requests`; empty where nothing is."""
        words = [f"to {self.path}"] if self.path is not None else []
        words += [f"for the model {self.model}"] if self.model is not None else []
        words += [f"of the tenant {self.tenant}"] if self.tenant is not None else []
        words += [f"that are {'' if self.stream else 'not '}streamed"] if self.stream is not None else []
        words += [f"with the header {name}: {value}" for name, value in self.header.items()]
        words += ["that ask for it (optIn)"] if self.opt_in else []
        return " ".join(words)

    def _matches_body(self, facts: RequestFacts) -> bool:
        return (
            self.model in (None, facts.model)
            and self.tenant in (None, facts.tenant)
            and self.stream in (None, facts.stream)
        )
