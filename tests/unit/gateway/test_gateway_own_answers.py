"""What the gateway itself answers."""

from __future__ import annotations

import json

import pytest
from gateway_rig import gateway, raw, upstream

from chaosgate.gateway.own_answers import error_answer, json_answer


@pytest.mark.parametrize(
    ("status", "kind"), [(400, "invalid_request_error"), (413, "invalid_request_error"), (502, "gateway_error")]
)
def test_an_error_says_whose_it_is(status: int, kind: str) -> None:
    answer = error_answer(status, "too much", "a_code")
    error = {"message": "too much", "type": kind, "param": None, "code": "a_code"}
    assert (answer.status, json.loads(answer.body)) == (status, {"error": error})
    assert answer.headers["Content-Type"] == "application/json"


def test_headers_come_besides_or_in_the_place_of_its_own() -> None:
    answer = json_answer(200, {}, {"Retry-After": "3", "content-type": "application/problem+json"})
    assert dict(answer.headers) == {"content-type": "application/problem+json", "Retry-After": "3"}


def test_a_number_that_json_does_not_know_is_never_sent() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_answer(200, {"code": float("nan")})


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ("OPTIONS * HTTP/1.1", b"204 No Content", b""),
        ("CONNECT example.org:443 HTTP/1.1", b"405 Method Not Allowed", b"no forward proxy"),
    ],
)
async def test_what_names_no_path_is_answered_here(line: str, status: bytes, said: bytes) -> None:
    async with upstream() as url, gateway(url) as served:
        answer = await raw(served.url, f"{line}\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert said in answer
