"""What the gateway itself answers."""

from __future__ import annotations

import json

import pytest

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
