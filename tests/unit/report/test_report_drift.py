"""The drift of a threshold over versions: which runs are counted, and when a trend is said to be there."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest
import report_views as views

from chaosgate.model.fit import Threshold
from chaosgate.model.result import Cleanup, Subject
from chaosgate.report.drift import ThresholdDrift, drifts, version_of
from chaosgate.report.plots.drift import drift_page, drift_plot
from chaosgate.report.view import ReportView


def measured(index: int, value: float | None, weights: str, clean: bool = True) -> ReportView:
    """A run of the model with these weights; without a value its doses separated."""
    outcome = "bracketed" if value is None else "fitted"
    middle = 0.2 if value is None else value
    found = Threshold.model_validate(
        {
            "outcome": outcome, "value": value, "lower": middle - 0.02, "upper": middle + 0.02, "n": 900, "windows": 26,
        }
    )  # fmt: skip
    view = views.passing()
    subject = views.SUBJECT.model_copy(update={"weights_digest": f"sha256:{weights * 64}"[:71]})
    record = view.record.model_copy(update={"started": f"2026-03-{index + 1:02}T09:00:00+00:00", "subject": subject})
    verdict = view.verdict.model_copy(update={"subject": subject})
    seal = Cleanup(clean=clean, actions=())
    return replace(
        view, run=f"run-{index}", record=record, verdict=verdict, fits=views.make_fits(found), seal=seal
    )  # fmt: skip


def falling() -> list[ReportView]:
    return [measured(index, 0.30 - 0.01 * index, weights) for index, weights in enumerate("abcdef")]


def only(runs: list[ReportView]) -> ThresholdDrift:
    (found,) = drifts(runs)
    return found


def test_a_threshold_that_falls_from_version_to_version_is_seen() -> None:
    found = only(falling()[::-1])
    assert [point.run for point in found.points] == [f"run-{index}" for index in range(6)]
    assert found.slope == pytest.approx(-0.01)
    assert (found.lower, found.upper) == pytest.approx((-0.01, -0.01))
    assert found.p == pytest.approx(2 / 720)
    assert found.text.startswith("the threshold falls: -10ms a version (-10ms to -10ms, p = 0.00278, 6 versions)")


def test_the_runs_of_one_version_count_once_by_their_mean() -> None:
    runs = [measured(0, 0.30, "a"), measured(1, 0.20, "a"), *falling()[2:]]
    found = only(runs)
    assert found.versions[0][1] == pytest.approx(0.25)
    assert len(found.versions) == 5


def test_without_a_trend_it_says_so() -> None:
    values = (0.30, 0.28, 0.31, 0.29, 0.30)
    found = only(
        [measured(index, value, weights) for index, (value, weights) in enumerate(zip(values, "abcde", strict=True))]
    )
    assert found.text.startswith("no trend is shown: ")


def test_too_few_versions_test_nothing_and_brackets_are_left_out() -> None:
    found = only([*falling()[:4], measured(4, None, "e")])
    assert found.slope is None
    assert found.text == (
        "4 of 5 versions needed have a fitted threshold; no trend is tested; "
        "1 of 5 runs have no fitted threshold and are left out"
    )


def test_what_is_not_sealed_clean_is_no_history() -> None:
    runs = [*falling()[:5], measured(5, 9.0, "f", clean=False)]
    assert [point.run for point in only(runs).points] == [f"run-{index}" for index in range(5)]
    assert drifts([measured(0, 0.3, "a", clean=False)]) == ()


def test_a_version_is_what_tells_two_subjects_apart() -> None:
    subject = Subject(model="m", engine="vllm", engine_version="0.9", image_digest="sha256:" + "1" * 64)
    assert version_of(subject) == "m, vllm 0.9, 111111111111"
    assert version_of(subject.model_copy(update={"weights_digest": "sha256:" + "2" * 64})) == (
        "m, vllm 0.9, 222222222222, 111111111111"
    )
    assert version_of(None) == "unknown"


def test_the_plot_names_its_versions_and_is_the_same_twice() -> None:
    found = only(falling())
    plot = drift_plot(found)
    assert plot == drift_plot(found)
    for version, _ in found.versions:
        assert version in plot
    assert "the threshold falls" in plot


def test_a_page_of_plots_is_a_whole_document() -> None:
    for found in (drifts(falling()), ()):
        assert ElementTree.fromstring(drift_page(found)).tag == "{http://www.w3.org/2000/svg}svg"
    assert "no run has a threshold" in drift_page(())


def test_without_any_interval_there_is_no_plot() -> None:
    refused = Threshold(outcome="refused", value=None, lower=None, upper=None, n=9, windows=3, reason="not monotone")
    runs = [replace(each, fits=views.make_fits(refused)) for each in falling()]
    assert drift_plot(only(runs)) == ""
