"""What a request carries, and how its answer tells of it.

Apart from what arms a request, so that an engine without faults starts without loading them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from aiohttp import web

from chaosgate.errors import one_line
from chaosgate.model.fault_headers import CARRIED_HEADER, REFUSED_HEADER
from chaosgate.model.sites import Hooks


@dataclass(frozen=True)
class Armed:
    """The faults of one request: `hooks` carry them out, `refused` says why others are not."""

    hooks: Hooks | None = None
    refused: dict[str, str] = field(default_factory=dict)
    ran: set[str] = field(default_factory=set)
    """The faults whose transform has run so far."""

    def headers(self) -> Iterator[tuple[str, str]]:
        """What the answer says of them, as far as it is known when the answer begins.

        A stream begins after its first token: of a fault that raises later it says "carried", and ends with an error.
        """
        # A copy: the transforms of a request that still runs note theirs from another thread.
        refused = dict(self.refused)
        carried = sorted(self.ran - refused.keys())
        if carried:
            yield CARRIED_HEADER, ",".join(carried)
        for name, reason in refused.items():
            yield REFUSED_HEADER, f"{name}: {one_line(reason)}"


ARMED = web.RequestKey("armed", Armed)
"""Where a request keeps what it carries."""


async def tell(request: web.Request, response: web.StreamResponse) -> None:
    """A signal for when an answer begins: adds to its headers what became of the request's faults."""
    armed = request.get(ARMED)
    if armed is not None:
        response.headers.extend(armed.headers())
