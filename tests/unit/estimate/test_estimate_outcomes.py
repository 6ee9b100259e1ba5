from __future__ import annotations

from typing import Any

import pytest
from scripted_requests import request
from simulated_run import OBJECTIVES, Conditions, changed, simulate, stream_spec

from chaosgate.estimate.outcomes import clean_median, outcome_of, outcome_rows
from chaosgate.estimate.windows import place_requests
from chaosgate.model.comparison import OutcomeRow
from chaosgate.model.observation import Sample

CLEAN = "sha256:clean"


def rows(conditions: Conditions) -> list[OutcomeRow]:
    run = simulate(stream_spec(fits=(), objectives=OBJECTIVES[:1]), conditions)
    return list(outcome_rows(run, place_requests(run)))


def counts(row: OutcomeRow) -> dict[str, int]:
    return {each.outcome: each.count for each in row.counts}


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ({"text": CLEAN}, "masked"),
        ({"text": "sha256:other", "answer": "right"}, "masked"),
        ({"text": "sha256:other"}, "altered"),
        ({"text": "sha256:other", "said": "Paris is in Spain."}, "fluent-wrong"),
        ({"text": "sha256:other", "said": "no no no no"}, "garbled"),
        ({"outcome": "error", "status": 500}, "detected"),
        ({"outcome": "cut"}, "crashed"),
        ({"outcome": "refused", "status": None}, "crashed"),
        ({"outcome": "timeout"}, "hung"),
        ({"text": CLEAN, "end": 2.1}, "hung"),
        ({"text": CLEAN, "end": 1.9}, "masked"),
    ],
)
def test_what_becomes_of_a_request(seen: dict[str, Any], expected: str) -> None:
    assert outcome_of(Sample(request(**seen), CLEAN), 0.2) == expected


def test_an_answer_with_nothing_to_hold_it_against_is_not_scored() -> None:
    assert outcome_of(Sample(request(text="sha256:x"), None), 0.2) == "unscored"
    assert outcome_of(Sample(request(text="sha256:x", answer="wrong"), None), 0.2) == "altered"


def test_without_a_clean_median_no_answer_hangs() -> None:
    assert clean_median(()) is None
    assert outcome_of(Sample(request(text=CLEAN, end=100.0), CLEAN), None) == "masked"


def test_a_row_a_dose_and_one_of_the_controls() -> None:
    found = rows(Conditions(wrong=0.2))

    assert [row.dose for row in found] == [0.0, 0.1, 0.18, 0.22, 0.26, 0.32]
    assert set(counts(found[0])) == {"masked"}
    for row in found[1:]:
        assert set(counts(row)) == {"masked", "altered"}
        assert sum(counts(row).values()) == row.n
        share = row.counts[1].share
        assert share.value == pytest.approx(counts(row)["altered"] / row.n)
        assert share.lower is not None
        assert share.upper is not None
        assert share.lower < 0.2 < share.upper


def test_errors_are_detected_and_come_last_but_crashes() -> None:
    (_, *found) = rows(Conditions(failing=0.3))

    assert all([each.outcome for each in row.counts] == ["masked", "detected"] for row in found)


def test_only_touched_requests_count() -> None:
    run = simulate(stream_spec(fits=(), objectives=OBJECTIVES[:1]))
    (block,) = run.blocks
    rows = run.phases[block.phase].ledger
    ledger = [row.model_copy(update={"applied": False}) if row.dose == 0.1 else row for row in rows]
    untouched = changed(run, block.phase, ledger=ledger)

    assert 0.1 not in [row.dose for row in outcome_rows(untouched, place_requests(untouched))]
    assert 0.1 in [row.dose for row in outcome_rows(run, place_requests(run))]


def test_a_text_that_was_kept_tells_fluent_from_garbled() -> None:
    run = simulate(stream_spec(fits=(), objectives=OBJECTIVES[:1]), Conditions(wrong=0.5))
    (block,) = run.blocks
    seen = [each.model_copy(update={"said": "a fine sentence"}) for each in run.phases[block.phase].observations]
    told = changed(run, block.phase, observations=seen)
    found = list(outcome_rows(told, place_requests(told)))

    assert set(counts(found[-1])) == {"masked", "fluent-wrong"}
