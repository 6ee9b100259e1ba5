"""The jobs of the chaos-gate workflow with chaosgate itself: pipelines, reports and exit codes are real."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from gate_rig import GitRepository
from job_rig import Job
from small_drill import environment, write_spec

pytestmark = pytest.mark.slow


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    made = GitRepository.create(tmp_path / "repository")
    (made.folder / "chaos-specs").mkdir()
    return made


def job(repository: GitRepository, script: str) -> Job:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return Job(repository, script, repository.folder.parent / "out", environment(PATH=path))


def test_a_spec_is_compiled_for_both_carriers(repository: GitRepository) -> None:
    write_spec(repository.folder / "chaos-specs")
    repository.commit_all()
    plan = job(repository, "gate_plan.py")
    done = plan.run()
    assert done.returncode == 0, done.stdout + done.stderr
    folder = plan.out / "pipelines" / "chaos-specs" / "small-drill.yaml"
    argo = yaml.safe_load((folder / "argo.yaml").read_text())
    assert argo["kind"] in ("Workflow", "WorkflowTemplate")
    kfp = next(yaml.safe_load_all((folder / "kfp.yaml").read_text()))
    assert "deploymentSpec" in kfp
    # What a run of the package imports.
    assert sorted(path.name for path in folder.iterdir()) == ["argo.yaml", "kfp.yaml", "spec.json"]
    assert "| yes | compiled | compiled |" in plan.summary


def test_a_broken_spec_is_annotated_at_its_line(repository: GitRepository) -> None:
    file = write_spec(repository.folder / "chaos-specs")
    file.write_text(file.read_text().replace("kind: wire.latency", "kind: wire.latencie"))
    repository.commit_all()
    done = job(repository, "gate_plan.py").run()
    assert done.returncode == 2
    assert done.stdout.startswith(
        "::error file=chaos-specs/small-drill.yaml,line=20,col=13,title=chaosgate::spec.faults[0].kind: unknown fault"
    )


@pytest.mark.thorough
def test_a_no_of_the_gate_is_kept_with_its_reports(repository: GitRepository) -> None:
    write_spec(repository.folder / "chaos-specs", bound=">= 99 %", hold="200ms")
    repository.commit_all()
    drill = job(repository, "gate_drill.py")
    done = drill.run(run="engine=embedded")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "::error file=chaos-specs/small-drill.yaml,line=1,title=chaosgate::fail: " in done.stdout
    folder = drill.out / "drills" / "chaos-specs" / "small-drill.yaml"
    assert sorted(path.name for path in folder.iterdir()) == ["junit.xml", "report.html", "report.md"]
    root = ElementTree.parse(folder / "junit.xml").getroot()
    assert [case.attrib["name"] for case in root.iter("testcase") if case.find("failure") is not None] != []
    assert (folder / "report.md").read_text() in drill.summary
    assert "| chaos-specs/small-drill.yaml | fail | 1 | " in drill.summary
