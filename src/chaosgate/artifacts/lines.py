"""JSONL files: a header line, one line an item, and a last line that says how many there were and digests them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from chaosgate.artifacts.contract import Artifact, Identity, Model
from chaosgate.artifacts.documents import check_header
from chaosgate.artifacts.files import read_whole, write_whole
from chaosgate.errors import ArtifactError
from chaosgate.model.base import first_refusal
from chaosgate.strict_json import parse_json


def write_lines(path: Path, artifact: Artifact[Model], identity: Identity, items: Iterable[Model]) -> None:
    """Write `items` as `artifact`: header, items, `{"complete": true, "count": n, "sha256": ...}`."""
    header = {"schema": artifact.schema, "run": identity.run, "spec": identity.spec}
    lines = [_dump(header)] + [_dump(item.to_json()) for item in items]
    body = b"".join(lines)
    trailer = {"complete": True, "count": len(lines) - 1, "sha256": hashlib.sha256(body).hexdigest()}
    write_whole(path, body + _dump(trailer))


def read_lines(path: Path, artifact: Artifact[Model], identity: Identity | None = None) -> list[Model]:
    """All items of `artifact`. An ArtifactError names the line of a cut, altered or foreign file."""
    data = read_whole(path)
    if not data.endswith(b"\n"):
        raise ArtifactError(f"{path}: ends in the middle of a line; the step that writes it did not finish")
    lines = data.splitlines(keepends=True)
    trailer = _parse(path, len(lines), lines[-1])
    if trailer.get("complete") is not True:
        raise ArtifactError(f"{path}: is incomplete: its last line does not say so; the step did not finish")
    body, count = lines[:-1], len(lines) - 2
    if not body or trailer.get("count") != count or trailer.get("sha256") != hashlib.sha256(b"".join(body)).hexdigest():
        raise ArtifactError(
            f"{path}: was altered after it was written: {count} lines read, {trailer.get('count')!r} were written"
        )
    check_header(path, artifact, _parse(path, 1, body[0]), identity)
    return [_item(path, number, line, artifact.model) for number, line in enumerate(body[1:], start=2)]


def _dump(data: dict[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":"), allow_nan=False, ensure_ascii=False).encode() + b"\n"


def _parse(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        data = parse_json(line)
    except (ValueError, RecursionError) as error:
        raise ArtifactError(f"{path}:{number}: is no JSON: {error}; the file was cut short or altered") from error
    if not isinstance(data, dict):
        raise ArtifactError(f"{path}:{number}: holds a {type(data).__name__}; a JSON object is needed")
    return data


def _item(path: Path, number: int, line: bytes, model: type[Model]) -> Model:
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        raise ArtifactError(f"{path}:{number}: {first_refusal(error)}") from error
