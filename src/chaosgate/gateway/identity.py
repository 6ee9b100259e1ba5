"""Who a request is: the id its client gave it, and the phase that the id names."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from chaosgate.model.blocks import BASELINE
from chaosgate.model.request_id import REQUEST_HEADER, request_id
from chaosgate.registry import unknown

ANONYMOUS = "anonymous"
"""The phase of requests that carry no id; a run's faults never touch them."""

_REQUEST = re.compile(r"(-?[0-9]{1,19})\.([a-z0-9-]{1,63})\.([0-9]{1,12})")


class BadRequestId(ValueError):
    """A request id that is malformed or of another run; the text says what was read and what is allowed."""


@dataclass(frozen=True)
class RequestId:
    """A request's id and its phase."""

    text: str
    phase: str


def read_request_id(values: Sequence[str], seed: int, phases: Collection[str]) -> RequestId | None:
    """The id in the header's `values`, None when the client sent none, BadRequestId when it cannot be of this run."""
    if not values:
        return None
    match = _REQUEST.fullmatch(values[0])
    if match is None or len(values) > 1:
        raise BadRequestId(
            f"{REQUEST_HEADER}: read {', '.join(values)[:100]!r}; "
            f"write one id of the form <seed>.<phase>.<number>, such as {request_id(seed, BASELINE, 17)}"
        )
    if match[1] != str(seed):
        raise BadRequestId(f"{REQUEST_HEADER}: read seed {match[1]}; this run's seed is {seed}")
    if match[2] not in phases:
        raise BadRequestId(f"{REQUEST_HEADER}: {unknown('phase', match[2], phases)}")
    return RequestId(values[0], match[2])


def anonymous_id(digest: str, occurrence: int) -> RequestId:
    """The id of a request without a name: SHA-256 of its body in hex, and how often that body came before."""
    return RequestId(f"{ANONYMOUS}.{digest[:12]}.{occurrence}", ANONYMOUS)
