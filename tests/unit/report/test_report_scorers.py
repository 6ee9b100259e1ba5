"""The report and a comparison of two runs name the scorers that judged the texts."""

from __future__ import annotations

from dataclasses import replace

import report_views as views

from chaosgate.model.scorer import ScorerCard
from chaosgate.report.changes import environment_changes
from chaosgate.report.sections import Fact, record_facts
from chaosgate.report.view import ReportView

DIGEST = "sha256:" + "c" * 64
CARD = ScorerCard(name="wordllama", slis=("semantic-similarity",), version="0.4.0", digest=DIGEST)
MISSING = ScorerCard(name="wordllama", slis=("semantic-similarity",), reason="the package wordllama is not installed")


def scored(*cards: ScorerCard) -> ReportView:
    view = views.passing()
    assert view.estimates is not None
    return replace(view, estimates=view.estimates.model_copy(update={"scorers": cards}))


def test_a_scorer_stands_in_the_record_with_version_and_digest() -> None:
    assert Fact("scorer wordllama", f"0.4.0, {DIGEST}, for semantic-similarity") in record_facts(scored(CARD))


def test_a_scorer_that_could_not_score_spoils_the_run() -> None:
    said = "could not score semantic-similarity: the package wordllama is not installed"
    assert Fact("scorer wordllama", said, bad=True) in record_facts(scored(MISSING))


def test_a_run_without_scorers_says_nothing_of_them() -> None:
    assert not [fact for fact in record_facts(scored()) if "scorer" in fact.label]


def test_two_runs_by_other_weights_are_told_apart() -> None:
    other = CARD.model_copy(update={"digest": "sha256:" + "d" * 64})
    (change,) = environment_changes(scored(CARD), scored(other))
    assert change.what == "scorer wordllama"
    assert DIGEST in str(change.a)
    assert environment_changes(scored(CARD), scored(CARD)) == ()
