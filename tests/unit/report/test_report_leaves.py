"""Nested data as flat paths."""

from __future__ import annotations

import pytest

from chaosgate.report.leaves import leaves


def test_every_value_has_its_path() -> None:
    data = {"a": {"b": 1, "c": True}, "d": [1.5, "x"], "e": None, "f": [], "g": {}, "h": [{"i": 2}, [3]]}
    assert list(leaves(data)) == [("a.b", "1"), ("a.c", "true"), ("d", "1.5, x"), ("h[0].i", "2"), ("h[1]", "3")]


def test_what_has_a_name_goes_by_it_whatever_its_order() -> None:
    first, second = {"name": "slow", "delay": "1s"}, {"name": "cut", "after": 2}
    assert dict(leaves([first, second], "faults")) == {"faults.slow.delay": "1s", "faults.cut.after": "2"}
    assert dict(leaves([first, second])) == dict(leaves([second, first]))


@pytest.mark.parametrize(("value", "text"), [(False, "false"), (0, "0"), ("", "")])
def test_a_value_that_is_small_is_still_one(value: object, text: str) -> None:
    assert list(leaves({"a": value})) == [("a", text)]
