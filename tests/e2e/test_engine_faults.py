"""A fault inside the engine, through a whole run: exact answers fall with its dose and are back when it is gone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from small_drill import Drill, write_answers_spec

from chaosgate.artifacts import ESTIMATES, LEDGER, OBSERVATIONS, read_lines
from chaosgate.model.observation import LedgerRow, Observation
from chaosgate.tokens import engine_token, read_token_file, token_digest

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

REST = """\
  faults:
    - name: overwritten
      kind: kv.token-overwrite
      dose: {parameter: share, values: [15 %, 70 %], windows: 3, hold: 1s, washout: 150ms}
  objectives:
    - {name: back, sli: exact-match, bound: ">= 95 %", at: recovery, severity: gate}
"""


@pytest.fixture(scope="module")
def drill(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drill]:
    """The drill, run to its end."""
    folder = tmp_path_factory.mktemp("overwrite")
    spec = write_answers_spec(folder, "overwrite-drill", "20/s", REST)
    drill = Drill(folder / "state", spec)
    code, output = drill.finish()
    # A busy machine may delay the load generator, which is inconclusive; anything else is a fault of the drill.
    assert (code, drill.verdict().verdict) in ((0, "pass"), (3, "inconclusive")), output
    yield drill
    left = drill.close()
    assert left == [], f"left running: {left}"


@pytest.fixture(scope="module")
def rows(drill: Drill) -> list[LedgerRow]:
    return read_lines(drill.folder / "block1-measure" / LEDGER.file, LEDGER)


@pytest.fixture(scope="module")
def same(drill: Drill) -> dict[str, bool]:
    """By request of the block: whether its answer is the prompt's first one in the baseline."""
    clean: dict[str, str] = {}
    for seen in observed(drill, "baseline"):
        if seen.outcome == "ok" and not seen.warmup:
            clean.setdefault(seen.prompt, seen.text)
    return {seen.request: seen.text == clean[seen.prompt] for seen in observed(drill, "block1")}


def observed(drill: Drill, phase: str) -> list[Observation]:
    return read_lines(drill.folder / f"{phase}-measure" / OBSERVATIONS.file, OBSERVATIONS)


def share(same: dict[str, bool], requests: Iterable[str]) -> float:
    """The share of the answers that are the clean ones; a request that was given up has none."""
    known = [same[request] for request in requests if request in same]
    return sum(known) / len(known)


def test_exact_answers_fall_with_the_dose(rows: list[LedgerRow], same: dict[str, bool]) -> None:
    at = {dose: share(same, [row.request for row in rows if row.dose == dose]) for dose in (0.0, 0.15, 0.7)}
    assert at[0.0] == pytest.approx(1, abs=0.03)
    assert at[0.7] < at[0.15] - 0.2 < at[0.0] - 0.2


def test_before_between_and_after_its_windows_nothing_is_armed(rows: list[LedgerRow], same: dict[str, bool]) -> None:
    off = [row for row in rows if row.window is None]
    assert {(row.planned, row.applied, row.bypassed) for row in off} == {(True, False, "no window")}
    assert share(same, [row.request for row in off]) == pytest.approx(1, abs=0.03)
    last = max(row.seen for row in rows if row.window is not None)
    assert sum(row.seen > last for row in off) > 60


def test_the_engine_carried_the_fault_at_every_dose_and_at_dose_0(rows: list[LedgerRow]) -> None:
    on = [row for row in rows if row.window is not None]
    assert {row.dose for row in on} == {0.0, 0.15, 0.7}
    assert {(row.applied, row.effect) for row in on} == {(True, f"carried at dose {dose:g}") for dose in (0, 0.15, 0.7)}


def test_the_client_saw_it_come_and_go(drill: Drill) -> None:
    (reading,) = drill.document("conclude", ESTIMATES).witnesses
    assert (reading.fault, reading.bitten, reading.gone, reading.reason) == ("overwritten", True, True, None)
    assert reading.rms_dose == pytest.approx(0.7)


def test_the_token_of_the_engine_is_in_no_file(drill: Drill) -> None:
    token = engine_token(read_token_file(drill.folder / "gateway.token"))
    files = [path for path in drill.folder.rglob("*") if path.is_file()]
    assert [path.name for path in files if token.encode() in path.read_bytes()] == []
    assert token_digest(token) in (drill.folder / "engine.json").read_text()
