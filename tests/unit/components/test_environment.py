"""What a run ran on is told without what is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosgate import __version__
from chaosgate.components.environment import environment


def test_outside_a_repository_there_is_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert "git" not in environment()


def test_without_git_there_is_no_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    found = environment()
    assert "git" not in found
    assert found["chaosgate"] == __version__


def test_inside_a_repository_the_commit_is_named() -> None:
    assert len(environment()["git"].removesuffix("-dirty")) == 12
