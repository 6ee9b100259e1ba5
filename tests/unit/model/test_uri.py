"""Addresses: no password is ever shown, and what cannot be taken apart is known before anyone tries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.model.uri import has_password, hide_password, why_malformed, without_password


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("http://me:secret@mlflow:5000/x", "http://me:***@mlflow:5000/x"),
        ("HTTPS://me:secret@mlflow", "HTTPS://me:***@mlflow"),
        ("http://:secret@mlflow", "http://:***@mlflow"),
        ("postgresql+psycopg2://me:secret@db:5432/x", "postgresql+psycopg2://me:***@db:5432/x"),
        ("postgresql://me:se/cr#e?t@db/x", "postgresql://me:***@db/x"),
        ("postgresql://me:se@cret@db/x", "postgresql://me:***@db/x"),
        ("postgresql://db/x?user=me&password=secret", "postgresql://db/x?user=me&password=***"),
        ("postgresql://mlflow:mlflow@mlflow/mlflow", "postgresql://mlflow:***@mlflow/mlflow"),
        ("http://me:secret@[x", "http://me:***@[x"),
    ],
)
def test_a_password_is_never_shown(uri: str, shown: str) -> None:
    assert without_password(uri) == shown
    assert has_password(uri)


@pytest.mark.parametrize(
    "uri",
    [
        "http://mlflow:5000",
        "http://mlflow:5000/models@prod",
        "http://me@mlflow:5000",
        "postgresql://me@db:5432/x",
        "sqlite:////data/a:b@c.db",
        "sqlite:///mlflow.db",
        "mlruns",
        "http://[::1]:5000",
    ],
)
def test_an_address_without_a_password_stays_as_it_is(uri: str) -> None:
    assert without_password(uri) == uri
    assert not has_password(uri)
    assert why_malformed(uri) is None


def test_a_masked_password_is_one_that_was_to_be_replaced() -> None:
    assert has_password("http://me:***@mlflow")


def test_what_others_write_about_an_address_holds_no_password() -> None:
    uri = "postgresql://me:s3cret@db/x"
    said = f"cannot open {uri} (postgresql+psycopg2://me:s3cret@db/x, password='s3cret')"
    assert hide_password(said, uri) == (
        "cannot open postgresql://me:***@db/x (postgresql+psycopg2://me:***@db/x, password='***')"
    )


@pytest.mark.parametrize(
    ("uri", "cause"),
    [
        ("http://[x", "its brackets hold no IPv6 address"),
        ("postgresql://h:abc/db", "its port is no number from 0 to 65535; a `/` in a password is written %2F"),
        ("http://h:65536", "its port is no number from 0 to 65535; a `/` in a password is written %2F"),
        ("http://h\x1b[2J", "it holds characters that cannot be printed"),
    ],
)
def test_a_malformed_address_is_known_by_its_cause(uri: str, cause: str) -> None:
    assert why_malformed(uri) == cause


@given(st.text(), st.sampled_from(["", "http://", "postgresql://me:"]))
def test_no_text_is_too_odd_to_be_looked_at(text: str, scheme: str) -> None:
    uri = scheme + text
    # Masking is final: what is masked once has nothing left to mask.
    assert without_password(without_password(uri)) == without_password(uri)
    assert why_malformed(uri) != ""
