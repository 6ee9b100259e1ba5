"""The shipped scenarios on Argo: the same answer as on this machine, for the same reasons."""

from __future__ import annotations

from pathlib import Path

import pytest
from cluster_ground import Ground
from cluster_rig import Submit, files_of

from chaosgate.artifacts import ENDPOINT, INJECTION, LEDGER, VERDICT, Identity, read_document, read_lines
from chaosgate.model.blocks import BASELINE, make_blocks
from chaosgate.model.load import load_spec
from chaosgate.model.plan import step_id
from chaosgate.model.result import Verdict
from chaosgate.model.spec import ChaosSpec
from chaosgate.planner import make_plan
from chaosgate.run.local import Listeners, run_locally

SCENARIOS = Path(__file__).resolve().parents[2] / "chaos-specs" / "scenarios"
VERDICTS = {"fault-out-of-reach": "inconclusive", "stream-cut-fails": "fail", "stream-degradation": "pass"}
Draws = dict[tuple[str, str | None], float | None]
WITHOUT_MLFLOW = "http://127.0.0.1:9"
"""The local run is compared, not recorded; nothing listens at the port `discard`."""


@pytest.mark.parametrize(
    "name",
    [
        "stream-cut-fails",
        *(pytest.param(name, marks=pytest.mark.thorough) for name in ("fault-out-of-reach", "stream-degradation")),
    ],
)
def test_a_scenario_ends_as_it_does_here(
    name: str, cluster: Ground, submit: Submit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = SCENARIOS / f"{name}.yaml"
    run = submit(file)
    finished = run.wait()
    spec = load_spec(file)
    there = files_of(cluster, run.run, spec, tmp_path / run.run)
    here = locally(spec, tmp_path / "state", monkeypatch)

    assert set(finished.nodes) == {step.id for step in make_plan(spec).steps} | {"cleanup"}
    assert finished.verdict(tmp_path) == read_document(there / "conclude" / VERDICT.file, VERDICT)
    assert answer(there) == answer(here)
    assert answer(there)["verdict"] == VERDICTS[name]
    assert subject(there) == subject(here)
    assert_same_draws(planned(there, spec), planned(here, spec))
    assert windows(there, spec) == windows(here, spec)
    run.gone()
    assert run.sealed()["chaosgate.seal"] == "clean"


def locally(spec: ChaosSpec, state: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a run of the same spec as processes of this machine."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", WITHOUT_MLFLOW)
    outcome = run_locally(spec, make_plan(spec), state, Listeners())
    return state / "runs" / outcome.run


def answer(folder: Path) -> dict[str, object]:
    """The verdict, and how the steady state and each objective came out.

    Numbers differ from run to run; and whether the load kept its schedule is a matter of how busy the machine is.
    """
    verdict: Verdict = read_document(folder / "conclude" / VERDICT.file, VERDICT)
    reasons = [(one.verdict, one.objective, one.at, one.bound) for one in verdict.reasons if one.bound is not None]
    return {"verdict": verdict.verdict, "reasons": reasons}


def subject(folder: Path) -> dict[str, object]:
    """What was judged; only a cluster knows an image's digest."""
    found = read_document(folder / "deploy" / ENDPOINT.file, ENDPOINT).subject
    return found.model_copy(update={"image_digest": None}).to_json()


def planned(folder: Path, spec: ChaosSpec) -> Draws:
    """Which draw decided whether a fault was to hit a request, by request and fault."""
    phases = (BASELINE, *(block.phase for block in make_blocks(spec)))
    files = [folder / step_id(phase, "measure") / LEDGER.file for phase in phases]
    identity = Identity(folder.name, spec.digest())
    rows = [row for file in files for row in read_lines(file, LEDGER, identity)]
    return {(row.request, row.fault): row.draw for row in rows}


def assert_same_draws(one: Draws, other: Draws) -> None:
    """The same requests with the same draws; a phase ends with its sweep, so that one may have some requests more."""
    common = one.keys() & other.keys()
    assert len(common) == min(len(one), len(other))
    assert {key: one[key] for key in common} == {key: other[key] for key in common}


def windows(folder: Path, spec: ChaosSpec) -> list[tuple[str, int, float]]:
    """Fault, number and dose of each window, in the order in which they were injected."""
    found = []
    for block in make_blocks(spec):
        injection = read_document(folder / step_id(block.phase, "inject") / INJECTION.file, INJECTION)
        found += [(window.fault, window.window, window.dose) for window in injection.windows]
    return found
