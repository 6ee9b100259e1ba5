"""JSON documents: one envelope around the content, with schema, run, spec and a digest that any change breaks."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from chaosgate.artifacts.contract import ANY_RUN, SPEC, Artifact, Identity, Model
from chaosgate.artifacts.files import read_whole, write_whole
from chaosgate.errors import ArtifactError
from chaosgate.model.base import first_refusal
from chaosgate.model.spec import ChaosSpec, canonical_json
from chaosgate.strict_json import parse_json


def write_document(path: Path, artifact: Artifact[Model], identity: Identity, content: Model) -> str:
    """Write `content` as `artifact` and return its digest."""
    envelope = _envelope(artifact, identity, content)
    write_whole(path, _text(envelope).encode())
    return str(envelope["digest"])


def write_spec(path: Path, spec: ChaosSpec) -> str:
    """Write `spec` and return the digest of the file."""
    return write_document(path, SPEC, spec_identity(spec), spec)


def spec_identity(spec: ChaosSpec) -> Identity:
    """Whose file a spec's is: it belongs to no run, and to itself."""
    return Identity(ANY_RUN, spec.digest())


def document_text(artifact: Artifact[Model], identity: Identity, content: Model) -> str:
    """The whole file that holds `content` as `artifact`."""
    return _text(_envelope(artifact, identity, content))


def _envelope(artifact: Artifact[Model], identity: Identity, content: Model) -> dict[str, Any]:
    envelope: dict[str, Any] = {
        "schema": artifact.schema,
        "run": identity.run,
        "spec": identity.spec,
        "content": content.to_json(),
    }
    envelope["digest"] = digest_of(envelope)
    return envelope


def _text(envelope: dict[str, Any]) -> str:
    return json.dumps(envelope, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def read_document(path: Path, artifact: Artifact[Model], identity: Identity | None = None) -> Model:
    """The content of `artifact`. An ArtifactError when it is altered, or of another schema, run or spec."""
    return _content(path, artifact, read_envelope(path, artifact, identity))


def read_if_there(path: Path, artifact: Artifact[Model], identity: Identity) -> Model | None:
    """The content of `artifact`, None when it is missing or cannot be trusted."""
    try:
        return read_document(path, artifact, identity)
    except ArtifactError:
        return None


def read_envelope(path: Path, artifact: Artifact[Model], identity: Identity | None = None) -> dict[str, Any]:
    """The whole file as data, after its schema, digest and, when given, its identity were checked."""
    envelope = _parse(path)
    check_header(path, artifact, envelope, identity)
    found = envelope.pop("digest", None)
    try:
        digest = digest_of(envelope)
    except (UnicodeEncodeError, RecursionError) as error:
        raise ArtifactError(f"{path}: holds what nobody could have written: {error}; it was altered") from error
    if found != digest:
        raise ArtifactError(f"{path}: was altered after it was written (its digest does not match); run the step again")
    return {**envelope, "digest": found}


def check_header(path: Path, artifact: Artifact[Model], header: dict[str, Any], identity: Identity | None) -> None:
    """Refuse a file of another schema, run or spec than expected."""
    if header.get("schema") != artifact.schema:
        raise ArtifactError(f"{path}: read schema {header.get('schema')!r}; {artifact.schema!r} is needed")
    if identity is None:
        return
    for key, wanted in (("run", identity.run), ("spec", identity.spec)):
        if wanted is not None and header.get(key) != wanted:
            raise ArtifactError(f"{path}: belongs to {key} {header.get(key)!r}, not to {wanted!r}")


def digest_of(data: dict[str, Any]) -> str:
    """`sha256:<hex>` of the canonical JSON of `data`."""
    return "sha256:" + hashlib.sha256(canonical_json(data).encode()).hexdigest()


def _parse(path: Path) -> dict[str, Any]:
    try:
        data = parse_json(read_whole(path))
    except (ValueError, RecursionError) as error:
        raise ArtifactError(f"{path}: is no JSON document: {error}; it was cut short or altered") from error
    if not isinstance(data, dict):
        raise ArtifactError(f"{path}: holds a {type(data).__name__}; a JSON object is needed")
    return data


def _content(path: Path, artifact: Artifact[Model], envelope: dict[str, Any]) -> Model:
    if artifact.model is SPEC.model:
        # A spec's kinds are looked up in the registry, which plain validation does not know.
        from chaosgate.model.load import spec_from_data

        return cast(Model, spec_from_data(envelope.get("content"), str(path)))
    try:
        return artifact.model.model_validate(envelope.get("content"))
    except ValidationError as error:
        raise ArtifactError(f"{path}: content.{first_refusal(error)}") from error
