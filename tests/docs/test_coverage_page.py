"""The page on coverage is of the studies that the harness has, each fit kind among them, and a seed repeats them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import coverage  # noqa: E402
import coverage_goals  # noqa: E402
import coverage_store  # noqa: E402
from coverage_study import Study, Trial, TrialPlan, drawn, event, tally  # noqa: E402

from chaosgate.model.fit import FITS  # noqa: E402

STUDIES = list(coverage.STUDIES.values())
PAGE = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")


def test_the_page_is_of_the_settings_that_the_harness_has() -> None:
    digest = coverage_store.settings_digest(STUDIES, TrialPlan())
    assert f"Settings `{digest}`" in PAGE, "docs/coverage.md is stale; run benchmarks/coverage.py --write docs"


def test_every_study_is_kept_or_named_as_missing_and_every_goal_has_one() -> None:
    missing = {id_ for id_ in coverage.STUDIES if f"- `{id_}`" in PAGE}
    assert set(coverage_store.read()) | missing == set(coverage.STUDIES)
    assert not set(coverage_store.read()) & missing
    assert {study.figure for study in STUDIES} == set(coverage_goals.GOALS)


def test_every_figure_of_the_page_meets_its_goal() -> None:
    tallies = {id_: kept.tally for id_, kept in coverage_store.read().items()}
    missed = [figure.name for figure in coverage_goals.figures(STUDIES, tallies) if not figure.met]
    assert missed == []


def test_every_fit_kind_has_a_study(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FITS, "items", lambda: [("odd", FITS.get("logistic"))])
    with pytest.raises(LookupError, match="fit kind 'odd' has no study; add one in"):
        list(coverage.coverage_fits.studies())


def test_a_trial_depends_on_seed_study_and_number_alone() -> None:
    study = coverage.STUDIES["coverage_rates/requests, window factor 0.15, 4 windows of 40"]
    assert drawn(study, 20, 7) == drawn(study, 20, 7) != drawn(study, 20, 8)
    assert drawn(study, 21, 7) != drawn(study, 20, 7)
    # The worker's chunks do not matter, whatever their number.
    assert coverage.run_chunk((study.id, 20, 6, 9))[1] == drawn(study, 20, 7)


def test_a_tally_counts_misses_by_side_open_ends_and_refusals() -> None:
    trials = [
        Trial(1.0, 1.1, 0.9, 1.3),
        Trial(1.0, 0.8, 0.7, 0.9),
        Trial(1.0, 1.4, 1.2, None),
        Trial(1.0, 1.0, None, 1.2),
        Trial(1.0, refused="not monotone: 3 % at 5"),
    ]
    found = tally(trials)
    assert (found.trials, found.answered, found.covered, found.below, found.above, found.open) == (5, 4, 2, 1, 1, 2)
    assert (found.coverage, found.refused, found.refusals) == (0.5, pytest.approx(0.2), (("not monotone", 1),))
    assert found.width == pytest.approx(0.3)


def test_what_the_self_test_spoils_is_half_as_wide_or_the_contrary() -> None:
    assert Trial(1.0, 2.0, 0.0, 6.0).spoiled(False) == Trial(1.0, 2.0, 1.0, 4.0)
    assert Trial(1.0, 2.0, None, 6.0).spoiled(False).lower is None
    assert event(True).covers
    assert not event(True).spoiled(True).covers


def test_a_kept_tally_reads_back(tmp_path: Path) -> None:
    study = Study("coverage_rates", "one", lambda random: event(True))
    kept = coverage_store.Kept.made_now(study, TrialPlan(3, 1), tally([event(True), Trial(1.0, refused="none")]))
    coverage_store.write({study.id: kept}, [study], tmp_path / "coverage.json")
    assert coverage_store.read(tmp_path / "coverage.json") == {study.id: kept}
