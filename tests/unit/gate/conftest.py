"""The gate's scripts are modules here, and git knows nobody but the test."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts" / "gate"
sys.path.insert(0, str(SCRIPTS))

from gate_rig import GIT, FakeChaosgate, GitRepository, Receiver  # noqa: E402


@pytest.fixture(autouse=True)
def git_of_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in GIT.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    """An empty repository with a work tree."""
    return GitRepository.create(tmp_path / "repository")


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeChaosgate:
    """A command `chaosgate`, first in PATH, whose answers stand in the specs."""
    made = FakeChaosgate.create(tmp_path / "bin")
    monkeypatch.setenv("PATH", made.path())
    monkeypatch.setenv("CHAOSGATE_STATE", str(tmp_path / "state"))
    return made


@pytest.fixture
def receiver(tmp_path: Path, fake: FakeChaosgate) -> Receiver:
    """A bare repository with the hook, a clone of it, and the stand-in for chaosgate."""
    return Receiver.create(tmp_path / "git")
