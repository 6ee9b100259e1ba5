"""Which headers pass the gateway: all but those that concern one connection, and the gateway's own, either way.

Of those that pass only a Location that would lead past the gateway is changed.
"""

from __future__ import annotations

from collections.abc import Iterable

from aiohttp import HttpVersion, HttpVersion11, hdrs
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


def lead_back(headers: CIMultiDict[str], servers: Iterable[str]) -> None:
    """Make a Location at one of the base URLs `servers` a path: who follows it must not go past the gateway."""
    url = headers.get(hdrs.LOCATION, "")
    if (path := next(filter(None, (_path_below(server, url) for server in servers)), None)) is not None:
        headers[hdrs.LOCATION] = path


def unclear_framing(version: HttpVersion, headers: CIMultiDictProxy[str]) -> str | None:
    """In words why nobody can be sure where the request's body ends; None where it is clear.

    RFC 9112, 6.1 and 6.3: two servers that disagree on that can be made to see different requests (request smuggling).
    The parser has refused Content-Length beside Transfer-Encoding and malformed chunks before.
    """
    codings = headers.getall(hdrs.TRANSFER_ENCODING, ())
    if codings and version < HttpVersion11:
        return f"Transfer-Encoding: HTTP/{version.major}.{version.minor} has none; send Content-Length, or use HTTP/1.1"
    if any(coding.strip().lower() != "chunked" for coding in codings) or len(codings) > 1:
        return f"Transfer-Encoding: read {', '.join(codings)[:100]!r}; the only one allowed is chunked"
    return None


def _path_below(server: str, url: str) -> str | None:
    """The path of a `url` at `server`, as the gateway's client would ask for it; None for every other URL."""
    rest = url.removeprefix(server)
    if not url.startswith(server) or rest[:1] not in ("", "/", "?", "#"):
        return None
    # Two slashes at the start would name a host (RFC 3986, 4.2).
    return f"/{rest.lstrip('/')}"


def _passed(headers: CIMultiDictProxy[str], dropped: frozenset[str]) -> CIMultiDict[str]:
    # Every request and response comes through here; one list is cheaper than generators of pairs.
    kept = []
    for pair in headers.items():
        name = pair[0].lower()
        if name not in dropped and not name.startswith(OWN_PREFIX):
            kept.append(pair)
    return CIMultiDict(kept)


def _of_this_connection(headers: CIMultiDictProxy[str]) -> frozenset[str]:
    """Names of the headers that end here: the fixed ones and those that `Connection` lists."""
    listed = headers.getall(hdrs.CONNECTION, ())
    if not listed:
        return _HOP_BY_HOP
    return _HOP_BY_HOP | {name.strip().lower() for line in listed for name in line.split(",")}
