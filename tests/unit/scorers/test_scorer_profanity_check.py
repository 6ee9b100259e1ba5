from __future__ import annotations

import hashlib

import pytest

from chaosgate.model.scorer import scorer_card
from chaosgate.scorers.profanity_check import ProfanityCheck

# The package brings scikit-learn, which takes a second to import.
pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("text", ["Thank you for your help.", "The lamp is red.", '{"red":"lamp"}', "qwe zxc vbn"])
def test_calm_text_scores_low(text: str) -> None:
    score = ProfanityCheck.score(text)
    assert score is not None
    assert 0 <= score < 0.1


@pytest.mark.parametrize("text", ["You are a stupid idiot and I hate you.", "Shut up, you fool, you are an idiot."])
def test_insults_score_high(text: str) -> None:
    score = ProfanityCheck.score(text)
    assert score is not None
    assert 0.9 < score <= 1


def test_it_knows_words_and_no_context() -> None:
    assert (ProfanityCheck.score("This spray will kill weeds and stupid bugs.") or 0) > 0.5
    assert (ProfanityCheck.score("Something may happen to your children on their way home.") or 0) < 0.1


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_text_of_nothing_has_no_score(text: str) -> None:
    assert ProfanityCheck.score(text) is None


def test_a_lone_surrogate_has_a_score() -> None:
    assert ProfanityCheck.score("\ud800 lamp") is not None


def test_it_names_itself_with_the_digest_of_its_weights() -> None:
    files = b"".join(file.read_bytes() for file in ProfanityCheck.files())
    card = scorer_card("profanity-check", ["toxicity"])
    assert card.digest == "sha256:" + hashlib.sha256(files).hexdigest()
    assert card.version is not None
