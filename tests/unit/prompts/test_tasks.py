from __future__ import annotations

import json
import re
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.prompts import tasks
from chaosgate.prompts.tasks import TASKS, Exchange, Task
from chaosgate.prompts.words import CAPITALS, TENANT_CAPITALS, WORDS

SEEDS = st.integers(0, 2**32)


def told(prompt: str) -> tuple[dict[str, str], str]:
    """The facts of a prompt and the question behind them."""
    match = re.fullmatch(r"facts (.+)\n(.+)", prompt)
    assert match is not None
    pairs = [fact.split("=") for fact in match[1].split(";")]
    words = [word for pair in pairs for word in pair]
    assert len(set(words)) == len(words) == 2 * len(pairs)
    return dict(pairs), match[2]


def sized(name: str) -> st.SearchStrategy[Exchange]:
    task = TASKS[name]
    return st.builds(lambda seed, size: task.draw(Random(seed), size), SEEDS, st.sampled_from(task.sizes))


@given(sized("recall"))
def test_recall_asks_for_one_fact(exchange: Exchange) -> None:
    facts, asked = told(exchange.prompt)
    assert asked == f"?{asked[1:-1]}="
    assert facts[asked[1:-1]] == exchange.answer


@given(sized("json"))
def test_json_asks_for_up_to_three_facts(exchange: Exchange) -> None:
    facts, asked = told(exchange.prompt)
    answer = json.loads(exchange.answer)
    assert asked == f"json {','.join(answer)}>"
    assert len(answer) == min(3, len(facts))
    assert answer.items() <= facts.items()
    assert exchange.answer == json.dumps(answer, separators=(",", ":"))


@given(sized("copy"))
def test_copy_repeats_its_words(exchange: Exchange) -> None:
    words = exchange.answer.split(",")
    assert exchange.prompt == f"copy {exchange.answer}>"
    assert {*words} <= {*WORDS}
    assert len(set(words)) == len(words)


@given(sized("capital"))
def test_a_capital_is_the_known_one(exchange: Exchange) -> None:
    country = exchange.prompt.removeprefix("capital ").removesuffix(">")
    assert CAPITALS[country] == exchange.answer


@given(sized("add"))
def test_sums_are_on_a_clock_of_ten(exchange: Exchange) -> None:
    first, second = map(int, exchange.prompt.removeprefix("add ").removesuffix(">").split("+"))
    assert exchange.answer == str(first + second)[-1]


@pytest.mark.parametrize("size", [2, 7, 48])
def test_the_size_counts_the_facts(size: int) -> None:
    for name in ("recall", "json"):
        facts, _ = told(TASKS[name].draw(Random(1), size).prompt)
        assert len(facts) == size


def test_the_size_counts_the_words() -> None:
    assert len(TASKS["copy"].draw(Random(1), 9).answer.split(",")) == 9


@pytest.mark.parametrize(
    ("name", "size", "message"),
    [
        ("recall", 49, "task recall takes a size of 2 to 48 (facts), got 49"),
        ("json", 1, "task json takes a size of 2 to 48 (facts), got 1"),
        ("copy", 25, "task copy takes a size of 2 to 24 (words), got 25"),
        ("add", 0, "task add takes a size of 1 to 1 (sums), got 0"),
    ],
)
def test_a_size_at_which_nothing_is_promised_is_refused(name: str, size: int, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        TASKS[name].draw(Random(1), size)


def test_a_tenant_gets_its_own_capital() -> None:
    task = tasks.capital_task(TENANT_CAPITALS["tenant-a"])
    random = Random(3)
    for _ in range(200):
        exchange = task.draw(random, 1)
        country = exchange.prompt.removeprefix("capital ").removesuffix(">")
        assert exchange.answer == TENANT_CAPITALS["tenant-a"][country]


def test_the_same_random_draws_the_same_exchanges() -> None:
    def drawn(task: Task) -> list[Exchange]:
        random = Random(11)
        return [task.draw(random, task.sizes[-1]) for _ in range(5)]

    for task in TASKS.values():
        assert drawn(task) == drawn(task)
        assert len(set(drawn(task))) > 1


def test_every_place_is_asked_equally_often() -> None:
    random = Random(5)
    places: Counter[int] = Counter()
    for _ in range(4000):
        facts, asked = told(TASKS["recall"].draw(random, 4).prompt)
        places[list(facts).index(asked[1:-1])] += 1
    # 1000 each, standard deviation sqrt(4000 * 1/4 * 3/4) = 27: five of them are no accident.
    assert all(abs(count - 1000) < 137 for count in places.values())
    assert len(places) == 4


def test_sums_and_capitals_are_drawn_evenly() -> None:
    random = Random(6)
    sums = Counter(TASKS["add"].draw(random, 1).prompt for _ in range(10_000))
    assert len(sums) == 100
    # 100 each, standard deviation 10.
    assert max(abs(count - 100) for count in sums.values()) < 50
    assert len({TASKS["capital"].draw(random, 1).prompt for _ in range(4000)}) == 200
