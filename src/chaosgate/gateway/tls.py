"""TLS to the servers behind the gateway: whose certificates are believed, and the gateway's own."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, model_validator

from chaosgate.errors import UsageError
from chaosgate.model.base import Frozen


def _path(value: Any) -> Any:
    # A strict reader would take text for no path.
    return Path(value) if isinstance(value, str) else value


File = Annotated[Path, BeforeValidator(_path)]


class UpstreamTls(Frozen):
    """How an `https://` server is checked, and what the gateway shows it."""

    ca_file: File | None = None
    """PEM file of the authorities that are believed in place of the system's."""
    insecure: bool = False
    """Whether any certificate is believed, whoever signed it and whatever name it has."""
    cert_file: File | None = None
    """PEM file of the gateway's own certificate and its chain, for servers that want to see one."""
    key_file: File | None = None
    """PEM file of that certificate's private key; without it the key stands in `certFile` too."""

    @model_validator(mode="after")
    def _fits(self) -> UpstreamTls:
        if self.insecure and self.ca_file is not None:
            raise ValueError("`insecure` believes every certificate, so `caFile` has no effect; leave one of them out")
        if self.key_file is not None and self.cert_file is None:
            raise ValueError("`keyFile` is the key of `certFile`; name that too")
        return self


def client_context(tls: UpstreamTls) -> ssl.SSLContext:
    """The context for connections to the servers; a UsageError names the file that cannot be used and why."""
    context = _trusting(tls)
    if tls.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if tls.cert_file is not None:
        _show_own(context, tls.cert_file, tls.key_file)
    return context


def _trusting(tls: UpstreamTls) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=tls.ca_file)
    except ssl.SSLError as error:
        raise UsageError(
            f"{tls.ca_file}: holds no certificates in PEM form; name a file that does in caFile"
        ) from error
    except OSError as error:
        raise UsageError(
            f"{tls.ca_file}: cannot be read: {error.strerror}; name the authorities' file in caFile"
        ) from error


def _show_own(context: ssl.SSLContext, certificate: Path, key: Path | None) -> None:
    try:
        # A key behind a password would make OpenSSL ask for it at the terminal; the gateway has none.
        context.load_cert_chain(certificate, key, password=_no_password)
    except ValueError as error:
        raise UsageError(f"{key or certificate}: the key wants a password; write it without one") from error
    except ssl.SSLError as error:
        reason = "the key is not that of the certificate" if error.reason == "KEY_VALUES_MISMATCH" else "is no PEM"
        raise UsageError(
            f"{certificate}{'' if key is None else f' with {key}'}: {reason}; both are needed in PEM form"
        ) from error
    except OSError as error:
        raise UsageError(
            f"{certificate if key is None else f'{certificate} or {key}'}: cannot be read: {error.strerror}"
        ) from error


def _no_password() -> str:
    raise ValueError("no password")
