"""Prompts read from JSON Lines: what is written comes back, and what is wrong is told line by line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.errors import UsageError
from chaosgate.prompts import lines
from chaosgate.prompts.lines import read_prompts, write_prompts
from chaosgate.prompts.prompt import Message, Prompt, Suggestion

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
ASKED = TEXTS.filter(str.strip)
ANSWERS = st.none() | TEXTS.map(lambda text: ("text", text)) | st.integers().map(lambda number: ("json", str(number)))


@st.composite
def prompts(draw: st.DrawFn) -> Prompt:
    form, answer = draw(ANSWERS) or ("text", None)
    roles = st.sampled_from(["system", "user", "assistant"])
    history = tuple(draw(st.lists(st.builds(Message, roles, TEXTS), max_size=3)))
    suggestion = draw(st.none() | st.builds(Suggestion, TEXTS, st.booleans()))
    return Prompt(draw(ASKED), answer, form, history, draw(st.none() | TEXTS), suggestion)


@given(st.lists(prompts(), min_size=1, max_size=5))
def test_what_is_written_is_read_again(drawn: list[Prompt]) -> None:
    assert read_prompts(write_prompts(drawn).encode(), "p.jsonl") == tuple(drawn)


def told(data: bytes, place: str = ":") -> list[str]:
    """What is said of a file that is refused, each line with its place; nothing of one that is read."""
    try:
        read_prompts(data, "p.jsonl")
    except UsageError as refused:
        lines = str(refused).splitlines()
    else:
        return []
    strangers = [line for line in lines if not line.startswith((f"p.jsonl{place}", "and "))]
    assert strangers == []
    return lines


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused_with_the_files_name(data: bytes) -> None:
    assert told(data) or read_prompts(data, "p.jsonl")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["role", "content", "x"]), inner),
    max_leaves=6,
)
KEYS = st.sampled_from(["prompt", "messages", "answer", "form", "tenant", "suggestion", "accepted", "promt"])


@given(st.dictionaries(KEYS, JSON))
def test_any_object_is_read_or_refused_with_its_line(row: dict[str, object]) -> None:
    data = b'{"prompt": "a"}\n' + json.dumps(row).encode()
    assert told(data, ":2: ") or len(read_prompts(data, "p.jsonl")) == 2


def test_a_line_without_earlier_turns_is_a_prompt_and_empty_lines_are_none() -> None:
    data = b'\xef\xbb\xbf{"prompt": "2 + 2 =", "answer": "4"}\r\n\n  \n{"prompt": "hello\xe2\x80\xa8there"}\n'
    assert read_prompts(data, "p.jsonl") == (Prompt("2 + 2 =", "4"), Prompt("hello\u2028there", None))


def test_keys_without_a_value_are_not_written() -> None:
    assert write_prompts([Prompt("a", None)]) == '{"prompt": "a"}\n'


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{}", "write one of `prompt` and `messages`"),
        ('{"prompt": "a", "messages": [{"role": "user", "content": "b"}]}', "write one of `prompt` and `messages`"),
        ("[]", 'read a list; a line is an object such as {"prompt": "2 + 2 =", "answer": "4"}'),
        ("hello", "is no JSON: Expecting value: line 1 column 1 (char 0)"),
        ('{"prompt": "a", "prompt": "b"}', "is no JSON: the key 'prompt' stands twice in one object"),
        ('{"prompt": 5}', "prompt: read 5; write text"),
        ('{"prompt": "a", "accepted": 1, "suggestion": ""}', "accepted: read 1; write true or false"),
        (
            '{"prompt": "a", "anser": "b"}',
            "anser: unknown key 'anser'; did you mean 'answer'? allowed: accepted, answer, entities, form, maxTokens, "
            "messages, prompt, session, suggestion, tenant",
        ),
        ('{"prompt": "a", "form": "jsn"}', "form: read 'jsn'; write 'text' or 'json'; did you mean 'json'?"),
        ('{"messages": []}', "`messages` ends with what is asked, a message of the role `user`"),
        (
            '{"messages": [{"role": "assistant", "content": "a"}]}',
            "`messages` ends with what is asked, a message of the role `user`",
        ),
        ('{"prompt": " \\n"}', "what is asked is empty"),
        ('{"prompt": "a", "suggestion": "b"}', "`suggestion` and `accepted` go together"),
        ('{"prompt": "a", "accepted": true}', "`suggestion` and `accepted` go together"),
        ('{"prompt": "a", "form": "json", "answer": "{"}', "with `form: json` the `answer` is JSON"),
    ],
)
def test_what_is_wrong_with_a_line(line: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_prompts(f'{{"prompt": "a"}}\n{line}\n'.encode(), "p.jsonl")
    assert str(refused.value) == f"p.jsonl:2: {said}"


def test_every_problem_is_told_and_of_very_many_the_first_ten() -> None:
    with pytest.raises(UsageError) as refused:
        read_prompts(b"1\n" * 25, "p.jsonl")
    *first, rest = str(refused.value).splitlines()
    assert [line.split(": ")[0] for line in first] == [f"p.jsonl:{number}" for number in range(1, 11)]
    assert rest == "and 15 more"


def test_a_file_that_holds_no_prompts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for data, said in (
        (b"\n", 'holds no prompt; write lines such as {"prompt": "2 + 2 =", "answer": "4"}'),
        (b'{"prompt": "\xff"}', "byte 12 is no UTF-8; save the file as UTF-8"),
    ):
        with pytest.raises(UsageError) as refused:
            read_prompts(data, "p.jsonl")
        assert str(refused.value) == f"p.jsonl: {said}"
    monkeypatch.setattr(lines, "MAX_BYTES", 20)
    assert read_prompts(b'{"prompt": "12345"}\n', "p.jsonl")
    with pytest.raises(UsageError, match=r"p\.jsonl: is larger than 20 bytes, the most that is read; split the file"):
        read_prompts(b'{"prompt": "123456"}\n', "p.jsonl")


def test_lines_of_one_session_are_turns_with_what_was_said_before() -> None:
    data = b"""{"session": "a", "prompt": "1?", "answer": "one"}
{"session": "b", "prompt": "x?", "answer": "y"}
{"session": "a", "prompt": "2?", "maxTokens": 4}
"""
    first, other, second = read_prompts(data, "p.jsonl")
    assert (first.history, other.history) == ((), ())
    assert second.history == (Message("user", "1?"), Message("assistant", "one"))
    assert (second.text, second.answer, second.max_tokens) == ("2?", None, 4)
    assert read_prompts(write_prompts([first, other, second]).encode(), "again.jsonl") == (first, other, second)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            '{"session": "a", "prompt": "1?"}\n{"session": "a", "prompt": "2?"}',
            "p.jsonl:2: session 'a' goes on after a turn without an `answer`; write that answer",
        ),
        (
            '{"session": "a", "messages": [{"role": "user", "content": "1?"}]}',
            "p.jsonl:1: `session` goes with `prompt`; `messages` hold their history themselves",
        ),
        ('{"prompt": "1?", "maxTokens": 0}', "p.jsonl:1: maxTokens: read 0; at least 1 is needed"),
    ],
)
def test_what_is_wrong_with_a_session(lines: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_prompts(lines.encode(), "p.jsonl")
    assert str(refused.value) == said


def test_entities_are_read_and_written_and_have_a_word() -> None:
    line = '{"prompt": "1?", "entities": ["order 17", "Ada"]}\n'
    (prompt,) = read_prompts(line.encode(), "p.jsonl")
    assert prompt.entities == ("order 17", "Ada")
    assert write_prompts([prompt]) == line
    with pytest.raises(UsageError, match=r"read '\?\?'; an entity has a word, by which it is found in an answer"):
        read_prompts(b'{"prompt": "1?", "entities": ["??"]}', "p.jsonl")
