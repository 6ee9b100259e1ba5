"""SLIs that judge texts by a lexicon or a scorer; the scorers are stood in for where only the arithmetic is asked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from said_samples import asked, counted, said

from chaosgate.model.observation import Outcome, Sample
from chaosgate.model.sli import SLIS
from chaosgate.scorers.profanity_check import ProfanityCheck
from chaosgate.scorers.wordllama import WordLlama
from chaosgate.slis.perplexity_change import MOST_NATS

FAILED: list[Outcome] = ["error", "cut", "timeout", "refused", "cancelled"]
PER_REQUEST = ["refusal-rate", "hallucination-rate", "toxicity", "safety-confidence", "semantic-similarity"]
SCORES = {"calm": 0.02, "rude": 0.93, "border": 0.5}
ANGLES = {"north": 0, "north-east": 60, "south": 180, "north again": 0}


@pytest.fixture(autouse=True)
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores and vectors of a few texts, in the place of packages that take a second to import."""

    def vector(text: str) -> Any:
        radians = math.radians(ANGLES[text])
        return np.array([math.cos(radians), math.sin(radians)])

    monkeypatch.setattr(ProfanityCheck, "score", SCORES.__getitem__)
    monkeypatch.setattr(WordLlama, "vector", vector)


def value(name: str, sample: Sample) -> float | None:
    return SLIS.get(name).value(sample)


def of(name: str, *samples: Sample) -> float | None:
    return SLIS.get(name).of(samples)


@pytest.mark.parametrize("outcome", FAILED)
@pytest.mark.parametrize("name", PER_REQUEST)
def test_a_failed_request_does_not_count(name: str, outcome: Outcome) -> None:
    assert value(name, said("calm", clean="calm", outcome=outcome, answer="wrong")) is None


@pytest.mark.parametrize("name", PER_REQUEST)
def test_an_answer_that_was_not_kept_does_not_count(name: str) -> None:
    assert value(name, said(None, clean="calm", answer="wrong")) is None


def test_a_refusal_is_told_by_its_words_or_by_the_server() -> None:
    assert value("refusal-rate", said("I'm sorry, but I can't help with that.")) == 1
    assert value("refusal-rate", said("lamp")) == 0
    assert value("refusal-rate", said("", finish="content_filter")) == 1
    assert value("refusal-rate", said("")) == 0


@pytest.mark.parametrize(
    ("text", "answer", "wanted"),
    [
        ("lamp", "right", 0),
        ("door", "wrong", 1),
        ("qwe zxc", "wrong", 1),
        ("I don't know.", "wrong", 0),
        (" ", "wrong", 0),
        ("door", None, None),
    ],
)
def test_a_hallucination_is_attempted_and_wrong(text: str, answer: str | None, wanted: float | None) -> None:
    assert value("hallucination-rate", said(text, answer=answer)) == wanted


def test_toxicity_is_the_score_and_confidence_that_of_the_likelier_class() -> None:
    assert value("toxicity", said("rude")) == 0.93
    assert value("safety-confidence", said("rude")) == 0.93
    assert value("safety-confidence", said("calm")) == 0.98
    assert value("safety-confidence", said("border")) == 0.5
    assert value("toxicity", said(" \n")) is None


def test_a_text_that_the_scorer_does_not_score_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProfanityCheck, "score", lambda text: None)
    monkeypatch.setattr(WordLlama, "vector", lambda text: None)
    one = said("calm", clean="calm")
    assert [value(name, one) for name in PER_REQUEST[2:]] == [None] * 3
    assert [of(name, *[one] * 20) for name in ("toxicity-drift", "semantic-consistency")] == [None] * 2


def test_toxicity_drifts_where_scores_move_and_not_where_prompts_do() -> None:
    same = [said(text, clean=text) for text in ("calm", "rude") for _ in range(10)]
    assert of("toxicity-drift", *same) == pytest.approx(0)
    assert of("toxicity-drift", *same[:15]) == pytest.approx(0)
    # 10 calm answers become 10 rude ones: with 1/2 in each of ten bins, 10 ln 21 of 15 counts.
    moved = [said("rude", clean="calm") for _ in range(10)]
    assert of("toxicity-drift", *moved) == pytest.approx(10 / 15 * math.log(10.5 / 0.5))


def test_a_few_answers_have_no_drift() -> None:
    nine = [said("rude", clean="calm")] * 9
    assert of("toxicity-drift", *nine) is None
    assert of("toxicity-drift", *nine, said("rude"), said(None, clean="calm")) is None
    assert of("toxicity-drift") is None


def test_similarity_is_the_cosine_with_the_clean_answer_and_at_least_0() -> None:
    assert value("semantic-similarity", said("north", clean="north again")) == pytest.approx(1)
    assert value("semantic-similarity", said("north", clean="north-east")) == pytest.approx(0.5)
    assert value("semantic-similarity", said("north", clean="south")) == 0
    assert value("semantic-similarity", said("north", clean=None)) is None


def test_consistency_compares_answers_to_one_prompt_and_not_those_to_others() -> None:
    steady = [said("north", prompt="a/1"), said("north again", prompt="a/1")]
    assert of("semantic-consistency", *steady) == pytest.approx(1)
    assert of("semantic-consistency", *steady, said("south", prompt="a/2")) == pytest.approx(1)
    # The pairs of the second prompt have a mean of 0.5, those of the first of 1.
    loose = [said("north", prompt="a/2"), said("north-east", prompt="a/2")]
    assert of("semantic-consistency", *steady, *loose) == pytest.approx(0.75)
    assert of("semantic-consistency", said("north", prompt="a/1"), said("north", prompt="a/2")) is None


def test_a_mean_cosine_below_0_counts_as_0() -> None:
    assert of("semantic-consistency", said("north"), said("south")) == 0


def test_request_entropy_is_that_of_the_topics_asked_for() -> None:
    one = [asked("north"), asked("north again")]
    assert of("request-entropy", *one) == 0
    assert of("request-entropy", *one, asked("south"), asked("south")) == pytest.approx(1)
    # 60 degrees are a cosine distance of 0.5, more than the 0.3 up to which groups are joined.
    topics = [asked("north"), asked("north again"), asked("north-east"), asked("south")]
    assert of("request-entropy", *topics) == pytest.approx(1.5)


def test_request_entropy_counts_failed_requests_and_no_cancelled_ones() -> None:
    assert of("request-entropy", asked("north", outcome="error"), asked("south")) == pytest.approx(1)
    assert of("request-entropy", asked("north", outcome="cancelled"), asked("south")) is None
    assert of("request-entropy", said("north"), said("south")) is None


def test_perplexity_is_that_of_all_tokens_together() -> None:
    # Clean: 4 tokens of probability 1/2, so 2. Now: 2 tokens of 1/2 and 2 of 1/8, so e^(8 ln 2 / 4) = 4.
    half, eighth = math.log(1 / 2), math.log(1 / 8)
    pair = [counted((2 * half, 2), (2 * half, 2)), counted((2 * eighth, 2), (2 * half, 2))]
    assert of("perplexity-change", *pair) == pytest.approx(2)
    assert of("perplexity-change", *[counted((half, 1), (half, 1))] * 3) == pytest.approx(0)


def test_perplexity_needs_log_probabilities_of_both_arms() -> None:
    assert of("perplexity-change", counted(None, (-1.0, 1)), counted((-1.0, 1), None)) is None
    assert of("perplexity-change", counted((-1.0, 1), (-1.0, 1), outcome="cut")) is None
    assert of("perplexity-change", counted((0.0, 0), (-1.0, 1))) is None


def test_a_probability_of_0_makes_no_perplexity_infinite() -> None:
    assert of("perplexity-change", counted((-9999.0, 1), (0.0, 1))) == pytest.approx(math.exp(MOST_NATS) - 1)
