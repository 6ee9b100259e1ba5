"""Prompts that share a beginning, a conversation or a question."""

from __future__ import annotations

from chaosgate.prompts.conversations import (
    SESSIONS,
    TURNS,
    USER_TURNS,
    USERS,
    multi_turn,
    shared_prefix,
    ten_turns,
    two_tenant,
)
from chaosgate.prompts.prompt import Message, Prompt
from chaosgate.prompts.words import CAPITALS, TENANT_CAPITALS

SHARED = shared_prefix()
TURN_BY_TURN = multi_turn()
TENANTS = two_tenant()
USERS_TURNS = ten_turns()


def facts_of(text: str) -> dict[str, str]:
    return dict(fact.split("=") for fact in text.splitlines()[0].removeprefix("facts ").split(";"))


def test_all_prompts_of_a_shared_prefix_begin_with_the_same_facts() -> None:
    block, _, _ = SHARED[0].text.partition("?")
    prefix = f"{block}?"
    assert all(prompt.text.startswith(prefix) for prompt in SHARED)
    facts = facts_of(prefix)
    assert len(facts) == 48
    assert len({*facts, *facts.values()}) == 96
    assert {prompt.text.removeprefix(prefix): prompt.answer for prompt in SHARED} == {
        f"{key}=": value for key, value in facts.items()
    }


def session(number: int) -> tuple[Prompt, ...]:
    return TURN_BY_TURN[number::SESSIONS]


def test_a_request_carries_every_earlier_turn_of_its_session_with_the_known_answer() -> None:
    for number in range(SESSIONS):
        history: tuple[Message, ...] = ()
        for prompt in session(number):
            assert prompt.history == history
            history = (*history, Message("user", prompt.text), Message("assistant", prompt.answer or ""))
        assert len(history) == 2 * len(TURNS)


def test_only_the_first_turn_holds_the_facts_and_each_asks_for_others() -> None:
    for number in range(SESSIONS):
        first, *later = session(number)
        facts = facts_of(first.text)
        assert len(facts) == 16
        questions = [first.text.splitlines()[1], *(prompt.text for prompt in later)]
        asked = [question.strip("?=>").removeprefix("json ").split(",") for question in questions]
        assert [len(keys) for keys in asked] == [1, 2, 1, 1]
        assert len({key for keys in asked for key in keys}) == 5
        for keys, prompt in zip(asked, session(number), strict=True):
            fields = ",".join(f'"{key}":"{facts[key]}"' for key in keys)
            assert prompt.answer == (f"{{{fields}}}" if prompt.form == "json" else facts[keys[0]])
        assert [prompt.form for prompt in session(number)] == ["text", "json", "text", "text"]


def test_sessions_differ_and_their_turns_lie_twelve_requests_apart() -> None:
    assert len({prompt.text for prompt in TURN_BY_TURN[:SESSIONS]}) == SESSIONS == 12
    assert [len(prompt.history) for prompt in TURN_BY_TURN[::SESSIONS]] == [0, 2, 4, 6]


def test_two_tenants_ask_the_same_and_are_answered_differently() -> None:
    assert len(TENANTS) == 48
    for one, other in zip(TENANTS[0::2], TENANTS[1::2], strict=True):
        assert (one.tenant, other.tenant) == ("tenant-a", "tenant-b")
        assert one.text == other.text
        country = one.text.removeprefix("capital ").removesuffix(">")
        assert one.answer == TENANT_CAPITALS["tenant-a"][country]
        assert other.answer == TENANT_CAPITALS["tenant-b"][country]
        assert len({one.answer, other.answer, CAPITALS[country]}) == 3


def test_ten_turns_of_a_user_ask_for_each_of_its_facts_once() -> None:
    for user in range(USERS):
        turns = USERS_TURNS[user::USERS]
        told = facts_of(turns[0].messages()[0]["content"])
        assert len(turns) == USER_TURNS == len(told)
        assert sorted(turn.answer or "" for turn in turns) == sorted(told.values())
        for number, turn in enumerate(turns):
            assert len(turn.history) == 2 * number
            assert told[turn.text.rpartition("?")[2].removesuffix("=")] == turn.answer
            assert turn.entities == (turn.answer,)


def test_users_have_the_same_keys_and_no_value_in_common() -> None:
    told = [facts_of(turn.text) for turn in USERS_TURNS[:USERS]]
    assert len({tuple(facts) for facts in told}) == 1
    values = [value for facts in told for value in facts.values()]
    assert len(set(values)) == len(values) == USERS * USER_TURNS
    assert not set(values) & set(told[0])
