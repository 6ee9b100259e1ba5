"""Whom a fault selects: every key by itself, all of them together, and what cannot be written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.errors import dotted
from chaosgate.model.request_facts import RequestFacts
from chaosgate.model.selection import Select
from chaosgate.model.validation import validate

CHAT = "/v1/chat/completions"
BODY = {"model": "m", "user": "t", "stream": True}
FACTS = RequestFacts(CHAT, {"X-Team": "red"}, BODY)
HOLDING: dict[str, Any] = {
    "path": CHAT,
    "model": "m",
    "tenant": "t",
    "stream": True,
    "header": {"x-team": "red"},
}
FAILING: dict[str, Any] = {
    "path": "/v1/completions",
    "model": "M",
    "tenant": "other",
    "stream": False,
    "header": {"x-team": "Red"},
}


@given(st.sets(st.sampled_from(sorted(HOLDING))), st.sets(st.sampled_from(sorted(HOLDING)), max_size=2))
def test_all_that_is_written_must_hold(written: set[str], wrong: set[str]) -> None:
    keys = {key: HOLDING[key] for key in written} | {key: FAILING[key] for key in wrong}
    assert Select(**keys).matches(FACTS) == (not wrong)


def test_all_headers_must_be_there() -> None:
    select = Select(header={"X-Team": "red", "X-Canary": "1"})
    assert not select.matches(FACTS)
    assert select.matches(RequestFacts(CHAT, {"x-canary": "1", "x-team": "red"}))


@pytest.mark.parametrize("key", ["model", "tenant", "stream"])
@pytest.mark.parametrize("body", [None, {}])
def test_a_body_that_does_not_tell_is_not_selected(key: str, body: dict[str, Any] | None) -> None:
    facts = RequestFacts(CHAT, {}, body)
    assert not Select(**{key: HOLDING[key]}).matches(facts)
    assert Select(stream=False).matches(facts) == (body is not None)


@pytest.mark.parametrize(
    ("keys", "reads"),
    [
        ({}, False),
        ({"path": CHAT, "header": {"X-Team": "red"}, "opt_in": True}, False),
        ({"model": "m"}, True),
        ({"tenant": "t"}, True),
        ({"stream": False}, True),
    ],
)
def test_the_body_is_read_where_it_is_needed(keys: dict[str, Any], reads: bool) -> None:
    assert Select(**keys).reads_body() is reads


def test_a_selection_in_words() -> None:
    assert Select().describe() == ""
    assert Select.model_validate({"share": "50 %", "path": CHAT}).describe() == f"to {CHAT}"
    assert Select(**(HOLDING | {"opt_in": True})).describe() == (
        f"to {CHAT} for the model m of the tenant t that are streamed with the header x-team: red "
        "that ask for it (optIn)"
    )
    assert Select(stream=False).describe() == "that are not streamed"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"optin": True}, "optin: unknown key 'optin'; did you mean 'optIn'? allowed: "),
        ({"stream": "yes"}, "stream: read 'yes'; write true or false"),
        ({"path": "v1/models"}, "path: read 'v1/models'; a path starts with `/`, such as /v1/chat/completions"),
        ({"path": "/v1/*"}, "path: read '/v1/*'; a path is compared as a whole, without query or wildcards; leave *"),
        ({"path": "/v1?a=1"}, "path: read '/v1?a=1'; a path is compared as a whole, without query or wildcards"),
        ({"header": {"X Team": "a"}}, "header: read the header name 'X Team'; write one without spaces or colons"),
        ({"header": {"": "a"}}, "header: read the header name ''; write one"),
        ({"header": {"Authorization": "a"}}, "header: read the header 'Authorization', which holds a secret;"),
        ({"header": {"X-Team": 3}}, "header.X-Team: read 3; write text"),
    ],
)
def test_what_cannot_be_selected_is_refused(data: dict[str, Any], says: str) -> None:
    found, problems = validate(Select, data)
    assert found is None
    assert [f"{dotted(one.path)}: {one.message}"[: len(says)] for one in problems] == [says]


def test_a_selection_is_written_as_it_is_read() -> None:
    data = {"share": "5 %", "header": {"X-Team": "red"}, "optIn": True}
    found, _ = validate(Select, data)
    assert found is not None
    assert Select.model_validate(found.to_json()) == found
    assert found.to_json()["optIn"] is True
