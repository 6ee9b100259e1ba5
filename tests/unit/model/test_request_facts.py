"""What is known of a request, whatever its headers and body look like."""

from __future__ import annotations

from typing import Any

import pytest
from multidict import CIMultiDict

from chaosgate.model.request_facts import RequestFacts


def test_headers_of_one_name_are_one_value_whatever_its_letters() -> None:
    facts = RequestFacts("/", CIMultiDict([("X-Team", "a"), ("Other", "b"), ("x-team", "c")]))
    assert (facts.header("X-TEAM"), facts.header("none")) == ("a, c", None)


def test_baggage_of_several_headers_is_one() -> None:
    facts = RequestFacts("/", CIMultiDict([("baggage", "a=1"), ("Baggage", "b=2")]))
    assert facts.baggage.members == {"a": "1", "b": "2"}
    assert RequestFacts("/").baggage.members == {}


@pytest.mark.parametrize(
    ("body", "model", "tenant", "stream"),
    [
        (None, None, None, False),
        ({}, None, None, False),
        ({"model": "m", "user": "t", "stream": True}, "m", "t", True),
        ({"model": 1, "user": None, "stream": 1}, None, None, False),
    ],
)
def test_the_body_tells_model_tenant_and_stream(
    body: dict[str, Any] | None, model: str | None, tenant: str | None, stream: bool
) -> None:
    facts = RequestFacts("/", {}, body)
    assert (facts.model, facts.tenant, facts.stream) == (model, tenant, stream)
