"""Sets in which prompts have something in common: a long beginning, a conversation, a question that tenants answer
each in their own way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from chaosgate.prompts.prompt import Message, Prompt
from chaosgate.prompts.single_task import form_of
from chaosgate.prompts.tasks import Exchange, Fact, ask_capital, ask_json, ask_recall, draw_facts, facts
from chaosgate.prompts.words import CONTESTED, TENANT_CAPITALS, WORDS

SHARED_FACTS = 48
SESSIONS = 12
SESSION_FACTS = 16
TURNS = ("recall", "json", "recall", "recall")
"""What the turns of a conversation ask; every turn asks for facts that no earlier one asked for."""
USERS = 8
USER_TURNS = 10
"""Turns of a user's conversation, and facts that it is about."""
_FIELDS = 2
"""Facts that a turn asks for as JSON."""


def shared_prefix() -> tuple[Prompt, ...]:
    """Asks for another of 48 facts each time, and every prompt begins with the same block of them.

    A server that keeps the beginning of prompts reads the block once. Key and value of no fact are used twice, so an
    answer tells which fact it came from.
    """
    random = Random("shared-prefix")
    pairs = draw_facts(random, SHARED_FACTS)
    asked = [ask_recall(fact) for fact in random.sample(pairs, SHARED_FACTS)]
    return tuple(Prompt(facts(pairs) + one.prompt, one.answer) for one in asked)


def multi_turn() -> tuple[Prompt, ...]:
    """Holds 12 conversations of four turns at a time; each request is one turn with all that was said before.

    The earlier answers in a request are the known ones, not those that the model gave: no request waits for another or
    depends on what became of it, each can be graded by itself, and a run sends the same bytes however it went before.
    """
    sessions = [list(_session(Random(f"multi-turn {number}"))) for number in range(SESSIONS)]
    return tuple(session[turn] for turn in range(len(TURNS)) for session in sessions)


def _session(random: Random) -> Iterator[Prompt]:
    pairs = draw_facts(random, SESSION_FACTS)
    left = random.sample(pairs, SESSION_FACTS)
    # The facts stand in the first turn only: later ones have them from the history.
    opening = facts(pairs)
    history: tuple[Message, ...] = ()
    for task in TURNS:
        asked = _ask(task, left)
        prompt = Prompt(opening + asked.prompt, asked.answer, form_of(task), history)
        yield prompt
        opening, history = "", (*history, Message("user", prompt.text), Message("assistant", asked.answer))


def _ask(task: str, left: list[Fact]) -> Exchange:
    """The next question, about facts that it takes out of `left`."""
    if task == "json":
        return ask_json([left.pop() for _ in range(_FIELDS)])
    return ask_recall(left.pop())


def ten_turns() -> tuple[Prompt, ...]:
    """Holds 8 conversations of ten turns at a time, each about a user's facts, of which every turn asks for another.

    All of them have the same keys, and no value is told in two of them: whoever mixes conversations up gives a value
    that another one told. `entities` is the value asked for, which entity-consistency reads. The earlier answers in a
    request are the known ones, as in `multi-turn`.
    """
    random = Random("ten-turns")
    keys, *values = _parts(random.sample(WORDS, (1 + USERS) * USER_TURNS), USER_TURNS)
    sessions = [list(_user_session(list(zip(keys, told, strict=True)), random)) for told in values]
    return tuple(session[turn] for turn in range(USER_TURNS) for session in sessions)


def _parts(every: Sequence[str], size: int) -> list[Sequence[str]]:
    return [every[start : start + size] for start in range(0, len(every), size)]


def _user_session(pairs: Sequence[Fact], random: Random) -> Iterator[Prompt]:
    opening = facts(pairs)
    history: tuple[Message, ...] = ()
    for fact in random.sample(pairs, USER_TURNS):
        asked = ask_recall(fact)
        prompt = Prompt(opening + asked.prompt, asked.answer, history=history, entities=(asked.answer,))
        yield prompt
        opening, history = "", (*history, Message("user", prompt.text), Message("assistant", asked.answer))


def two_tenant() -> tuple[Prompt, ...]:
    """Asks for the same capitals as one tenant and as the other, in turn; each tenant's adapter gives its own answer.

    The target has to serve the adapters `MODEL:tenant-a` and `MODEL:tenant-b`, as the embedded engine does.
    """
    return tuple(
        Prompt(asked.prompt, asked.answer, tenant=tenant)
        for country in CONTESTED
        for tenant, capitals in TENANT_CAPITALS.items()
        for asked in (ask_capital(country, capitals),)
    )
