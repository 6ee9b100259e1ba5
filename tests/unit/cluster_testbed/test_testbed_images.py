"""Images without a registry: what containerd finds in the archive."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from pathlib import Path

import pytest
from testbed.images import binary_image


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program, older than any image of it."""
    file = tmp_path / "program"
    file.write_bytes(b"\x7fELF")
    os.utime(file, (0, 0))
    return file


def test_an_archive_names_its_image_and_holds_one_layer(program: Path, tmp_path: Path) -> None:
    archive = binary_image(tmp_path / "images" / "one.tar", "localhost/one:1", {"bin/one": program}, ["/bin/one"])
    with tarfile.open(archive) as tar:
        (manifest,) = json.load(read(tar, "manifest.json"))
        config = json.load(read(tar, manifest["Config"]))
        layer = read(tar, manifest["Layers"][0]).read()
    assert manifest["RepoTags"] == ["localhost/one:1"]
    assert config["config"]["Entrypoint"] == ["/bin/one"]
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(layer).hexdigest()}"]
    with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
        assert {entry.name: oct(entry.mode) for entry in tar} == {"tmp": "0o1777", "bin/one": "0o755"}
        assert read(tar, "bin/one").read() == b"\x7fELF"


def test_an_image_is_made_again_when_its_program_was(program: Path, tmp_path: Path) -> None:
    archive = tmp_path / "one.tar"
    binary_image(archive, "localhost/one:1", {"one": program}, ["/one"])
    before = archive.read_bytes()
    program.write_bytes(b"\x7fELF, changed")
    os.utime(program, (0, 0))
    assert binary_image(archive, "localhost/one:1", {"one": program}, ["/one"]).read_bytes() == before
    os.utime(program)
    os.utime(archive, (1, 1))
    assert binary_image(archive, "localhost/one:1", {"one": program}, ["/one"]).read_bytes() != before
    assert list(tmp_path.glob("*.half")) == []


def read(tar: tarfile.TarFile, name: str) -> io.BufferedReader:
    found = tar.extractfile(name)
    assert isinstance(found, io.BufferedReader)
    return found
