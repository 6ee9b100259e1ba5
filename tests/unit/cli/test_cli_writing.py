"""A file that a person names holds all of what is written or what it held before, whatever stands there."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from chaosgate.cli.writing import write_file
from chaosgate.errors import UsageError


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    target.parent.mkdir()
    target.write_text("before")
    link.symlink_to("folder/target")
    write_file(link, "after", "--output")
    assert (link.is_symlink(), target.read_text()) == (True, "after")
    assert list(target.parent.iterdir()) == [target]


def test_a_link_that_leads_nowhere_makes_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    write_file(tmp_path / "link", "text", "--output")
    assert (tmp_path / "target").read_text() == "text"


def test_a_device_is_written_to_and_stays_one(tmp_path: Path) -> None:
    """A pipe stands for all of them: who replaced /dev/null by a file would break the machine."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_file(pipe, "text", "--output")
    reader.join(10)
    assert (read, pipe.is_fifo(), list(tmp_path.iterdir())) == (["text"], True, [pipe])


@pytest.mark.parametrize("path", [".", ""])
def test_a_folder_is_refused(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as refused:
        write_file(Path(path), "text", "--spec-out")
    assert str(refused.value) == ".: cannot be written: Is a directory; choose another with --spec-out FILE"
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_finished_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("before")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UsageError, match="cannot be written: No space left on device; choose another with --output"):
        write_file(file, "after", "--output")
    assert (file.read_text(), list(tmp_path.iterdir())) == ("before", [file])
