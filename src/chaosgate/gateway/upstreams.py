"""The servers behind the gateway: who is asked next, who is left alone for a while, and what is said of a failure."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Mapping, Sequence

import aiohttp

from chaosgate.gateway.clock import Clock
from chaosgate.prometheus import family, label, sample

FIRST_COOL_DOWN = 1.0
"""Seconds for which a server is asked last after it could not be connected to; each further failure doubles them."""
LONGEST_COOL_DOWN = 30.0
"""The most seconds, as Envoy's `base_ejection_time`: a server that comes back is found within half a minute."""

NOT_CONNECTED = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
"""What aiohttp raises before a byte of the request was sent, so that another server may be asked."""


class Server:
    """One server: its base URL and how it does."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.requests = 0
        """Requests that it was sent."""
        self.failures = 0
        """Connections that could not be made."""
        self.failed_in_a_row = 0
        self.out_until = 0.0
        """When its cool-down ends, on the gateway's clock."""


class Upstreams:
    """The servers of a gateway. One that could not be connected to is asked after all others until it has cooled down.

    `variants` are servers that a request may ask for by name; each stands for itself.
    """

    def __init__(self, clock: Clock, default: Sequence[str], variants: Mapping[str, str] | None = None) -> None:
        self._clock = clock
        servers = {url: Server(url) for url in (*default, *(variants or {}).values())}
        self._default = [servers[url] for url in dict.fromkeys(default)]
        self._variants = {name: servers[url] for name, url in (variants or {}).items()}
        self._turn = 0

    @property
    def all(self) -> list[Server]:
        """Every server once, those of variants last."""
        return list(dict.fromkeys((*self._default, *self._variants.values())))

    def choose(self, variant: str | None = None) -> list[Server]:
        """The servers to try for one request, in this order: those that are well in turn, then the others.

        A known `variant` has one server; a name that is none has the default ones.
        """
        if variant in self._variants:
            return [self._variants[variant]]
        turn, self._turn = self._turn, (self._turn + 1) % len(self._default)
        in_turn = self._default[turn:] + self._default[:turn]
        return sorted(in_turn, key=self._left_to_cool)

    def connected(self, server: Server) -> None:
        """A request was sent to `server`: it is well."""
        server.requests += 1
        self.recovered(server)

    def recovered(self, server: Server) -> None:
        """`server` can be reached: it is asked in turn."""
        server.failed_in_a_row = 0
        server.out_until = 0.0

    def failed(self, server: Server) -> None:
        """`server` could not be connected to, or did not pass its health check."""
        cool_down = min(FIRST_COOL_DOWN * 2.0 ** min(server.failed_in_a_row, 16), LONGEST_COOL_DOWN)
        server.failures += 1
        server.failed_in_a_row += 1
        server.out_until = self._clock.now() + cool_down

    def well(self, server: Server) -> bool:
        """Whether `server` is asked in turn."""
        return self._left_to_cool(server) == 0

    def render(self) -> str:
        """The servers' metrics as Prometheus text."""
        return (
            self._family("requests_total", "counter", "Requests sent, by server.", lambda server: server.requests)
            + self._family("failures_total", "counter", "Connections that failed, by server.", lambda one: one.failures)
            + self._family("up", "gauge", "1: asked in turn; 0: cools down after a failure.", self.well)
        )

    def _family(self, end: str, kind: str, text: str, value: Callable[[Server], int]) -> str:
        name = f"chaosgate_gateway_upstream_{end}"
        return family(name, kind, text, [sample(name, label("upstream", one.url), int(value(one))) for one in self.all])

    def _left_to_cool(self, server: Server) -> float:
        return max(0.0, server.out_until - self._clock.now())


class UpstreamFailure(Exception):
    """No server answered; the text says which and why, `status` is what the client gets: 502, or 504 after a wait."""

    def __init__(self, tried: Sequence[tuple[Server, Exception]]) -> None:
        reasons = [f"upstream {server.url} did not answer: {cause_of(error)}" for server, error in tried]
        super().__init__(f"{'; '.join(reasons)}; {_what_to_do(*tried[-1])}")
        self.status = 504 if isinstance(tried[-1][1], TimeoutError) else 502


def cause_of(error: Exception) -> str:
    """Why a server did not answer, in a few words."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return _certificate_cause(error.certificate_error)
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return "it did not accept a connection in time"
    if isinstance(error, TimeoutError):
        return "its response did not begin in time"
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, ssl.SSLError):
        return f"TLS failed ({(cause.reason or str(cause)).lower().replace('_', ' ')})"
    number = cause.errno if isinstance(cause, OSError) else None
    # Name look-ups fail with negative numbers that strerror does not know.
    return os.strerror(number).lower() if number and number > 0 else str(cause) or type(cause).__name__


_OWN_CERTIFICATE = "one that wants to see a certificate is shown tls.certFile"


def _certificate_cause(error: Exception) -> str:
    reason = error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else str(error)
    return f"its certificate is not believed ({reason.rstrip('.')})"


def _what_to_do(server: Server, error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return "name the authority that signed it in tls.caFile, or believe any certificate with tls.insecure"
    if isinstance(error, aiohttp.ClientConnectorError) and isinstance(error.os_error, ssl.SSLError):
        return f"check that it speaks TLS at this port, or write http://; {_OWN_CERTIFICATE}"
    if isinstance(error, TimeoutError):
        return "check that the server is not overloaded, or allow more in `timeouts`"
    # A server that misses the gateway's certificate may just reset the connection.
    return "check that the server runs" + (f"; {_OWN_CERTIFICATE}" if server.url.startswith("https:") else "")
