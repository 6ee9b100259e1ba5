from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_rig import CHAT, CHATS, PLAIN_PAIR, PLAIN_PROMPTS, PROMPTS, SYSTEM, rewritten, share_hit, wire_fault

from chaosgate.faults.prompt.rewriting import DIFFERING, HEEDED, instructs, is_plain, with_questions
from chaosgate.model.fault import FAULTS, AnswerWitness, DoseAxis, WireFault
from chaosgate.model.prompt_text import PLAIN, PromptText, Turn, read_prompt, write_prompt

BY_CHANCE: dict[str, dict[str, Any]] = {
    "prompt.system-rewrite": {},
    "prompt.injection": {},
    "prompt.base64-jailbreak": {},
    "session.interrupt": {},
    "intent.timeout": {},
}
BY_SHARE: dict[str, dict[str, Any]] = {
    "prompt.truncate": {},
    "prompt.adversarial-words": {"attack": "drop"},
    "context.truncate": {},
}
ALL = [wire_fault(kind, "10 %", **given) for kind, given in {**BY_CHANCE, **BY_SHARE}.items()]
SUFFIX = wire_fault("prompt.suffix-tokens", 3)
kinds = pytest.mark.parametrize("fault", [*ALL, SUFFIX], ids=lambda fault: fault.kind)


def largest(fault: WireFault) -> float:
    """The dose 1 of a share, or twelve words."""
    return min(fault.max_dose, 12.0)


def written_over(body: dict[str, Any], prompt: PromptText) -> Any:
    """`body` with `prompt`, as a server reads it."""
    return json.loads(write_prompt(json.dumps(body), body, prompt))


def bodies(prompt: PromptText) -> dict[str, Any]:
    """The body that `prompt` was read from."""
    if is_plain(prompt):
        return {"model": "m", "prompt": [turn.text for turn in prompt.turns]}
    return {"model": "m", "messages": [turn.message for turn in prompt.turns]}


@pytest.mark.parametrize("kind", BY_CHANCE)
def test_a_dose_of_chance_is_the_share_of_requests_that_are_hit(kind: str) -> None:
    assert FAULTS.get(kind).axis() == DoseAxis("probability", "share")
    fault = wire_fault(kind, "10 %", **BY_CHANCE[kind])
    assert share_hit(fault, 0.2) == pytest.approx(0.2, abs=0.02)
    assert share_hit(fault, 1.0) == 1


@pytest.mark.parametrize("kind", BY_SHARE)
def test_a_dose_of_what_is_changed_is_a_share(kind: str) -> None:
    assert FAULTS.get(kind).axis() == DoseAxis("share", "share")


@kinds
@given(PROMPTS, st.integers(0, 10**6))
def test_dose_0_leaves_every_prompt_as_it_is(fault: WireFault, prompt: PromptText, number: int) -> None:
    assert rewritten(fault, prompt, 0.0, number) == prompt


@kinds
@given(PROMPTS, st.integers(0, 10**6), st.floats(0, 1), st.floats(0, 1))
def test_a_prompt_that_is_changed_stays_changed_at_a_larger_dose(
    fault: WireFault, prompt: PromptText, number: int, one: float, other: float
) -> None:
    low, high = (share * largest(fault) for share in sorted((one, other)))
    if rewritten(fault, prompt, low, number) != prompt:
        assert rewritten(fault, prompt, high, number) != prompt


@kinds
@given(CHATS, st.integers(0, 10**6))
def test_what_is_left_of_a_chat_is_a_chat_that_ends_in_a_question(
    fault: WireFault, prompt: PromptText, number: int
) -> None:
    left = rewritten(fault, prompt, largest(fault), number)
    messages = written_over(bodies(prompt), left)["messages"]
    assert [message["role"] for message in messages] == [turn.role for turn in left.turns]
    if any(turn.role == "user" for turn in prompt.turns):
        assert left.turns[left.last].role == "user"
    assert bool(left.turns[left.last].text) or not prompt.turns[prompt.last].text


@kinds
@given(PLAIN_PROMPTS, st.integers(0, 10**6))
def test_a_completion_of_several_prompts_keeps_their_number(fault: WireFault, prompt: PromptText, number: int) -> None:
    left = rewritten(fault, prompt, largest(fault), number)
    body = written_over(bodies(prompt), left)
    assert len(body["prompt"]) == len(prompt.turns)
    assert {turn.role for turn in left.turns} == {PLAIN}


@kinds
def test_what_is_no_text_of_a_message_stays(fault: WireFault) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:,"}}
    content = [{"type": "text", "text": "What do you see in this picture of mine?\nSay it in a word."}, image]
    body = {"model": "m", "messages": [{"role": "user", "name": "zoe", "content": content}]}
    prompt = read_prompt(body)
    assert prompt is not None
    left = written_over(body, rewritten(fault, prompt, largest(fault)))
    asking = next(message for message in left["messages"] if message.get("name") == "zoe")
    assert image in asking["content"]


@pytest.mark.thorough
@kinds
def test_a_prompt_of_many_turns_and_many_words_is_no_trouble(fault: WireFault) -> None:
    said = Turn("user", "word " * 20_000 + "\n" + "e\u0301" * 20_000)
    chat = PromptText((SYSTEM, *(Turn("assistant", "yes") for _ in range(20_000)), said))
    assert rewritten(fault, chat, largest(fault)) != chat
    plain = PromptText(tuple(Turn(PLAIN, "so it is") for _ in range(20_000)))
    assert len(rewritten(fault, plain, largest(fault)).turns) == 20_000


@pytest.mark.parametrize(
    ("kind", "dose", "moved"),
    [
        ("prompt.system-rewrite", 0.4, HEEDED * 0.4 / 2),
        ("prompt.injection", 0.4, HEEDED * 0.4 / 2),
        ("prompt.base64-jailbreak", 0.4, HEEDED * 0.4 / 2),
        ("session.interrupt", 0.4, HEEDED * 0.4 / 2),
        ("prompt.suffix-tokens", 4, DIFFERING / 2),
        ("prompt.truncate", 0.4, DIFFERING / 2),
        ("prompt.adversarial-words", 0.4, DIFFERING / 2),
        ("context.truncate", 0.4, DIFFERING / 2),
    ],
)
def test_the_client_sees_other_answers_of_those_that_were_selected(kind: str, dose: float, moved: float) -> None:
    written = 3 if kind == "prompt.suffix-tokens" else "10 %"
    witness = wire_fault(kind, written, select={"share": "50 %"}).witness(dose)
    assert isinstance(witness, AnswerWitness)
    assert witness.moved == pytest.approx(moved)
    assert witness.unless


def test_system_and_developer_turns_instruct() -> None:
    roles = ["system", "developer", "user", "assistant", "tool", PLAIN]
    assert [role for role in roles if instructs(Turn(role, ""))] == ["system", "developer"]


def test_a_message_whose_role_is_prompt_makes_no_plain_completion() -> None:
    message = {"role": PLAIN, "content": "hello"}
    chat = read_prompt({"messages": [message]})
    assert chat is not None
    assert not is_plain(chat)
    assert is_plain(PLAIN_PAIR)
    assert not is_plain(CHAT)


def test_the_last_user_turn_and_every_plain_prompt_ask() -> None:
    chat = PromptText((*CHAT.turns, Turn("assistant", "Let me look.")))
    assert with_questions(chat, lambda _: "?").turns == (*CHAT.turns[:3], Turn("user", "?"), chat.turns[-1])
    assert with_questions(PLAIN_PAIR, str.upper).turns == (
        Turn(PLAIN, "TWO AND TWO\nIS"),
        Turn(PLAIN, "THREE AND THREE\nIS"),
    )
