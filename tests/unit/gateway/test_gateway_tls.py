"""Servers behind TLS: which certificates are believed, and what is said when one is not."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from certificates import Signed, authority, server_context, signed_by
from gateway_rig import ask, echo, gateway, upstream

from chaosgate.errors import UsageError
from chaosgate.gateway.tls import UpstreamTls, client_context


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tls")


@pytest.fixture(scope="module")
def issuer(folder: Path) -> Signed:
    return authority(folder)


@pytest.fixture(scope="module")
def own(issuer: Signed, folder: Path) -> Signed:
    """The server's own certificate."""
    return signed_by(issuer, folder, "server")


async def refusal(url: str, **tls: object) -> str:
    """What the client is told of a server that cannot be used."""
    async with gateway(url, tls=tls) as served:
        status, body = await ask(served.url)
        assert status == 502
        return str(json.loads(body)["error"]["message"])


async def test_a_server_whose_authority_is_named_is_used(issuer: Signed, own: Signed) -> None:
    async with (
        upstream(echo, server_context(own)) as url,
        gateway(url, tls={"caFile": str(issuer.certificate)}) as served,
    ):
        assert await ask(served.url, b"hello") == (200, b"hello")


async def test_a_server_whom_nobody_knows_is_refused_with_the_way_out(own: Signed) -> None:
    async with upstream(echo, server_context(own)) as url:
        assert await refusal(url) == (
            f"upstream {url} did not answer: its certificate is not believed (unable to get local issuer certificate); "
            "name the authority that signed it in tls.caFile, or believe any certificate with tls.insecure"
        )


async def test_another_authority_of_the_same_name_does_not_do(folder: Path, own: Signed) -> None:
    (folder / "other").mkdir()
    other = authority(folder / "other")
    async with upstream(echo, server_context(own)) as url:
        assert "its certificate is not believed" in await refusal(url, caFile=str(other.certificate))


async def test_a_certificate_for_another_host_is_refused(folder: Path, issuer: Signed) -> None:
    stray = signed_by(issuer, folder, "stray", "DNS:elsewhere.example")
    async with upstream(echo, server_context(stray)) as url:
        message = await refusal(url, caFile=str(issuer.certificate))
        assert "not believed (IP address mismatch, certificate is not valid for '127.0.0.1')" in message


async def test_insecure_believes_anybody(folder: Path, issuer: Signed) -> None:
    stray = signed_by(issuer, folder, "stray2", "DNS:elsewhere.example")
    async with upstream(echo, server_context(stray)) as url, gateway(url, tls={"insecure": True}) as served:
        assert await ask(served.url, b"hello") == (200, b"hello")


async def test_a_server_that_wants_a_certificate_gets_the_gateways(folder: Path, issuer: Signed, own: Signed) -> None:
    client = signed_by(issuer, folder, "client")
    shown = {"caFile": str(issuer.certificate), "certFile": str(client.certificate), "keyFile": str(client.key)}
    async with upstream(echo, server_context(own, issuer)) as url:
        async with gateway(url, tls=shown) as served:
            assert await ask(served.url, b"hello") == (200, b"hello")
        message = await refusal(url, caFile=str(issuer.certificate))
        assert message.endswith("; one that wants to see a certificate is shown tls.certFile")


async def test_https_to_a_server_without_tls_says_so() -> None:
    async with upstream() as url:
        https = url.replace("http", "https", 1)
        message = await refusal(https)
        assert message.startswith(f"upstream {https} did not answer: TLS failed (")
        assert "check that it speaks TLS at this port, or write http://" in message


def test_files_that_cannot_be_used_are_named(tmp_path: Path, own: Signed, issuer: Signed) -> None:
    (tmp_path / "text").write_text("no certificate")
    for tls, words in (
        ({"ca_file": tmp_path / "none"}, f"{tmp_path}/none: cannot be read: No such file or directory"),
        ({"ca_file": tmp_path / "text"}, f"{tmp_path}/text: holds no certificates in PEM form"),
        ({"cert_file": tmp_path / "none"}, f"{tmp_path}/none: cannot be read: No such file or directory"),
        ({"cert_file": tmp_path / "text"}, f"{tmp_path}/text: is no PEM"),
        (
            {"cert_file": own.certificate, "key_file": issuer.key},
            f"{own.certificate} with {issuer.key}: the key is not that of the certificate",
        ),
    ):
        with pytest.raises(UsageError) as refused:
            client_context(UpstreamTls(**tls))
        assert str(refused.value).startswith(words)


def test_a_key_with_a_password_is_refused_without_asking(tmp_path: Path, own: Signed) -> None:
    locked = tmp_path / "locked.key"
    words = ["openssl", "pkcs8", "-topk8", "-in", own.key, "-out", locked, "-passout", "pass:secret"]
    subprocess.run(words, check=True, capture_output=True)

    with pytest.raises(UsageError, match=r"locked.key: the key wants a password; write it without one"):
        client_context(UpstreamTls(cert_file=own.certificate, key_file=locked))


@pytest.mark.parametrize(
    ("tls", "words"),
    [
        ({"insecure": True, "ca_file": "x"}, "`insecure` believes every certificate, so `caFile` has no effect"),
        ({"key_file": "x"}, "`keyFile` is the key of `certFile`; name that too"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(tls: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        UpstreamTls.model_validate(tls)
