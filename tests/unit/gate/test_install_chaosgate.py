"""The step that installs chaosgate: this commit with its locked dependencies, or what the caller asks for."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from gate_rig import SCRIPTS

STUB = """\
#!/bin/sh
echo "$0 $*" >>"{log}"
{more}
"""
VENV = """mkdir -p "$3/bin" && cp "{stub}" "$3/bin/python" && cp "{stub}" "$3/bin/chaosgate" """


@dataclass
class Step:
    """A checkout with the script alone, and stand-ins for make and python3 that say how they are called."""

    root: Path

    def stub(self, name: str, more: str = "") -> Path:
        file = self.root / "bin" / name
        file.write_text(STUB.format(log=self.root / "log", more=more))
        file.chmod(0o755)
        return file

    def run(self, **environment: str) -> subprocess.CompletedProcess[str]:
        path = f"{self.root / 'bin'}{os.pathsep}{os.environ['PATH']}"
        given = {"PATH": path, "GITHUB_PATH": str(self.root / "path"), **environment}
        script = self.root / "checkout" / "scripts" / "gate" / "install_chaosgate.sh"
        return subprocess.run([script], capture_output=True, text=True, env=given)

    def log(self) -> list[str]:
        return (self.root / "log").read_text().splitlines()

    def added(self) -> str:
        return (self.root / "path").read_text()


@pytest.fixture
def step(tmp_path: Path) -> Step:
    made = Step(tmp_path)
    (tmp_path / "bin").mkdir()
    target = tmp_path / "checkout" / "scripts" / "gate"
    target.mkdir(parents=True)
    shutil.copy(SCRIPTS / "install_chaosgate.sh", target)
    stub = made.stub("stub")
    venv = tmp_path / "checkout" / ".venv" / "bin"
    made.stub("make", f'mkdir -p "{venv}" && cp "{stub}" "{venv}/chaosgate"')
    made.stub("python3", VENV.format(stub=stub))
    return made


def test_by_default_this_commit_is_installed_from_its_lock(step: Step) -> None:
    done = step.run(CHAOSGATE_REQUIREMENT="")
    assert done.returncode == 0, done.stderr
    checkout = step.root / "checkout"
    assert step.log() == [
        f"{step.root}/bin/make -C {checkout} setup",
        f"{checkout}/.venv/bin/chaosgate --version",
    ]
    assert step.added() == f"{checkout}/.venv/bin\n"


@pytest.mark.parametrize("requirement", ["chaosgate[argo,kfp]==0.1.0", "--index-url=https://example.org", "a; touch x"])
def test_a_requirement_is_one_word_to_pip_and_never_an_option(step: Step, requirement: str) -> None:
    done = step.run(CHAOSGATE_REQUIREMENT=requirement)
    assert done.returncode == 0, done.stderr
    environment = step.root / "checkout" / ".gate-venv"
    assert step.log() == [
        f"{step.root}/bin/python3 -m venv {environment}",
        f"{environment}/bin/python -m pip install --quiet --disable-pip-version-check -- {requirement}",
        f"{environment}/bin/chaosgate --version",
    ]
    assert step.added() == f"{environment}/bin\n"


def test_a_failure_ends_the_step_and_adds_nothing(step: Step) -> None:
    step.stub("make", "exit 7")
    assert step.run().returncode == 7
    assert not (step.root / "path").exists()


def test_it_is_a_step_of_a_workflow(step: Step) -> None:
    done = step.run(GITHUB_PATH="")
    assert done.returncode != 0
    assert "GITHUB_PATH: is not set; this script is a step of a GitHub workflow" in done.stderr
