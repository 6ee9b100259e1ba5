"""The shipped log is the drawn one, and its accept rate can be replayed."""

from __future__ import annotations

from collections import Counter

import pytest

from chaosgate.cli.generate import PROVIDERS, prompt_logs
from chaosgate.errors import UsageError
from chaosgate.prompts import assistant_log as module
from chaosgate.prompts.assistant_log import FILE, SIZES, assistant_log, drawn_log
from chaosgate.prompts.lines import write_prompts
from chaosgate.prompts.prompt import Suggestion

LOG = assistant_log()


def logged(number: int) -> Suggestion:
    suggestion = LOG[number].suggestion
    assert suggestion is not None
    return suggestion


SUGGESTIONS = [logged(number) for number in range(len(LOG))]


def test_the_shipped_file_is_what_is_drawn() -> None:
    assert FILE.read_text() == write_prompts(drawn_log()), "stale; run `make generate`"
    assert tuple(drawn_log()) == LOG
    assert prompt_logs in PROVIDERS


def test_every_task_is_asked_as_often() -> None:
    words = ("?", "json ", "copy ", "capital ", "add ")
    asked = Counter(word for prompt in LOG for word in words if prompt.text.splitlines()[-1].startswith(word))
    assert asked == dict.fromkeys(words, 60 // len(SIZES))


def test_right_and_wrong_suggestions_are_taken_and_refused() -> None:
    cases = Counter((prompt.grade(one.text), one.accepted) for prompt, one in zip(LOG, SUGGESTIONS, strict=True))
    assert cases == {("right", True): 45, ("right", False): 6, ("wrong", False): 5, ("wrong", True): 4}


def test_the_suggestions_of_the_log_replayed_have_its_accept_rate() -> None:
    taken = [prompt.accepts(one.text) for prompt, one in zip(LOG, SUGGESTIONS, strict=True)]
    assert taken == [one.accepted for one in SUGGESTIONS]
    assert sum(map(bool, taken)) == 49


def test_a_model_that_is_always_right_is_refused_where_right_suggestions_were() -> None:
    assert Counter(prompt.accepts(prompt.answer or "") for prompt in LOG) == {True: 54, False: 6}


def test_a_model_that_is_always_wrong_is_refused() -> None:
    assert {prompt.accepts("no") for prompt in LOG} == {False}


def test_a_log_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FILE", FILE.parent / ".." / "__init__.py")
    with pytest.raises(UsageError, match=r"__init__\.py:1: is no JSON"):
        assistant_log()
