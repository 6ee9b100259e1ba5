"""Which headers pass the gateway: all but those that concern one connection, and the gateway's own, either way."""

from __future__ import annotations

from collections.abc import Mapping

from multidict import CIMultiDict, CIMultiDictProxy

OWN_PREFIX = "x-chaosgate-"

# RFC 9110, 7.6.1, and what goes with them: trailers are not passed on, so neither is their announcement.
_HOP_BY_HOP = frozenset(
    ("connection", "proxy-connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade")
)
# The gateway itself answers `Expect: 100-continue`, and Host must name the server behind it.
_ANSWERED_HERE = frozenset(("expect", "host"))


def request_headers(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    """The client's headers as they go upstream: doubles, order and spelling are kept."""
    return _passed(headers, _of_this_connection(headers) | _ANSWERED_HERE)


def response_headers(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    """The server's headers as they go to the client: doubles, order and spelling are kept."""
    return _passed(headers, _of_this_connection(headers))


def _passed(headers: CIMultiDictProxy[str], dropped: frozenset[str]) -> CIMultiDict[str]:
    kept = ((name, value) for name, value in headers.items() if name.lower() not in dropped)
    return CIMultiDict((name, value) for name, value in kept if not name.lower().startswith(OWN_PREFIX))


def _of_this_connection(headers: Mapping[str, str]) -> frozenset[str]:
    """Names of the headers that end here: the fixed ones and those that `Connection` lists."""
    listed = headers.get("Connection")
    if listed is None:
        return _HOP_BY_HOP
    return _HOP_BY_HOP | {name.strip().lower() for name in listed.split(",")}
