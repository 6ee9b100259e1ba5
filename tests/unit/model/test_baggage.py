"""The header `baggage`: its grammar, its limits, and that OpenTelemetry's own propagator is understood."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.baggage import set_baggage
from opentelemetry.baggage.propagation import W3CBaggagePropagator

from chaosgate.model.baggage import MAX_BYTES, MAX_MEMBERS, Baggage, read_baggage

TOKENS = st.text("abcXYZ019!#$%&'*+.^_`|~-", min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("text", "members"),
    [
        (None, {}),
        ("", {}),
        (" , ,", {}),
        ("llm.mesh.gray=canary", {"llm.mesh.gray": "canary"}),
        ("a=1,b=2", {"a": "1", "b": "2"}),
        (" a \t=\t 1 ; p ; q = r , b=2 ", {"a": "1", "b": "2"}),
        ("a=x=y", {"a": "x=y"}),
        ("a=", {"a": ""}),
        ("a=1,a=2", {"a": "2"}),
        ("a=latency:50ms%2Cp95:true", {"a": "latency:50ms,p95:true"}),
        ("a=10%", {"a": "10%"}),
        ("a=10%25", {"a": "10%"}),
        ("a=caf%C3%A9", {"a": "café"}),
        ("a=%FF", {"a": "\ufffd"}),
        ("a=b+c", {"a": "b+c"}),
    ],
)
def test_members_are_read_as_the_grammar_says(text: str | None, members: dict[str, str]) -> None:
    assert read_baggage(text) == Baggage(members, ())


@pytest.mark.parametrize("member", ["p95:true", "=1", "a b=1", 'a="1"', "a=b c", "a=\\", "a=é", "a=1;;"])
def test_a_broken_member_is_left_out_and_named(member: str) -> None:
    found = read_baggage(f"a0=1,{member},b0=2")
    assert found.members == {"a0": "1", "b0": "2"}
    assert found.refused == (
        f"baggage member {member!r} is no key=value; within a value write a comma as %2C, a space as %20",
    )


def test_a_long_member_is_quoted_short() -> None:
    assert f"'{'x' * 57}...'" in read_baggage("x" * 500).refused[0]


def test_limits() -> None:
    whole = "a=" + "x" * (MAX_BYTES - 2)
    assert read_baggage(whole) == Baggage({"a": "x" * (MAX_BYTES - 2)})
    assert read_baggage(whole + "x") == Baggage(
        {}, ("baggage has 8193 bytes; at most 8192 are read: send fewer members",)
    )
    members = [f"k{number}=v" for number in range(MAX_MEMBERS + 1)]
    assert len(read_baggage(",".join(members[:MAX_MEMBERS])).members) == MAX_MEMBERS
    crowded = read_baggage(",".join(members))
    assert "k64" not in crowded.members
    assert crowded.refused == ("baggage has 65 members; the first 64 are read: send fewer",)


@given(st.dictionaries(TOKENS, st.text(max_size=20), max_size=20))
def test_what_is_encoded_reads_back_equal(members: dict[str, str]) -> None:
    encodable = {key: value for key, value in members.items() if value.isprintable()}
    text = ",".join(f"{key}={quote(value, safe='')}" for key, value in encodable.items())
    assert read_baggage(text) == Baggage(encodable)


@given(st.text(max_size=200) | st.text("a=,;% \t", max_size=60))
def test_nothing_raises_and_a_member_is_read_or_refused(text: str) -> None:
    found = read_baggage(text)
    if len(text.encode()) <= MAX_BYTES and text.count(",") < MAX_MEMBERS:
        written = [part for part in text.split(",") if part.strip(" \t")]
        assert len(written) - len(found.refused) >= len(found.members)
        assert bool(written) == bool(found.refused or found.members)


def test_what_opentelemetry_sends_is_understood() -> None:
    carrier: dict[str, str] = {}
    context = set_baggage("llm.mesh.noise", "latency:50ms,p95:true")
    context = set_baggage("llm.mesh.gray", "canary", context)
    W3CBaggagePropagator().inject(carrier, context)
    assert read_baggage(carrier["baggage"]) == Baggage(
        {"llm.mesh.noise": "latency:50ms,p95:true", "llm.mesh.gray": "canary"}
    )
