"""Images made without a registry: one binary in an otherwise empty image, as a docker-archive that containerd takes."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path


def binary_image(archive: Path, name: str, files: Mapping[str, Path], command: Sequence[str]) -> Path:
    """Write the image `name` with `files` (path in the image to path here) and an empty /tmp to `archive`.

    An archive that is there and younger than the files stays as it is.
    """
    if archive.exists() and all(file.stat().st_mtime < archive.stat().st_mtime for file in files.values()):
        return archive
    layer = _layer(files)
    digest = hashlib.sha256(layer).hexdigest()
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Entrypoint": list(command), "Env": ["PATH=/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
    }
    content = json.dumps(config).encode()
    config_file = f"{hashlib.sha256(content).hexdigest()}.json"
    manifest = [{"Config": config_file, "RepoTags": [name], "Layers": [f"{digest}.tar"]}]
    archive.parent.mkdir(parents=True, exist_ok=True)
    half = archive.with_suffix(".half")
    with tarfile.open(half, "w") as tar:
        _add(tar, f"{digest}.tar", layer)
        _add(tar, config_file, content)
        _add(tar, "manifest.json", json.dumps(manifest).encode())
    half.rename(archive)
    return archive


def _layer(files: Mapping[str, Path]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        folder = tarfile.TarInfo("tmp")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o1777
        tar.addfile(folder)
        for place, file in files.items():
            _add(tar, place.lstrip("/"), file.read_bytes(), 0o755)
    return buffer.getvalue()


def _add(tar: tarfile.TarFile, name: str, data: bytes, mode: int = 0o644) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), mode
    tar.addfile(entry, io.BytesIO(data))
