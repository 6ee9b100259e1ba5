from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.engine.runtime.stops import StopScanner


def scan(stops: list[str], parts: list[str]) -> tuple[str, bool]:
    scanner = StopScanner(stops)
    shown = ""
    for part in parts:
        text, stopped = scanner.push(part)
        shown += text
        if stopped:
            return shown, True
    return shown + scanner.flush(), False


@pytest.mark.parametrize(
    ("stops", "parts", "shown", "stopped"),
    [
        ([], ["a", "b"], "ab", False),
        (["b"], ["abc"], "a", True),
        (["END"], ["xE", "N", "Dy"], "x", True),
        (["END"], ["xE", "N", "X"], "xENX", False),
        (["END"], ["xEN"], "xEN", False),
        (["cd", "b"], ["abcd"], "a", True),
        (["aab"], ["a", "a", "a", "b"], "a", True),
    ],
)
def test_shows_what_comes_before_a_stop(stops: list[str], parts: list[str], shown: str, stopped: bool) -> None:
    assert scan(stops, parts) == (shown, stopped)


@given(st.lists(st.text("ab", min_size=1, max_size=3), max_size=3), st.lists(st.text("ab", max_size=3)))
def test_never_shows_a_stop_and_loses_nothing_without_one(stops: list[str], parts: list[str]) -> None:
    whole = "".join(parts)
    shown, stopped = scan(stops, parts)
    assert stopped == any(stop in whole for stop in stops)
    assert whole.startswith(shown)
    assert not any(stop in shown for stop in stops)
    assert stopped or shown == whole
