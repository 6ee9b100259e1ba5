"""Certificates for tests, made by the `openssl` command: an authority, and what it signs."""

from __future__ import annotations

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Signed:
    """A certificate and its key, both PEM files."""

    certificate: Path
    key: Path


def authority(folder: Path, name: str = "authority") -> Signed:
    """A certificate that may sign others."""
    made = Signed(folder / f"{name}.pem", folder / f"{name}.key")
    _openssl("req", "-x509", *_NEW_KEY, "-subj", f"/CN={name}", "-keyout", made.key, "-out", made.certificate)
    return made


def signed_by(issuer: Signed, folder: Path, name: str, host: str = "IP:127.0.0.1") -> Signed:
    """A certificate for `host` that `issuer` signed."""
    made = Signed(folder / f"{name}.pem", folder / f"{name}.key")
    signer = ("-CA", issuer.certificate, "-CAkey", issuer.key)
    extensions = ("-addext", f"subjectAltName={host}", "-addext", "basicConstraints=critical,CA:FALSE")
    _openssl(
        "req",
        "-x509",
        *_NEW_KEY,
        "-subj",
        f"/CN={name}",
        *signer,
        *extensions,
        "-keyout",
        made.key,
        "-out",
        made.certificate,
    )
    return made


def server_context(own: Signed, clients_of: Signed | None = None) -> ssl.SSLContext:
    """A server that shows `own`, and with `clients_of` wants a certificate that this authority signed."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(own.certificate, own.key)
    if clients_of is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients_of.certificate)
    return context


_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-days", "2")


def _openssl(*words: str | Path) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True)
