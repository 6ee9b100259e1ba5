"""The folders of runs: whose they are, and that they stay out of git."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosgate.components.places import ignore_in_git, make_private
from chaosgate.errors import ArtifactError


def test_the_folder_of_a_run_is_for_its_user_alone(tmp_path: Path) -> None:
    make_private(tmp_path / "runs" / "r")
    assert (tmp_path / "runs" / "r").stat().st_mode & 0o777 == 0o700
    (tmp_path / "file").write_text("")
    with pytest.raises(ArtifactError, match=r"file/r: cannot be written: .*--state DIR"):
        make_private(tmp_path / "file" / "r")


def test_the_state_directory_keeps_itself_out_of_git_once(tmp_path: Path) -> None:
    ignore_in_git(tmp_path)
    assert (tmp_path / ".gitignore").read_text() == "*\n"
    (tmp_path / ".gitignore").write_text("mine\n")
    ignore_in_git(tmp_path)
    assert (tmp_path / ".gitignore").read_text() == "mine\n"
