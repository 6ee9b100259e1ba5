"""The packages in pipelines/ are what the compiler makes of the scenarios today, and KFP's own loader reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from kfp.components import load_component_from_file
from kfp_cases import documents_of
from pipeline_cases import SCENARIOS

from chaosgate.cli.generate import PROVIDERS, kfp_pipelines
from chaosgate.compile.kfp import kfp_problems, read_kfp
from chaosgate.model.carrier import Carrier
from chaosgate.model.load import load_spec
from chaosgate.planner import CLUSTER, make_plan

ROOT = Path()


@pytest.fixture(scope="module")
def pipelines() -> dict[str, str]:
    return kfp_pipelines(ROOT)


def test_make_generate_writes_one_for_each_scenario(pipelines: dict[str, str]) -> None:
    assert kfp_pipelines in PROVIDERS
    assert list(pipelines) == [f"pipelines/{file.stem}/kfp.yaml" for file in SCENARIOS]


def test_the_committed_packages_are_fresh(pipelines: dict[str, str]) -> None:
    stale = [
        name for name, text in pipelines.items() if not (ROOT / name).exists() or (ROOT / name).read_text() != text
    ]
    assert not stale, f"{', '.join(stale)}: differ from what the compiler makes of the scenario; run make generate"
    assert sorted(map(str, ROOT.glob("pipelines/*/kfp.yaml"))) == sorted(pipelines), (
        "a scenario is gone; remove its package"
    )


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_a_committed_package_holds_its_promises(file: Path) -> None:
    package = ROOT / "pipelines" / file.stem / "kfp.yaml"
    assert kfp_problems(documents_of(package.read_text())) == []
    assert read_kfp(package.read_text()) == make_plan(load_spec(file), CLUSTER, Carrier().steps)
    loaded = load_component_from_file(str(package))
    assert loaded.name == file.stem
    assert set(loaded.component_spec.inputs) == {"spec_uri"}
    assert "kubernetes" in loaded.component_spec.platform_spec.platforms
