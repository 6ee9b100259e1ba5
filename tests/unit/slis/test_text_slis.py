"""The SLIs that read what was answered, on answers computed by hand and on what trips other tools up."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from sli_samples import sample

from chaosgate.model.observation import Known, Outcome, Sample
from chaosgate.model.sli import SLIS
from chaosgate.slis.response_diversity import divergence

SCORES = ("first-diverging-token", "bleu4", "chrf")
FAILED: list[Outcome] = ["error", "cut", "timeout", "refused", "cancelled"]
texts = st.text(max_size=20) | st.sampled_from(["the cat sat on the mat", "订单17号", " ", "the the the"])


def answered(
    said: str | None,
    clean: str | None = None,
    known: Known | None = None,
    outcome: Outcome = "ok",
    prompt: str = "recall-24/1",
    **seen: Any,
) -> Sample:
    plain = sample(outcome=outcome).observation
    observation = plain.model_copy(update={"said": said, "prompt": prompt, **seen})
    return Sample(observation, None if clean is None else "sha256:c", clean_said=clean, known=known)


def value(name: str, *given_answer: Any, **named: Any) -> float | None:
    return SLIS.get(name).value(answered(*given_answer, **named))


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize(
    "text", ["foobar", "Duplicate string", "Zhongjian Plaza", "", "?", "the cat sat on the mat", "号"]
)
def test_the_same_answer_scores_exactly_one_however_short_it_is(name: str, text: str) -> None:
    """Plain BLEU gives 0 to fewer than four words and 100.00000000000004 to some of more."""
    assert value(name, text, text) == 1.0


@pytest.mark.parametrize("name", SCORES)
def test_an_empty_answer_scores_nothing(name: str) -> None:
    assert value(name, "", "this is what you want") == 0.0
    assert value(name, "this is what you want", "") == 0.0


@pytest.mark.parametrize("name", SCORES)
@settings(max_examples=40)
@given(said=texts, clean=texts)
def test_scores_lie_from_nothing_to_one(name: str, said: str, clean: str) -> None:
    score = value(name, said, clean)
    assert score is not None
    assert 0 <= score <= 1


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("outcome", FAILED)
def test_a_failed_request_and_an_unknown_clean_answer_do_not_count(name: str, outcome: Outcome) -> None:
    assert value(name, "a", "a", outcome=outcome) is None
    assert value(name, "a", None) is None
    assert value(name, None, "a") is None


@pytest.mark.parametrize("name", SCORES)
def test_white_space_and_composition_make_no_difference(name: str) -> None:
    assert value(name, " cafe\u0301  au lait\n", "café au lait") == 1.0


@pytest.mark.parametrize(
    ("said", "clean", "share"),
    [
        ("one two three four", "one two three four five", 4 / 5),
        ("one two three four five", "one two three four", 4 / 5),
        ("one two tree four", "one two three four", 2 / 4),
        ("One two", "one two", 0.0),
        ("订单18号", "订单17号", 2 / 4),
    ],
)
def test_the_first_diverging_token(said: str, clean: str, share: float) -> None:
    assert value("first-diverging-token", said, clean) == pytest.approx(share)


def test_bleu4_of_a_known_pair() -> None:
    """Papineni's formula by hand: 1- to 4-grams match 7/8, 6/7, 5/6 and 4/5 of the answer's, and lengths are equal."""
    said, clean = "The Eiffel Tower is located in India.", "The Eiffel Tower is located in Paris."
    wanted = math.exp(sum(map(math.log, (7 / 8, 5 / 7, 4 / 6, 3 / 5))) / 4)
    assert value("bleu4", said, clean) == pytest.approx(wanted)


def test_bleu4_punishes_what_is_left_out() -> None:
    """Four words of eight, all right: only the brevity penalty exp(1 - 8/4) is left."""
    assert value("bleu4", "a b c d", "a b c d e f g h") == pytest.approx(math.exp(-1))


def test_bleu4_counts_characters_where_a_script_has_no_spaces() -> None:
    """As one token the sentence would be all wrong or all right; 10 of 11 characters are right, 8 of 10 pairs."""
    wanted = math.exp(sum(map(math.log, (10 / 11, 8 / 10, 6 / 9, 4 / 8))) / 4)
    assert value("bleu4", "这是新的斗争和生活在天", "这是新的斗争或生活在天") == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("said", "clean", "score"),
    [
        # Precisions 2/3 and 1/2, recalls 1 and 1, and no 3-gram in the clean answer: F2 of 7/12 and 1.
        ("abc", "ab", 5 * 7 / 12 / (4 * 7 / 12 + 1)),
        ("ab", "abc", 5 * 7 / 12 / (4 + 7 / 12)),
        ("foobar", "foo", 5 * 23 / 60 / (4 * 23 / 60 + 1)),
        ("abcdefg", "hijklmnop", 0.0),
        ("aa", "ab", 0.25),
    ],
)
def test_chrf_by_hand(said: str, clean: str, score: float) -> None:
    assert value("chrf", said, clean) == pytest.approx(score)


@pytest.mark.parametrize(
    ("said", "repeated"),
    [("the the the", 2 / 3), ("one two one", 1 / 3), ("one, two; three.", 0.0), ("No no", 1 / 2)],
)
def test_repeated_words(said: str, repeated: float) -> None:
    assert value("repeated-words", said) == pytest.approx(repeated)


def test_a_word_is_repeated_within_sixteen_and_not_beyond() -> None:
    apart = [f"w{number}" for number in range(16)]
    assert value("repeated-words", " ".join(["x", *apart[:15], "x"])) == pytest.approx(1 / 17)
    assert value("repeated-words", " ".join(["x", *apart, "x"])) == 0.0


def test_an_answer_without_a_word_repeats_none_and_does_not_count() -> None:
    assert value("repeated-words", "...") is None
    assert value("repeated-words", None) is None
    assert value("repeated-words", "a a", outcome="cut") is None


@pytest.mark.parametrize(
    ("said", "share"),
    [
        ("lamp", 1.0),
        ("It is the LAMP.", 1.0),
        ("lamps", 0.0),
        ("", 0.0),
    ],
)
def test_recall_of_one_fact(said: str, share: float) -> None:
    assert value("recall-accuracy", said, known=Known("lamp")) == share


def test_recall_of_several_facts_counts_the_values_and_not_the_keys() -> None:
    known = Known('{"red":"lamp","blue":["door","door"],"n":7}', json=True)
    assert value("recall-accuracy", "red blue n", known=known) == 0.0
    assert value("recall-accuracy", '{"red":"lamp","blue":"door"}', known=known) == pytest.approx(2 / 4)
    assert value("recall-accuracy", "7, door, door and lamp", known=known) == 1.0


def test_a_failed_request_recalls_nothing_and_a_cancelled_one_does_not_count() -> None:
    assert value("recall-accuracy", "lamp", known=Known("lamp"), outcome="cut") == 0.0
    assert value("recall-accuracy", "lamp", known=Known("lamp"), outcome="cancelled") is None
    assert value("recall-accuracy", "lamp", known=None) is None
    assert value("recall-accuracy", "lamp", known=Known(None)) is None


def test_an_answer_without_words_is_not_recalled_by_everything() -> None:
    assert value("recall-accuracy", "anything", known=Known("...")) is None
    assert value("recall-accuracy", "anything", known=Known("A")) == 0.0


ORDER = Known("lamp", entities=("lamp", "Kelun"), strangers=frozenset({"door", "Dobal"}))


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Kelun's lamp", 0.0),
        ("the lamp of Kelun", 1.0),
        ("KELUN: lamp", 1.0),
        ("lamp", 0.0),
        ("the lamp of Kelun, or the door", 0.0),
        ("the lamp of Kelun is outdoors", 1.0),
        ("", 0.0),
    ],
)
def test_entities_are_kept_and_no_others_are_named(said: str, kept: float) -> None:
    assert value("entity-consistency", said, known=ORDER) == kept


def test_a_prompt_without_entities_and_a_failed_request_do_not_count() -> None:
    assert value("entity-consistency", "lamp", known=Known("lamp")) is None
    assert value("entity-consistency", "lamp Kelun", known=ORDER, outcome="error") is None
    assert value("entity-consistency", "lamp Kelun") is None


def of(name: str, *samples: Sample) -> float | None:
    return SLIS.get(name).of(samples)


def test_length_stability_is_the_deviation_from_the_clean_lengths() -> None:
    """3 words too many, 4 too few: sqrt((9 + 16) / 2). Both shortened alike is no stability, either."""
    longer, shorter = answered("a b c d e", "a b"), answered("a", "a b c d e")
    assert of("length-stability", longer, shorter) == pytest.approx(math.sqrt(12.5))
    assert of("length-stability", shorter, shorter) == pytest.approx(4.0)
    assert of("length-stability", answered("x y", "a b"), answered("x", "a")) == 0.0


def test_length_stability_needs_a_whole_answer_with_a_clean_one() -> None:
    assert of("length-stability", answered("a", None), answered("a", "a", outcome="cut")) is None
    assert of("length-stability") is None


def test_answers_without_a_common_word_are_all_diverse_and_equal_ones_not_at_all() -> None:
    different = [answered(said, prompt=f"p/{said}") for said in ("red lamp", "blue door", "green cat")]
    same = [answered("I am sorry", prompt=f"p/{number}") for number in range(3)]
    assert of("response-diversity", *different) == pytest.approx(1.0)
    assert of("response-diversity", *same) == pytest.approx(0.0)
    # Of three pairs two share one word of two: half a bit each, and one shares none.
    mixed = [answered(said, prompt=f"p/{said}") for said in ("red lamp", "red door", "blue door")]
    assert of("response-diversity", *mixed) == pytest.approx((0.5 + 0.5 + 1) / 3)


def test_diversity_is_between_prompts_and_does_not_grow_with_the_number_of_answers() -> None:
    """A server that answers a prompt the same every time is not less diverse for being asked often."""
    once = [answered(said, prompt=f"p/{said}") for said in ("red lamp", "red door", "blue door")]
    assert of("response-diversity", *once * 5) == of("response-diversity", *once)
    assert of("response-diversity", *once[:1] * 5) is None


words_of_answers = st.lists(st.sampled_from("abcd"), min_size=1, max_size=8).map(tuple)


@given(words_of_answers, words_of_answers)
def test_the_divergence_is_scipys(one: tuple[str, ...], two: tuple[str, ...]) -> None:
    counts = [[answer.count(word) for word in "abcd"] for answer in (one, two)]
    wanted = jensenshannon(*counts, base=2) ** 2
    assert divergence(one, two) == pytest.approx(0.0 if math.isnan(wanted) else wanted, abs=1e-9)


def test_consistency_counts_pairs_of_answers_to_one_prompt() -> None:
    """Of three answers to one prompt two agree: 1 of 3 pairs; of two to another both: 1 of 1."""
    asked = [answered(None, prompt="p/1", text=text) for text in ("a", "a", "b")]
    again = [answered(None, prompt="p/2", text=text) for text in ("c", "c")]
    assert of("output-consistency", *asked) == pytest.approx(1 / 3)
    assert of("output-consistency", *asked, *again) == pytest.approx(2 / 4)


def test_consistency_without_a_prompt_asked_twice_is_absent() -> None:
    once = [answered(None, prompt=f"p/{number}") for number in range(3)]
    failed = [answered(None, prompt="p/0", outcome="cut")]
    other_tenant = [answered(None, prompt="p/0", tenant="tenant-a")]
    assert of("output-consistency", *once, *failed, *other_tenant) is None
