"""Items whose entries name their kind."""

from __future__ import annotations

from typing import Any

import pytest

from chaosgate.filters.byte_limit import ByteLimit
from chaosgate.model.filter import FILTERS
from chaosgate.model.kinds import validate_kind

PATH = ("filters", 2)


def test_an_item_is_of_the_class_that_its_kind_names() -> None:
    item, problems = validate_kind(FILTERS, {"kind": "byte-limit", "limit": 9}, PATH)
    assert isinstance(item, ByteLimit)
    assert (item.limit, problems) == (9, [])


@pytest.mark.parametrize(
    ("item", "path", "said"),
    [
        ("byte-limit", PATH, "read 'byte-limit'; write a mapping with"),
        ({}, (*PATH, "kind"), "is missing; known filter kinds: byte-limit, "),
        ({"kind": 3}, (*PATH, "kind"), "read 3; write the name of a filter kind"),
        ({"kind": "byte-limt"}, (*PATH, "kind"), "unknown filter kind 'byte-limt'; did you mean 'byte-limit'?"),
        ({"kind": "byte-limit", "limit": 0}, (*PATH, "limit"), "read 0; at least 1 is needed"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(item: Any, path: tuple[str | int, ...], said: str) -> None:
    found, (problem,) = validate_kind(FILTERS, item, PATH)
    assert found is None
    assert problem.path == path
    assert problem.message.startswith(said)
