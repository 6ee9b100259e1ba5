"""A cure and its proof in one run: it passes behind its filter, and fails without it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from small_drill import Drill, write_answers_spec

from chaosgate.artifacts import ESTIMATES, LEDGER, read_lines
from chaosgate.model.load import load_spec
from chaosgate.model.observation import LedgerRow

pytestmark = [pytest.mark.slow, pytest.mark.thorough, pytest.mark.timeout(240)]

FILTERS = "  filters: [{kind: prompt-sanitiser}]\n  unguarded: 30 %\n"
REST = """\
  faults:
    - name: hijack
      kind: prompt.injection
      dose: {parameter: probability, values: [100 %], windows: 3, hold: 1s, washout: 150ms}
  objectives:
    - {name: cured, sli: exact-match, bound: ">= 90 %", at: {dose: all}, severity: gate}
"""


def finished(folder_of: pytest.TempPathFactory, filters: str) -> Iterator[Drill]:
    """The drill, run to its end."""
    folder = folder_of.mktemp("cured")
    spec = write_answers_spec(folder, "cured-drill", "40/s", filters + REST)
    drill = Drill(folder / "state", spec)
    _, output = drill.finish()
    assert (drill.folder / "conclude" / ESTIMATES.file).exists(), output
    yield drill
    left = drill.close()
    assert left == [], f"left running: {left}"


@pytest.fixture(scope="module")
def cured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drill]:
    yield from finished(tmp_path_factory, FILTERS)


@pytest.fixture(scope="module")
def uncured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drill]:
    yield from finished(tmp_path_factory, "")


def verdicts(drill: Drill) -> dict[str, str]:
    """The verdict of each objective, and of all else together; a busy machine may delay the load generator."""
    reasons = [one for one in drill.verdict().reasons if not one.text.startswith("late load generator")]
    others = {one.verdict for one in reasons if one.objective is None}
    return {"others": " ".join(sorted(others)), **{one.objective: one.verdict for one in reasons if one.objective}}


def test_behind_its_filter_the_drill_passes_in_one_run(cured: Drill) -> None:
    assert verdicts(cured) == {"others": "pass", "cured": "pass"}, cured.verdict().reasons


def test_without_the_filter_the_same_attack_fails(uncured: Drill) -> None:
    assert verdicts(uncured) == {"others": "pass", "cured": "fail"}, uncured.verdict().reasons
    assert uncured.verdict().exit_code == 1


def test_only_the_unguarded_requests_saw_the_attack(cured: Drill) -> None:
    (reading,) = cured.document("conclude", ESTIMATES).witnesses
    assert (reading.bitten, reading.gone) == (True, True)
    assert reading.during is not None
    assert reading.during > 0.5


def test_the_ledger_tells_the_arms_apart(cured: Drill) -> None:
    spec = load_spec(cured.spec)
    rows: list[LedgerRow] = read_lines(cured.folder / "block1-measure" / LEDGER.file, LEDGER)
    attacked = [row for row in rows if row.dose]
    assert len(attacked) > 100
    for row in attacked:
        said = row.filtered or ""
        assert said.startswith("unguarded" if spec.unguards(row.request) else "prompt-sanitiser rewritten: injection")
