"""The plots of comparisons: what is drawn is named with its unit, and nothing is drawn of nothing."""

from __future__ import annotations

from report_page import Page

from chaosgate.model.comparison import Comparison, Distribution, Interval, OutcomeCount, OutcomeRow
from chaosgate.report.compared import OUTCOME_WORDS
from chaosgate.report.plots.distributions import distributions_plot
from chaosgate.report.plots.effects import effects_plot
from chaosgate.report.plots.outcomes import outcomes_plot

NOTHING = Interval(value=None, lower=None, upper=None)


def distribution(stage: str, *quantiles: float | None) -> Distribution:
    return Distribution.model_validate(
        {"sli": "ttft", "fault": "slow", "stage": stage, "dimension": "duration", "n": 40, "quantiles": quantiles}
    )


def comparison(effect: Interval | None, place: str = "dose") -> Comparison:
    return Comparison.model_validate(
        {
            "sli": "ttft-p95",
            "fault": "slow",
            "at": "dose 100ms",
            "place": place,
            "dose": 0.1,
            "dimension": "duration",
            "before": NOTHING,
            "then": NOTHING,
            "change": NOTHING,
            "paired": False,
            "n": 40,
            "effect": effect,
        }
    )


def test_distributions_say_stage_number_and_unit() -> None:
    found = [distribution("before", 0.1, 0.2, 0.3), distribution("during", 0.2, 0.4, None)]
    plot = distributions_plot("slow", found, "d")

    assert {"ttft [ms]", "requests at or below [%]", "before, n = 40", "during, n = 40"} <= set(Page(plot).pieces)
    assert Page(plot).values("aria-label") == ["Before, during and after slow. d"]


def test_a_distribution_of_failures_alone_is_an_empty_line() -> None:
    assert distributions_plot("slow", [distribution("during", None, None)], "d").startswith("<svg")


def test_effects_are_named_by_sli_and_place() -> None:
    known = Interval(value=0.4, lower=0.1, upper=0.6)
    plot = effects_plot("slow", [comparison(known), comparison(known, "recovery"), comparison(None)], "d")

    assert Page(plot).pieces.count("ttft-p95, dose 100ms") == 2


def test_outcomes_stack_to_all_requests() -> None:
    share = Interval(value=0.5, lower=0.3, upper=0.7)
    counts = tuple(OutcomeCount(outcome=name, count=5, share=share) for name in ("masked", "crashed"))
    row = OutcomeRow(fault="slow", dose=0.1, n=10, windows=3, counts=counts)
    pieces = Page(outcomes_plot("slow", [row], ["100ms"], OUTCOME_WORDS, "d")).pieces

    assert {"masked", "crashed", "100ms", "n = 10"} <= {piece.strip() for piece in pieces}
    assert "hung" not in pieces


def test_nothing_is_drawn_of_nothing() -> None:
    assert distributions_plot("slow", [], "d") == ""
    assert effects_plot("slow", [comparison(None)], "d") == ""
    assert outcomes_plot("slow", [], [], OUTCOME_WORDS, "d") == ""
