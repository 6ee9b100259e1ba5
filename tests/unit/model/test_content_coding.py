"""Which bodies come as they are."""

from __future__ import annotations

import pytest

from chaosgate.model.content_coding import content_coding


@pytest.mark.parametrize(
    ("values", "coding"),
    [
        ((), None),
        (("identity",), None),
        ((" Identity , ",), None),
        (("gzip",), "gzip"),
        (("deflate, GZIP",), "deflate, GZIP"),
        (("identity", "br"), "br"),
    ],
)
def test_identity_is_no_coding(values: tuple[str, ...], coding: str | None) -> None:
    assert content_coding(values) == coding
