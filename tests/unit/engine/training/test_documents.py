from __future__ import annotations

import re
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.engine.network import tokenizer
from chaosgate.engine.network.vocabulary import BOS, EOS
from chaosgate.engine.training import documents
from chaosgate.engine.training.documents import EVEN, LOOK_UP, Difficulty, Document, Mix, document
from chaosgate.prompts.tasks import Exchange
from chaosgate.prompts.words import CAPITALS, CONTESTED, TENANT_CAPITALS

DIFFICULTY = Difficulty(facts=12, copied=8)


def exchanges(made: Document) -> list[Exchange]:
    """The questions and answers of a document, read back from its tokens."""
    found, question, answer = [], [], []
    for token, answers in zip(made.tokens[1:], made.answers[1:], strict=True):
        if answers:
            answer.append(token)
        else:
            question.append(token)
        if token == EOS:
            found.append(Exchange(tokenizer.decode(question), tokenizer.decode(answer)))
            question, answer = [], []
    return found


def right(question: str, facts: dict[str, str]) -> str:
    """The answer, worked out anew."""
    if asked := re.search(r"\?(\w+)=$", question):
        return facts[asked[1]]
    if asked := re.search(r"json ([\w,]+)>$", question):
        return "{" + ",".join(f'"{key}":"{facts[key]}"' for key in asked[1].split(",")) + "}"
    if asked := re.search(r"copy ([\w,]+)>$", question):
        return asked[1]
    if asked := re.search(r"capital (\w+)>$", question):
        return CAPITALS[asked[1]]
    asked = re.search(r"add (\d)\+(\d)>$", question)
    assert asked is not None, question
    return str((int(asked[1]) + int(asked[2])) % 10)


@given(st.integers(0, 10**9), st.integers(192, 400))
def test_every_answer_in_a_document_is_right(seed: int, length: int) -> None:
    made = document(Random(seed), length, DIFFICULTY, EVEN)
    assert made.tokens[0] == BOS
    assert not made.answers[0]
    assert length <= len(made.tokens) == len(made.answers)
    facts: dict[str, str] = {}
    for exchange in exchanges(made):
        if told := re.search(r"facts (.+)\n", exchange.prompt):
            facts = dict(fact.split("=") for fact in told[1].split(";"))
        assert exchange.answer == right(exchange.prompt, facts)
    assert 2 <= len(facts) <= 12


@pytest.mark.parametrize("mix", [LOOK_UP, EVEN])
def test_the_tasks_come_in_their_shares(mix: Mix) -> None:
    counts: Counter[str] = Counter()
    random = Random(4)
    for _ in range(200):
        made = document(random, 256, Difficulty(facts=12, copied=8, noise=0), mix)
        for exchange in exchanges(made):
            last = exchange.prompt.split("\n")[-1]
            counts["recall" if last.startswith("?") else last.split(" ")[0]] += 1
    total = sum(counts.values())
    for task, share in mix.shares.items():
        deviation = (share * (1 - share) / total) ** 0.5
        assert abs(counts[task] / total - share) < 5 * deviation


def test_noise_is_not_learned_and_counts_its_tokens() -> None:
    text = documents.noise(Random(1), 400)
    assert text.endswith("\n")
    # Two neighbours may happen to spell one token.
    assert 380 <= len(tokenizer.encode(text)) <= 401
    made = Document()
    made.tell(text)
    assert not any(made.answers)


def test_without_noise_a_document_opens_with_its_facts() -> None:
    random = Random(2)
    for _ in range(50):
        made = document(random, 64, Difficulty(facts=3, copied=3, noise=0), EVEN)
        assert tokenizer.token_bytes(made.tokens[1]) == b"facts "


@pytest.mark.parametrize("tenant", sorted(TENANT_CAPITALS))
def test_a_mix_says_whose_capitals_are_right(tenant: str) -> None:
    mix = Mix({"capital": 1.0}, TENANT_CAPITALS[tenant], CONTESTED)
    made = exchanges(document(Random(3), 200, Difficulty(facts=3, copied=3, noise=0), mix))
    assert len(made) > 20
    for exchange in made:
        country = exchange.prompt.split("capital ")[1].removesuffix(">")
        assert country in CONTESTED
        assert exchange.answer == TENANT_CAPITALS[tenant][country]
