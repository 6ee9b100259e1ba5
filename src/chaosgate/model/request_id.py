"""How a request is named: `<seed>.<phase>.<number>`, given by the client and carried to the gateway in a header."""

from __future__ import annotations

REQUEST_HEADER = "X-Chaosgate-Request"
SCHEDULED_HEADER = "X-Chaosgate-Scheduled"
"""When the request was due, in seconds from the start of its phase."""


def request_id(seed: int, phase: str, number: int) -> str:
    """The id of request `number`, counted from 0, of `phase`: its one name at client, gateway and in every file."""
    return f"{request_prefix(seed, phase)}{number}"


def request_prefix(seed: int, phase: str) -> str:
    """What the ids of all requests of `phase` begin with."""
    return f"{seed}.{phase}."


def request_number(name: str) -> int:
    """The number of the request called `name`, by which it stands in the sequence of its phase."""
    return int(name.rpartition(".")[2])
