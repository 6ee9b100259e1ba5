"""Counts that never stop, and a memory that has an end."""

from __future__ import annotations

import pytest

from chaosgate.gateway import tally
from chaosgate.gateway.tally import MAX_REASONS, FaultTally, RecentLedger, TalliedMetrics, Tally
from chaosgate.model.observation import LedgerRow


def row(number: int = 0, *, fault: str | None = "slow", bypassed: str | None = None, planned: bool = True) -> LedgerRow:
    return LedgerRow(
        request=f"anonymous.{number}",
        phase="anonymous",
        fault=fault,
        window=0,
        dose=0.1,
        draw=0.5,
        planned=planned,
        applied=planned and bypassed is None,
        bypassed=bypassed,
        effect=None,
        seen=0.0,
        done=1.0,
    )


def test_rows_are_counted_by_fault_and_reason() -> None:
    told = Tally()
    for one in (row(), row(bypassed="halted"), row(bypassed="halted"), row(planned=False), row(fault=None)):
        told.add(one)
    assert list(told.faults) == ["slow"]
    assert (told.faults["slow"].planned, told.faults["slow"].applied) == (3, 1)
    assert told.faults["slow"].bypassed == {"halted": 2}


def test_reasons_that_a_server_makes_up_stay_few() -> None:
    told = FaultTally()
    for number in range(3 * MAX_REASONS):
        told.add(row(bypassed=f"reason {number}"))
    told.add(row(bypassed="reason 0"))
    assert len(told.bypassed) == MAX_REASONS + 1
    assert (told.bypassed["other"], told.bypassed["reason 0"]) == (2 * MAX_REASONS, 2)


def test_the_ledger_keeps_the_newest_rows_and_tells_all() -> None:
    ledger, told = RecentLedger(limit=3), []
    ledger.listeners.append(told.append)
    for number in range(10):
        ledger.keep(row(number))
    assert [one.request for one in ledger.rows()] == ["anonymous.7", "anonymous.8", "anonymous.9"]
    assert len(told) == 10
    assert not ledger.full


def test_bodies_are_counted_apart_and_forgotten_before_they_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "MAX_NAMES", 3)
    ledger = RecentLedger()
    assert [ledger.occurrence(name) for name in "aabb"] == [0, 1, 0, 1]
    assert [ledger.occurrence(name) for name in "cda"] == [0, 0, 0], "the fourth name begins anew"


def test_metrics_are_counted_twice() -> None:
    told = Tally()
    metrics = TalliedMetrics(told)
    assert told.latency(0.5) is None
    for code, seconds in ((200, 0.001), (200, 0.002), (503, 0.009)):
        metrics.answered(code)
        metrics.added(seconds)
    assert told.statuses == {200: 2, 503: 1}
    assert (told.latency(0.5), told.latency(0.99)) == (0.002, 0.009)
    assert 'chaosgate_gateway_requests_total{code="503"} 1' in metrics.render()
