"""The ledger counts how often a name came, and gives back its rows phase by phase."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.gateway.identity import RequestId
from chaosgate.gateway.ledger import Ledger, Touch, Visit
from chaosgate.model.filter import Finding


@given(st.lists(st.text(max_size=3)))
def test_an_occurrence_is_how_often_a_name_came_before(names: list[str]) -> None:
    ledger, before = Ledger(), Counter[str]()
    for name in names:
        assert ledger.occurrence(name) == before[name]
        before[name] += 1


@given(st.lists(st.sampled_from(["baseline", "block1"]), max_size=20))
def test_rows_come_back_in_the_order_of_their_phase(phases: list[str]) -> None:
    ledger = Ledger()
    for number, phase in enumerate(phases):
        visit = Visit(float(number), phase, None)
        ledger.enter(visit)
        ledger.finish(visit, RequestId(f"7.{phase}.{number}", phase), 0, number + 0.5)

    for phase in ("baseline", "block1"):
        rows = [json.loads(line) for line in ledger.lines(phase)]
        assert [row["seen"] for row in rows] == [at for at, name in enumerate(phases) if name == phase]
    assert sorted(ledger.lines()) == sorted(ledger.lines("baseline") + ledger.lines("block1"))
    assert b"".join(ledger.blocks()) == b"".join(ledger.lines())
    assert ledger.lines("nobody") == []


@pytest.mark.parametrize(
    ("effect", "kept"),
    [("reply 503", "reply 503"), ("\ud800 became stop", "? became stop"), ("x" * 10**6, "x" * 997 + "...")],
)
def test_a_servers_words_are_cut_and_can_be_written(effect: str, kept: str) -> None:
    ledger, touch = Ledger(), Touch("f", "stream.finish-reason", 0.5, True, None, None)
    touch.apply(effect)
    other = Touch("g", "stream.finish-reason", 0.5, True, None, effect)
    found = [Finding("output-validator", "refused", effect)]
    ledger.finish(Visit(0.0, "baseline", None, [touch, other], found), RequestId("7.baseline.0", "baseline"), 0, 1.0)
    first, second = (json.loads(line) for line in ledger.lines())
    assert (first["effect"], second["bypassed"]) == (kept, kept)
    assert len(first["filtered"]) <= 1000
    assert "\ud800" not in first["filtered"]
