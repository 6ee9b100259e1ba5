"""Request ids: which are read, and the words with which the rest is refused."""

from __future__ import annotations

import pytest

from chaosgate.gateway.identity import BadRequestId, RequestId, anonymous_id, read_request_id

PHASES = {"baseline": (), "block1": ()}


def test_an_id_gives_its_phase() -> None:
    assert read_request_id(["7.block1.17"], 7, PHASES) == RequestId("7.block1.17", "block1")
    assert read_request_id(["-7.block1.0"], -7, PHASES) == RequestId("-7.block1.0", "block1")


def test_no_header_is_no_id() -> None:
    assert read_request_id([], 7, PHASES) is None


@pytest.mark.parametrize("text", ["", "7", "7.block1", "7.block1.", "7.block1.x", "7.block1.1 ", "x.block1.1", "7..1"])
def test_what_is_no_id_is_quoted(text: str) -> None:
    with pytest.raises(BadRequestId) as refused:
        read_request_id([text], 7, PHASES)

    assert str(refused.value) == (
        f"X-Chaosgate-Request: read {text!r}; write one id of the form <seed>.<phase>.<number>, such as 7.baseline.17"
    )


def test_two_ids_are_refused() -> None:
    with pytest.raises(BadRequestId, match=r"read '7\.block1\.1, 7\.block1\.2'; write one id"):
        read_request_id(["7.block1.1", "7.block1.2"], 7, PHASES)


def test_an_id_of_another_run_is_refused() -> None:
    with pytest.raises(BadRequestId, match=r"^X-Chaosgate-Request: read seed 8; this run's seed is 7$"):
        read_request_id(["8.block1.1"], 7, PHASES)


def test_an_unknown_phase_gets_the_nearest_name() -> None:
    with pytest.raises(BadRequestId, match=r"^X-Chaosgate-Request: unknown phase 'blok1'; did you mean 'block1'\?$"):
        read_request_id(["7.blok1.1"], 7, PHASES)


def test_an_anonymous_id_is_short() -> None:
    assert anonymous_id("0123456789abcdef", 3) == RequestId("anonymous.0123456789ab.3", "anonymous")
