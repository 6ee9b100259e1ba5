"""Estimates of means and of numbers of sets of requests, and whole runs that are judged by what was answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy import stats
from simulated_run import Conditions, passing_run, simulate, stream_spec
from sli_samples import sample, window

from chaosgate.estimate import RunData, estimate_run
from chaosgate.estimate.drift import criteria, find_drift
from chaosgate.estimate.numbers import Numbers, estimate
from chaosgate.estimate.windows import place_requests
from chaosgate.model.observation import Sample, Window
from chaosgate.model.result import Estimate
from chaosgate.model.sli import Sli, SliRef, Statistic, resolve_sli
from chaosgate.units import Dimension

BLEU = resolve_sli("bleu4")


class Score(Sli):
    """The time of the first token, taken for a score."""

    dimension: ClassVar[Dimension] = "share"
    statistic: ClassVar[Statistic] = "mean"

    @staticmethod
    def value(sample: Sample) -> float | None:
        """The score."""
        return sample.observation.first


class Amount(Score):
    """The same, without bounds."""

    dimension: ClassVar[Dimension] = "duration"


class Longest(Sli):
    """The latest first token of a set."""

    dimension: ClassVar[Dimension] = "duration"
    statistic: ClassVar[Statistic] = "set"

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> float | None:
        """Seconds; None with fewer than two."""
        firsts = [each.observation.first for each in samples if each.observation.first is not None]
        return max(firsts) if len(firsts) > 1 else None


SCORE, AMOUNT, LONGEST = (SliRef(kind.__name__, kind, None) for kind in (Score, Amount, Longest))


def windows(*values: Sequence[float], dose: float | None = None) -> list[Window]:
    return [window((sample(first=one) for one in each), index, dose) for index, each in enumerate(values)]


def test_a_mean_is_that_of_all_requests_with_the_interval_of_their_windows() -> None:
    found = estimate(AMOUNT, windows([1.0] * 30, [2.0] * 30, [6.0] * 30))
    wanted = stats.t.interval(0.95, 2, 3.0, stats.sem([1.0, 2.0, 6.0]))
    assert (found.value, found.n, found.windows) == (pytest.approx(3.0), 90, 3)
    assert (found.lower, found.upper) == (max(0.0, wanted[0]), pytest.approx(wanted[1]))


def test_scores_stay_from_nothing_to_one() -> None:
    found = estimate(SCORE, windows([1.0] * 9 + [0.2], [1.0] * 10, [1.0] * 10))
    assert found.value == pytest.approx(29.2 / 30)
    assert found.lower is not None
    assert 0.5 < found.lower < 29.2 / 30
    assert found.upper is not None
    assert 29.2 / 30 < found.upper < 1


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([[1.5], [1.0], [1.0]], "Score gave a value outside 0 to 1; a share lies between them"),
        ([[1.0], [], [1.0]], "2 of 3 windows needed hold a request that counts for Score"),
        ([[1.0], [], [1.0], [1.0]], "1 of 4 windows hold no request that counts for Score"),
        ([[], [], []], "no request counts for Score in 3 windows"),
    ],
)
def test_a_mean_that_cannot_be_had_says_why(values: list[list[float]], reason: str) -> None:
    found = estimate(SCORE, windows(*values))
    assert (found.lower, found.upper, found.reason) == (None, None, reason)


def test_a_score_that_is_no_number_is_said() -> None:
    endless = sample().observation.model_copy(update={"first": float("inf")})
    found = estimate(SCORE, [window([Sample(endless, None)]), *windows([1.0], [1.0])])
    assert found.reason == "Score gave a value that is not finite; an SLI gives a number or None"


def test_a_number_of_a_set_is_its_mean_over_windows_and_counts_whole_answers() -> None:
    found = estimate(LONGEST, windows([1.0, 2.0], [1.0, 3.0, 0.5], [4.0, 1.0]))
    wanted = stats.t.interval(0.95, 2, 3.0, stats.sem([2.0, 3.0, 4.0]))
    assert found == Numbers(3.0, pytest.approx(wanted[0]), pytest.approx(wanted[1]), 7, 3, freedom=2)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([[1.0], [2.0], [3.0]], "0 of 3 windows needed hold answers enough for Longest"),
        ([[1.0, 2.0], [2.0], [3.0, 4.0]], "2 of 3 windows needed hold answers enough for Longest"),
        ([[1.0, 2.0], [2.0], [3.0, 4.0], [1.0, 1.0]], "1 of 4 windows hold too few answers for Longest"),
    ],
)
def test_sets_that_are_too_small_leave_no_interval(values: list[list[float]], reason: str) -> None:
    found = estimate(LONGEST, windows(*values))
    assert (found.lower, found.upper, found.reason) == (None, None, reason)


def test_few_windows_borrow_from_those_alike() -> None:
    judged = windows([1.0, 2.0], [1.0, 2.01], [1.0, 2.02])
    calm = [replace(each, place="baseline") for each in windows([1.0, 1.5], [1.0, 2.5], [1.0, 3.5], [1.0, 0.5])]
    alone, borrowing = estimate(LONGEST, judged), estimate(LONGEST, judged, [calm])
    assert None not in (alone.upper, borrowing.upper)
    assert (borrowing.upper or 0) - 2.01 > 3 * ((alone.upper or 0) - 2.01)


TEXTS: tuple[dict[str, Any], ...] = (
    {"name": "words", "sli": "bleu4", "bound": ">= 90 %", "at": {"dose": "all"}},
    {"name": "characters", "sli": "chrf", "bound": ">= 90 %", "at": {"dose": "all"}},
    {"name": "begin", "sli": "first-diverging-token", "bound": ">= 90 %", "at": {"dose": "all"}},
    {"name": "lengths", "sli": "length-stability", "bound": "<= 0.5", "at": {"dose": "all"}},
    {"name": "different", "sli": "response-diversity", "bound": ">= 5 %", "at": {"dose": "all"}},
    {"name": "no-loops", "sli": "repeated-words", "bound": "<= 5 %", "at": {"dose": "all"}},
)


def judged(conditions: Conditions) -> tuple[RunData, dict[str, Estimate]]:
    run = simulate(stream_spec(fits=(), objectives=TEXTS), conditions)
    found = estimate_run(run)
    return run, {str(each.objective): each.estimates[0] for each in found.objectives}


def test_a_run_whose_answers_stay_the_same_keeps_every_bound_on_texts() -> None:
    _, found = judged(Conditions())
    for name in ("words", "characters", "begin"):
        assert (found[name].value, found[name].upper, found[name].reason) == (1.0, 1.0, None)
        assert 0.98 < (found[name].lower or 0) < 1
    assert (found["lengths"].lower, found["lengths"].value, found["lengths"].upper) == (0.0, 0.0, 0.0)
    assert found["no-loops"].value == 0.0


def test_a_run_whose_answers_change_shows_how_much() -> None:
    """Every fifth answer has a word more: `recall 24 / 3 wrong`, four tokens of five and one word of four."""
    run, found = judged(Conditions(wrong=0.2))
    samples = [one for each in place_requests(run).sweeps["slow-wire"] if each.dose for one in each.samples]
    share = np.mean([one.observation.said != one.clean_said for one in samples])
    assert found["begin"].value == pytest.approx(1 - share / len(("recall", "-", "24", "/", "3", "wrong")), abs=0.01)
    assert found["lengths"].value == pytest.approx(np.sqrt(share), abs=0.05)
    assert (found["words"].value or 1) < 0.97
    assert None not in (found["words"].lower, found["words"].upper)


def test_texts_of_the_clean_arm_are_those_of_the_baseline() -> None:
    run = simulate(stream_spec(fits=(), objectives=TEXTS))
    samples = [one for each in place_requests(run).sweeps["slow-wire"] for one in each.samples]
    assert {one.clean_said == one.observation.prompt for one in samples} == {True}


def test_a_run_that_keeps_no_texts_is_not_judged_by_them() -> None:
    plain = passing_run()
    texts = replace(plain, spec=stream_spec(fits=(), objectives=TEXTS[:1]))
    (found,) = estimate_run(texts).objectives[0].estimates
    assert (found.value, found.lower) == (None, None)
    assert str(found.reason).startswith("no request counts for bleu4 in ")


def test_a_mean_drifts_by_itself_and_a_fit_by_its_requests() -> None:
    response = {"sli": "bleu4", "bound": ">= 50 %", "share": "5 %"}
    fit = {"name": "knee", "kind": "logistic", "fault": "slow-wire", "response": response}
    spec = stream_spec(fits=(fit,), objectives=TEXTS[:1])
    assert [(each.name, str(each.bound), each.level) for each in criteria(spec)] == [
        ("bleu4", ">= 90 %", True),
        ("bleu4", ">= 50 %", False),
    ]


def test_answers_that_grow_worse_by_themselves_drift() -> None:
    run = simulate(stream_spec(fits=(), objectives=TEXTS[3:4]))
    last = {row.request for row in run.phases["block1"].ledger if row.window in (24, 25)}
    block = run.phases["block1"]
    seen = tuple(
        each.model_copy(update={"said": f"{each.said} {'and more ' * (3 + int(each.request[-1]) % 2)}"})
        if each.request in last
        else each
        for each in block.observations
    )
    drifting = replace(run, phases={**run.phases, "block1": replace(block, observations=seen)})
    (sentence,) = find_drift(drifting.spec, place_requests(drifting))
    assert list(find_drift(run.spec, place_requests(run))) == []
    assert sentence.startswith("slow-wire: the controls drifted: length-stability was 0 (0 to ")
