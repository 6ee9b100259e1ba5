"""A file is written whole or not at all, whatever the disk does, and errors say what to do."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from chaosgate.artifacts import files
from chaosgate.artifacts.files import read_whole, write_whole
from chaosgate.errors import ArtifactError


def fail_with(code: int) -> object:
    def fail(*args: object, **kwargs: object) -> None:
        raise OSError(code, os.strerror(code))

    return fail


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file.json"
    write_whole(path, b"data")
    assert read_whole(path) == b"data"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("call", "code", "cause"),
    [
        ("fsync", errno.ENOSPC, "No space left on device"),
        ("replace", errno.EIO, "Input/output error"),
        ("fdopen", errno.EMFILE, "Too many open files"),
    ],
)
def test_a_failing_disk_leaves_what_was_there_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int, cause: str
) -> None:
    path = tmp_path / "file.json"
    write_whole(path, b"before")
    monkeypatch.setattr(os, call, fail_with(code))
    with pytest.raises(ArtifactError) as refused:
        write_whole(path, b"after")
    assert str(refused.value) == (
        f"{path}: cannot be written: {cause}; make room or choose another state directory with --state DIR"
    )
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.tempfile, "mkstemp", fail_with(errno.EACCES))
    with pytest.raises(ArtifactError, match="cannot be written: Permission denied; make room or choose another state"):
        write_whole(tmp_path / "file.json", b"data")


def test_a_file_in_the_way_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("in the way")
    with pytest.raises(
        ArtifactError, match=r"run/file\.json: cannot be written: a file stands where a folder is needed; "
    ):
        write_whole(tmp_path / "run" / "file.json", b"data")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "missing.json"
    with pytest.raises(ArtifactError) as refused:
        read_whole(path)
    assert str(refused.value) == f"{path}: cannot be read: No such file or directory"


def test_an_empty_file_is_no_artifact(tmp_path: Path) -> None:
    path = tmp_path / "empty.json"
    path.touch()
    with pytest.raises(ArtifactError) as refused:
        read_whole(path)
    assert str(refused.value) == f"{path}: is empty; the step that writes it did not finish"


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 3)
    path = tmp_path / "large.json"
    path.write_bytes(b"data")
    with pytest.raises(ArtifactError) as refused:
        read_whole(path)
    assert str(refused.value) == f"{path}: has 4 bytes; at most 3 are read"
