from __future__ import annotations

import hashlib
import socket
from typing import Any

import numpy as np
import pytest

from chaosgate.model.scorer import scorer_card
from chaosgate.scorers import wordllama
from chaosgate.scorers.wordllama import WordLlama
from chaosgate.statistics.vectors import cosine

# The package takes about a second to import.
pytestmark = pytest.mark.thorough


def near(one: str, other: str) -> float:
    first, second = WordLlama.vector(one), WordLlama.vector(other)
    assert first is not None
    assert second is not None
    return cosine(first, second)


def test_it_is_loaded_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the scorer wants a network")

    wordllama._model.cache_clear()
    wordllama._vector.cache_clear()
    monkeypatch.setattr(socket, "socket", refuse)
    assert WordLlama.vector("no network is needed") is not None


@pytest.mark.parametrize("text", ["lamp", "東京", "a \ud800 b", "word " * 3000])
def test_a_text_has_a_vector_of_length_1(text: str) -> None:
    vector = WordLlama.vector(text)
    assert vector is not None
    assert vector.shape == (256,)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_text_of_nothing_has_none(text: str) -> None:
    assert WordLlama.vector(text) is None


def test_it_sees_what_a_sentence_is_about_and_not_whether_it_is_true() -> None:
    sentence = "The meeting is on Tuesday at ten in the large room."
    assert near(sentence, "At ten on Tuesday, in the large room, is the meeting.") > 0.9
    assert near(sentence, "The meeting is on Friday at ten in the large room.") > 0.85
    assert near(sentence, "Copper melts at a lower temperature than iron.") < 0.3


def test_it_names_itself_with_the_digest_of_its_weights() -> None:
    files = b"".join(file.read_bytes() for file in WordLlama.files())
    card = scorer_card("wordllama", ["semantic-similarity"])
    assert card.digest == "sha256:" + hashlib.sha256(files).hexdigest()
    assert card.version is not None
    assert card.reason is None
