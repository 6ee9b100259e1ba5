"""Made prompts have the lengths that were asked for, by their distribution, and share no begin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import stats

from chaosgate.errors import UsageError
from chaosgate.model.workload import Lengths, LoadStream, Workload
from chaosgate.prompts.made import OWN_WORDS, MadePromptSet, TracePromptSet, made_text
from chaosgate.prompts.sources import PromptSource, prompts_of
from chaosgate.prompts.words import WORDS

COUNT = 2000


def lengths_of(**words: Any) -> np.ndarray[Any, Any]:
    made = MadePromptSet(Lengths.model_validate({"words": words}), COUNT, 7)
    return np.array([len(made.at(index).text.split(" ")) for index in range(COUNT)])


def test_fixed_lengths_are_fixed() -> None:
    assert set(lengths_of(distribution="fixed", value=17)) == {17}


def test_uniform_lengths_are_each_as_likely() -> None:
    found = lengths_of(distribution="uniform", min=5, max=14)
    assert stats.chisquare(np.bincount(found)[5:15]).pvalue > 0.01
    assert (found.min(), found.max()) == (5, 14)


def test_normal_lengths_have_mean_and_deviation() -> None:
    found = lengths_of(distribution="normal", mean=100, std=15, max=1000)
    # Rounding to whole words is a uniform error, which the test must not take for another form.
    smooth = found + np.random.default_rng(7).uniform(-0.5, 0.5, COUNT)
    assert stats.kstest(smooth, stats.norm(100, 15).cdf).pvalue > 0.01


def test_lognormal_lengths_have_their_tail_between_the_bounds_and_no_heap_at_them() -> None:
    found = lengths_of(distribution="lognormal", median=181, sigma=1.213, min=16, max=2048)
    low, high = stats.norm(np.log(181), 1.213).cdf(np.log([16, 2048]))
    smooth = np.clip(found + np.random.default_rng(7).uniform(-0.5, 0.5, COUNT), 16, 2048)
    cut = (stats.norm(np.log(181), 1.213).cdf(np.log(smooth)) - low) / (high - low)
    assert stats.kstest(cut, "uniform").pvalue > 0.01
    assert found.min() >= 16
    assert 1800 < found.max() <= 2048
    assert np.mean(found == 2048) < 0.01


def test_answers_have_lengths_of_their_own_that_do_not_follow_the_prompts() -> None:
    both = {"distribution": "uniform", "min": 1, "max": 100}
    made = MadePromptSet(Lengths.model_validate({"words": both, "maxTokens": both}), COUNT, 7)
    words = [len(made.at(index).text.split(" ")) for index in range(COUNT)]
    tokens = [made.at(index).max_tokens for index in range(COUNT)]
    assert abs(np.corrcoef(words, tokens)[0, 1]) < 0.06  # type: ignore[arg-type]


def test_prompts_depend_on_seed_and_index_alone_and_begin_differently() -> None:
    lengths = Lengths.model_validate({"words": {"distribution": "fixed", "value": 40}})
    made, again, other = (MadePromptSet(lengths, COUNT, seed) for seed in (7, 7, 8))
    assert made.at(3) == again.at(3) != other.at(3)
    begins = {tuple(made.at(index).text.split(" ")[:4]) for index in range(COUNT)}
    assert len(begins) == COUNT
    assert made.index(COUNT + 3) == 3


@pytest.mark.parametrize("words", [1, OWN_WORDS - 1, OWN_WORDS, 5000])
def test_a_made_text_has_exactly_its_words(words: int) -> None:
    found = made_text(words, 7, 0).split(" ")
    assert len(found) == words
    assert set(found) <= set(WORDS)


def test_a_trace_has_a_prompt_for_each_row() -> None:
    trace = TracePromptSet((3, 500), (7, 9), 7)
    assert [len(trace.at(row).text.split(" ")) for row in range(2)] == [3, 500]
    assert [trace.at(row).max_tokens for row in range(2)] == [7, 9]
    assert (len(trace), trace.index(3)) == (2, 1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"distribution": "uniform", "min": 9, "max": 3}, "read `min: 9` above `max: 3`"),
        ({"distribution": "normal", "mean": 10, "std": 1, "min": 500, "max": 600}, "nearly no draw lies between"),
        ({"distribution": "lognormal", "median": 9, "sigma": 0.1, "min": 500, "max": 600}, "nearly no draw lies"),
        ({"distribution": "fixed", "value": 200_001}, "less than or equal to 200000"),
    ],
)
def test_lengths_that_cannot_be_drawn_are_refused(words: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Lengths.model_validate({"words": words})


def test_answers_may_not_be_longer_than_anybody_serves() -> None:
    words = {"distribution": "fixed", "value": 1}
    with pytest.raises(ValidationError, match="`maxTokens` reaches to 40000; at most 32768 are allowed"):
        Lengths.model_validate({"words": words, "maxTokens": {"distribution": "fixed", "value": 40_000}})


def source(prompts: dict[str, Any], tenant: str | None = None) -> PromptSource:
    load = Workload.model_validate({"arrivals": {"process": "poisson", "rate": "1/s"}, "prompts": prompts})
    (stream,) = load.streams()
    return prompts_of(LoadStream(tenant, stream.arrivals, stream.prompts, None), 7)


def test_a_set_that_knows_tenants_gives_each_its_own_prompts() -> None:
    own = source({"set": "two-tenant"}, "tenant-b")
    assert {own.at(index).tenant for index in range(len(own))} == {"tenant-b"}
    assert len(own) == len(source({"set": "two-tenant"})) / 2
    assert len(source({"set": "recall-24"}, "acme")) == len(source({"set": "recall-24"}))


def test_files_are_read_by_their_ending_and_named_by_their_stem() -> None:
    lines = source({"file": "in/mine.jsonl", "text": '{"prompt": "a", "answer": "b"}'})
    table = source({"file": "mine.csv", "text": "prompt,answer\na,b\n"})
    assert (lines.name, lines.at(0)) == ("mine", table.at(0))


@pytest.mark.parametrize(
    ("prompts", "said"),
    [
        ({"file": "mine.txt", "text": "a"}, "mine.txt: read the ending '.txt'; prompts are in a .jsonl or a .csv file"),
        ({"file": "mine.csv"}, "the prompts 'mine.csv' have not been read; load the spec from its file"),
        ({"file": "mine.csv", "text": "prompt\n"}, "mine.csv: holds no prompt"),
        ({"set": "recal-24"}, "did you mean 'recall-24'"),
    ],
)
def test_prompts_that_cannot_be_had_are_refused(prompts: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        source(prompts)
    assert said in str(refused.value)
