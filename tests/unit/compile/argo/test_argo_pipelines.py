"""The workflows in pipelines/ are what the compiler makes of the scenarios today."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipeline_cases import SCENARIOS

from chaosgate.cli.generate import PROVIDERS, argo_pipelines
from chaosgate.compile.argo import read_argo
from chaosgate.model.carrier import Carrier
from chaosgate.model.load import load_spec
from chaosgate.planner import CLUSTER, make_plan

ROOT = Path()


@pytest.fixture(scope="module")
def pipelines() -> dict[str, str]:
    return argo_pipelines(ROOT)


def test_make_generate_writes_one_for_each_scenario(pipelines: dict[str, str]) -> None:
    assert argo_pipelines in PROVIDERS
    assert list(pipelines) == [f"pipelines/{file.stem}/argo.yaml" for file in SCENARIOS]


def test_the_committed_workflows_are_fresh(pipelines: dict[str, str]) -> None:
    stale = [
        name for name, text in pipelines.items() if not (ROOT / name).exists() or (ROOT / name).read_text() != text
    ]
    assert not stale, f"{', '.join(stale)}: differ from what the compiler makes of the scenario; run make generate"
    assert sorted(map(str, ROOT.glob("pipelines/*/argo.yaml"))) == sorted(pipelines), (
        "a scenario is gone; remove its workflow"
    )


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_a_committed_workflow_reads_back_to_the_plan_of_its_scenario(file: Path) -> None:
    plan = make_plan(load_spec(file), CLUSTER, Carrier().steps)
    assert read_argo((ROOT / "pipelines" / file.stem / "argo.yaml").read_text()) == plan
