"""A document is read back as it was written, or refused: altered, cut, foreign or of another schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from artifact_samples import IDENTITY, estimates

from chaosgate.artifacts import (
    ARTIFACTS,
    ESTIMATES,
    SPEC,
    STATUS,
    VERDICT,
    Identity,
    read_document,
    read_if_there,
    write_document,
)
from chaosgate.artifacts.documents import digest_of, read_envelope
from chaosgate.errors import ArtifactError
from chaosgate.model.load import load_spec
from chaosgate.model.result import Estimates, Status, Subject, Verdict

BASE_SPEC = Path(__file__).parents[1] / "model" / "base_spec.yaml"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    written = tmp_path / "estimates.json"
    write_document(written, ESTIMATES, IDENTITY, estimates())
    return written


def read(path: Path) -> Estimates:
    return read_document(path, ESTIMATES, IDENTITY)


def refusal(path: Path, identity: Identity | None = IDENTITY) -> str:
    with pytest.raises(ArtifactError) as refused:
        read_document(path, ESTIMATES, identity)
    return str(refused.value).replace(f"{path}: ", "")


def test_content_survives_a_round_trip(path: Path) -> None:
    assert read(path) == estimates()
    assert read_document(path, ESTIMATES) == estimates()


def test_the_digest_is_returned_and_stands_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "estimates.json"
    digest = write_document(path, ESTIMATES, IDENTITY, estimates())
    assert read_envelope(path, ESTIMATES)["digest"] == digest
    assert json.loads(path.read_text())["schema"] == "chaosgate/estimates/v1"


def test_a_spec_keeps_its_kinds_and_its_digest(tmp_path: Path) -> None:
    spec = load_spec(BASE_SPEC)
    write_document(tmp_path / "spec.json", SPEC, IDENTITY, spec)
    again = read_document(tmp_path / "spec.json", SPEC, IDENTITY)
    assert again == spec
    assert again.digest() == spec.digest()
    assert type(again.spec.faults[0]) is type(spec.spec.faults[0])


@pytest.mark.thorough
@pytest.mark.slow
def test_no_corrupted_byte_changes_what_is_read(path: Path) -> None:
    data = path.read_bytes()
    refused = 0
    for at in range(len(data)):
        for byte in {data[at] ^ 1, ord("e") if chr(data[at]) in ".0123456789" else data[at] ^ 0x80}:
            path.write_bytes(data[:at] + bytes([byte]) + data[at + 1 :])
            try:
                assert read(path) == estimates()
            except ArtifactError:
                refused += 1
    assert refused > 2 * len(b"".join(data.split()))


def test_no_deleted_line_goes_unseen(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    for number in range(len(lines)):
        path.write_bytes(b"".join(lines[:number] + lines[number + 1 :]))
        with pytest.raises(ArtifactError):
            read(path)


@pytest.mark.thorough
@pytest.mark.slow
def test_no_cut_goes_unseen(path: Path) -> None:
    data = path.read_bytes()
    for length in range(len(data.rstrip())):
        path.write_bytes(data[:length])
        with pytest.raises(ArtifactError):
            read(path)


def test_an_altered_value_is_called_altered(path: Path) -> None:
    path.write_text(path.read_text().replace("1.234567", "0.234567"))
    assert refusal(path) == "was altered after it was written (its digest does not match); run the step again"


def test_a_number_that_is_too_large_is_no_number(path: Path) -> None:
    path.write_text(path.read_text().replace("1.234567", "1e234567"))
    assert refusal(path) == "is no JSON document: 1e234567 is too large for a number; it was cut short or altered"


def test_nan_is_no_number(path: Path) -> None:
    path.write_text(path.read_text().replace("1.234567", "NaN"))
    assert refusal(path) == "is no JSON document: NaN is no number; it was cut short or altered"


def test_half_of_a_surrogate_pair_is_no_text(path: Path) -> None:
    path.write_text(path.read_text().replace('"content": {', '"content": {"\\ud800": 1,'))
    said = refusal(path)
    assert said.startswith("holds what nobody could have written: 'utf-8' codec can't encode character '\\ud800' in ")
    assert said.endswith(": surrogates not allowed; it was altered")


def test_nesting_without_end_is_refused(path: Path) -> None:
    path.write_text("[" * 100_000)
    assert refusal(path).startswith("is no JSON document: maximum recursion depth exceeded")


@pytest.mark.parametrize(
    ("identity", "says"),
    [
        (Identity("run-2", IDENTITY.spec), "belongs to run 'run-1', not to 'run-2'"),
        (Identity("run-1", "sha256:1"), f"belongs to spec '{IDENTITY.spec}', not to 'sha256:1'"),
    ],
)
def test_a_file_of_another_run_or_spec_is_refused(path: Path, identity: Identity, says: str) -> None:
    assert refusal(path, identity) == says


def test_what_is_missing_or_cannot_be_trusted_is_not_there(path: Path) -> None:
    assert read_if_there(path, ESTIMATES, IDENTITY) == estimates()
    assert read_if_there(path, ESTIMATES, Identity("run-2", None)) is None
    assert read_if_there(path, VERDICT, IDENTITY) is None
    assert read_if_there(path.with_name("none.json"), ESTIMATES, IDENTITY) is None


def test_a_file_of_another_artifact_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "estimates.json"
    write_document(path, STATUS, IDENTITY, Status(status="ok"))
    assert refusal(path) == "read schema 'chaosgate/status/v1'; 'chaosgate/estimates/v1' is needed"


def test_a_file_that_is_no_object_is_refused(path: Path) -> None:
    path.write_text("[1]\n")
    assert refusal(path) == "holds a list; a JSON object is needed"


def test_content_of_the_wrong_form_is_refused_even_when_it_is_signed(path: Path) -> None:
    envelope: dict[str, Any] = json.loads(path.read_text())
    envelope.pop("digest")
    envelope["content"]["health"]["requests"] = "many"
    path.write_text(json.dumps({**envelope, "digest": digest_of(envelope)}))
    assert refusal(path).startswith("content.health.requests: ")


def test_nan_is_never_written(tmp_path: Path) -> None:
    subject = Subject(model="m", engine="embedded", arguments={"temperature": float("nan")})
    verdict = Verdict(verdict="error", reasons=(), subject=subject)
    with pytest.raises(ValueError, match="JSON"):
        write_document(tmp_path / "verdict.json", VERDICT, IDENTITY, verdict)
    assert list(tmp_path.iterdir()) == []


def test_every_artifact_has_its_own_file_and_schema() -> None:
    assert len({artifact.file for artifact in ARTIFACTS.values()}) == len(ARTIFACTS)
    assert {artifact.schema for artifact in ARTIFACTS.values()} == {f"chaosgate/{name}/v1" for name in ARTIFACTS}
