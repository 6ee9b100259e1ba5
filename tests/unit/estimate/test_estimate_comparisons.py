from __future__ import annotations

from functools import cache

import pytest
from simulated_run import OBJECTIVES, Conditions, simulate, stream_spec

from chaosgate.estimate import estimate_run
from chaosgate.model.comparison import Comparison, Comparisons, Significance
from chaosgate.model.result import Estimates


@cache
def compared() -> Comparisons:
    found = estimate_run(simulate(stream_spec(fits=(), objectives=OBJECTIVES[:2]), Conditions(wrong=0.2))).comparisons
    assert found is not None
    return found


def at(sli: str, place: str) -> Comparison:
    (one,) = (each for each in compared().comparisons if (each.sli, each.at) == (sli, place))
    return one


def test(comparison: Comparison, name: str) -> Significance:
    (one,) = (each for each in comparison.tests if each.test == name)
    return one


test.__test__ = False  # type: ignore[attr-defined]


def test_every_sli_at_every_dose_all_doses_and_recovery() -> None:
    places = [each.at for each in compared().comparisons if each.sli == "ttft-p95"]

    assert places == [*(f"dose {dose}ms" for dose in (100, 180, 220, 260, 320)), "all doses", "recovery"]
    assert {each.sli for each in compared().comparisons} == {"error-rate", "ttft-p95", "exact-match"}


def test_a_delay_moves_every_value() -> None:
    slow = at("ttft-p95", "dose 320ms")

    assert slow.effect is not None
    assert slow.effect.value == pytest.approx(1.0)
    assert slow.change.value == pytest.approx(0.32, abs=0.03)
    assert [each.test for each in slow.tests] == ["Wilcoxon", "Kolmogorov-Smirnov", "Mann-Whitney"]
    assert test(slow, "Kolmogorov-Smirnov").statistic == 1
    assert all(each.adjusted < 0.05 for each in slow.tests)


def test_after_the_fault_nothing_differs() -> None:
    back = at("ttft-p95", "recovery")

    assert back.effect is not None
    assert back.effect.lower is not None
    assert back.effect.upper is not None
    assert back.effect.lower < 0 < back.effect.upper
    assert all(each.p > 0.01 for each in back.tests)


def test_answers_are_compared_prompt_by_prompt() -> None:
    wrong = at("exact-match", "all doses")

    assert wrong.paired
    assert wrong.effect is None
    assert wrong.change.value == pytest.approx(-0.2, abs=0.04)
    assert test(wrong, "McNemar").p < 1e-6
    assert [each.test for each in wrong.tests] == ["McNemar", "Mann-Whitney"]


def test_probabilities_are_adjusted_for_all_comparisons_by_the_test() -> None:
    for each in compared().comparisons:
        for one in each.tests:
            assert one.p <= one.adjusted <= 1
    mcnemar = [one for each in compared().comparisons for one in each.tests if one.test == "McNemar"]
    smallest = min(mcnemar, key=lambda one: one.p)
    assert smallest.adjusted == pytest.approx(min(1.0, len(mcnemar) * smallest.p))


def test_distributions_before_during_and_after() -> None:
    found = {each.stage: each for each in compared().distributions}

    assert [each.stage for each in compared().distributions] == ["before", "during", "after"]
    assert all(len(each.quantiles) == 101 for each in found.values())
    before, during = found["before"].quantiles[50], found["during"].quantiles[50]
    assert before is not None
    assert during is not None
    assert during - before == pytest.approx(0.22, abs=0.03)


def test_a_failed_request_is_an_infinite_value_and_no_number_of_a_file() -> None:
    run = simulate(stream_spec(fits=(), objectives=OBJECTIVES[:1]), Conditions(failing=0.3))
    found = estimate_run(run)

    assert found.comparisons is not None
    assert found.comparisons.distributions[0].quantiles[-1] is None
    assert found.comparisons.distributions[0].quantiles[0] is not None
    assert Estimates.model_validate(found.to_json()) == found


def test_estimates_of_before_still_read() -> None:
    data = estimate_run(simulate(stream_spec(fits=(), objectives=OBJECTIVES[:1]))).to_json()
    for key in ("comparisons", "outcomes", "times"):
        data.pop(key)
    for estimate in data["doses"]:
        estimate.pop("change")
        estimate.pop("paired")

    assert Estimates.model_validate(data).comparisons is None
