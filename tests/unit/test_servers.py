"""Listening sockets and the sentences for addresses that cannot be had."""

from __future__ import annotations

import pytest

from chaosgate.errors import UsageError
from chaosgate.servers import listen, url_of


def test_port_0_is_any_free_one_and_its_url_names_it() -> None:
    with listen("127.0.0.1", 0) as listener:
        assert url_of(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_a_taken_port_is_refused() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError) as caught:
            listen("127.0.0.1", port)
    assert str(caught.value) == (
        f"cannot listen on 127.0.0.1:{port}: address already in use; choose another port, or 0 for any free one"
    )


def test_a_number_that_is_no_port_is_refused() -> None:
    with pytest.raises(UsageError, match=r"127\.0\.0\.1:70000: a port is a number from 0 to 65535"):
        listen("127.0.0.1", 70_000)


def test_an_ipv6_address_stands_in_brackets() -> None:
    with pytest.raises(UsageError, match=r"cannot listen on \[::1\]:70000"):
        listen("::1", 70_000)
