"""The name of a request, which its writer and its reader must agree on."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chaosgate.gateway.identity import RequestId, read_request_id
from chaosgate.model.request_id import request_id, request_prefix


@given(st.integers(-(10**18), 10**18), st.from_regex(r"[a-z0-9-]{1,63}", fullmatch=True), st.integers(0, 10**12 - 1))
def test_the_gateway_reads_what_the_client_writes(seed: int, phase: str, number: int) -> None:
    written = request_id(seed, phase, number)
    assert written == f"{request_prefix(seed, phase)}{number}"
    assert read_request_id([written], seed, [phase]) == RequestId(written, phase)
