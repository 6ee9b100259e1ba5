from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosgate.engine.network.tokenizer import decode_bytes, encode
from chaosgate.engine.runtime.grammar import LEAST_TOKENS, JsonGrammar, State


def read(text: str | bytes) -> State | None:
    state: State | None = State()
    for byte in text.encode() if isinstance(text, str) else text:
        state = state and state.after(byte)
    return state


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.text(), VALUES, max_size=3))
def test_reads_what_json_writes(value: dict[str, object]) -> None:
    for escaped in (True, False):
        state = read(json.dumps(value, separators=(",", ":"), ensure_ascii=escaped))
        assert state is not None
        assert state.mode == "done"


@pytest.mark.parametrize(
    "text",
    [
        "[", "1", '""', " ", "{ ", "{,", '{"a"}', '{"a":}', '{"a":1,}', '{"a":01', '{"a":-}', '{"a":1.}', '{"a":1e}',
        '{"a":+', '{"a":.5', '{"a":tru}', '{"a":truee', '{"a":[1,]', '{"a":[,', '{"a":[1}', '{"a":"\n', '{"a":"\\x',
        '{"a":"\\u12g', '{"a":nul]', "{}x", "{1", '{"a":1.5.', '{"a":1e5e', '{"a":--',
    ],
)  # fmt: skip
def test_refuses_what_is_no_json(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize("data", [b'{"\xff', b'{"\xc3"', b'{"\xe2\x82"', b'{"\x80', b'{"\xc0\x80'])
def test_refuses_what_is_no_utf8(data: bytes) -> None:
    assert read(data) is None


def test_takes_every_character_beyond_ascii_and_no_other_bytes() -> None:
    # Characters of the same bytes but for the last come 64 in a row.
    beginnings = {chr(code).encode("utf-8", "surrogatepass")[:2] for code in range(0x80, 0xD800, 64)}
    beginnings |= {chr(code).encode()[:2] for code in range(0xE000, 0x110000, 64)}
    taken = {bytes(pair) for pair in product(range(0x80, 0x100), repeat=2) if read(b'{"' + bytes(pair))}
    # Of two bytes, any second one that goes on with a character is right: those of each 64, not the first alone.
    two = {bytes((first, second)) for first in range(0xC2, 0xE0) for second in range(0x80, 0xC0)}
    assert taken == beginnings | two
    for first, second in beginnings - two:
        more = 1 if first < 0xF0 else 2
        whole = read(bytes((*b'{"', first, second, *[0xBF] * more)))
        assert whole is not None
        assert whole.mode == "string"
        assert read(bytes((*b'{"', first, second, *[0xBF] * (more - 1), ord('"')))) is None


def test_refuses_more_than_eight_levels() -> None:
    assert read('{"a":' + "[" * 7) is not None
    assert read('{"a":' + "[" * 8) is None


@given(st.data(), st.integers(LEAST_TOKENS, 40))
@settings(max_examples=200)
def test_any_choice_of_allowed_tokens_is_an_object_in_time(data: st.DataObject, most: int) -> None:
    grammar, tokens = JsonGrammar(), []
    while not grammar.done:
        allowed = grammar.allowed(most - len(tokens))
        assert len(allowed), "there is always a way on"
        tokens.append(int(allowed[data.draw(st.integers(0, len(allowed) - 1))]))
        grammar.push(tokens[-1])
    assert len(tokens) <= most
    assert isinstance(json.loads(decode_bytes(tokens).decode()), dict)


def test_the_last_tokens_close_what_is_open() -> None:
    grammar = JsonGrammar()
    for token in encode('{"red":"blue'):
        grammar.push(token)
    texts = {decode_bytes([token]) for token in grammar.allowed(2)}
    assert b'"}' in texts
    assert b'"' in texts
    assert b"lamp" not in texts
    assert b"lamp" in {decode_bytes([token]) for token in grammar.allowed(3)}
    assert {decode_bytes([token]) for token in grammar.allowed(1)} == {b'"}'}


def test_the_cost_is_what_the_shortest_way_takes() -> None:
    for text in (
        "{",
        '{"a',
        '{"a":',
        '{"a":[[1,',
        '{"a":-',
        '{"a":tr',
        '{"a":"\\',
        '{"a":"\\u1',
        '{"a":1,',
        *(b'{"a":"' + bytes([first]) for first in (0xC3, 0xE0, 0xE4, 0xED, 0xF0, 0xF1, 0xF4)),
    ):
        state = read(text)
        assert state is not None
        states, steps = {state}, 0
        while not any(one.mode == "done" for one in states):
            states = {after for one in states for byte in b'}]":,0aunlse\x8f\x90\xa0' if (after := one.after(byte))}
            steps += 1
        assert steps == state.cost, text


def test_markers_are_never_allowed() -> None:
    assert not set(np.arange(256, 260)) & set(JsonGrammar().allowed(100).tolist())
