from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from chaosgate.engine.network import tokenizer, vocabulary
from chaosgate.engine.network.tokenizer import Detokenizer

NEAR_THE_VOCABULARY = st.lists(st.sampled_from(vocabulary.TOKENS) | st.binary(max_size=4)).map(b"".join)
TOKENS = st.lists(st.integers(-3, 600))


def pieces(tokens: list[int]) -> list[str]:
    detokenizer = Detokenizer()
    return [*map(detokenizer.push, tokens), detokenizer.flush()]


def test_the_vocabulary_is_512_distinct_tokens() -> None:
    assert len(vocabulary.TOKENS) == 512
    assert len(set(vocabulary.TOKENS)) == 512
    assert vocabulary.TOKENS[vocabulary.EOS] == b"<eos>"


@given(st.binary() | NEAR_THE_VOCABULARY)
@example(b"\xff\x00red=re")
def test_any_bytes_come_back(data: bytes) -> None:
    assert tokenizer.decode_bytes(tokenizer.encode(data)) == data


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back(text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == text


@given(TOKENS)
def test_any_tokens_decode_and_their_pieces_add_up(tokens: list[int]) -> None:
    assert "".join(pieces(tokens)) == tokenizer.decode(tokens)


def test_the_longest_token_wins() -> None:
    assert [tokenizer.token_bytes(token) for token in tokenizer.encode("red=lamps the x")] == [
        *(b"red=", b"lamp", b"s", b" the ", b"x")
    ]


def test_a_prompt_cannot_spell_a_marker() -> None:
    assert vocabulary.EOS not in tokenizer.encode("<eos>")
    assert tokenizer.decode([vocabulary.BOS, ord("a"), vocabulary.EOS, vocabulary.PAD]) == "a"


def test_a_character_comes_with_its_last_byte() -> None:
    assert pieces(list("é€".encode())) == ["", "é", "", "", "€", ""]


def test_an_unfinished_character_is_replaced_at_the_end() -> None:
    assert pieces(list(b"a\xe2\x82")) == ["a", "", "", "\ufffd"]


def test_a_lone_surrogate_becomes_a_question_mark() -> None:
    assert tokenizer.encode("\ud800") == [ord("?")]
