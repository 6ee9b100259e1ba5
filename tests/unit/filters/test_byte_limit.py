from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from asked_requests import asked, user
from multidict import CIMultiDict

from chaosgate.filters.byte_limit import ByteLimit
from chaosgate.model.filter import FILTERS, Refused
from chaosgate.model.request_facts import RequestFacts


def limit(**fields: Any) -> ByteLimit:
    return ByteLimit.model_validate({"kind": "byte-limit", **fields})


def test_it_is_registered_with_the_limit_of_a_tokenizer() -> None:
    assert FILTERS.get("byte-limit") is ByteLimit
    assert limit().limit == 128_000


@pytest.mark.parametrize(("text", "refused"), [("a" * 10, False), ("a" * 11, True), ("\u00e9" * 6, True)])
def test_the_bytes_of_a_prompt_are_counted(text: str, refused: bool) -> None:
    assert (limit(limit=10).check(user(text)) is not None) == refused


def test_all_turns_count_together_and_the_error_names_size_and_limit() -> None:
    turns = asked(("system", "a" * 1000), ("user", "b" * 600))
    message = "the prompt has 1,600 bytes, at most 1,500 are allowed; shorten it"
    assert limit(limit=1500).check(turns) == Refused(413, message, "prompt_too_large")


def test_without_a_prompt_the_bytes_of_the_body_count() -> None:
    unread = replace(user("x"), prompt=None, size=11)
    assert limit(limit=10).check(unread) is not None
    assert limit(limit=11).check(unread) is None


@pytest.mark.parametrize("codings", [("gzip",), ("identity", "gzip"), ("Identity, gzip",)])
def test_a_compressed_body_is_refused_for_nobody_knows_its_size(codings: tuple[str, ...]) -> None:
    headers = CIMultiDict(("Content-Encoding", coding) for coding in codings)
    packed = replace(user("x"), prompt=None, facts=RequestFacts("/", headers))
    refused = limit().check(packed)
    assert refused is not None
    assert refused.status == 415
    assert refused.message.startswith("the body is compressed (gzip)")


@pytest.mark.parametrize("headers", [{"content-encoding": "identity"}, {"Content-Encoding": "Identity"}])
def test_a_body_that_is_said_to_come_as_it_is_is_measured(headers: dict[str, str]) -> None:
    assert limit().check(replace(user("x"), facts=RequestFacts("/", headers))) is None


def test_a_lone_surrogate_is_counted_as_what_is_sent() -> None:
    assert limit(limit=1).check(user("\ud800")) is None
