"""A JSONL file is read back as it was written, or refused with the line that is wrong."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from artifact_samples import IDENTITY, observation
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.artifacts import OBSERVATIONS, Identity, read_lines, write_lines
from chaosgate.errors import ArtifactError
from chaosgate.model.observation import Observation

ITEMS = [observation(number) for number in range(3)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    written = tmp_path / "observations.jsonl"
    write_lines(written, OBSERVATIONS, IDENTITY, ITEMS)
    return written


def read(path: Path) -> list[Observation]:
    return read_lines(path, OBSERVATIONS, IDENTITY)


def refusal(path: Path, identity: Identity | None = IDENTITY) -> str:
    with pytest.raises(ArtifactError) as refused:
        read_lines(path, OBSERVATIONS, identity)
    return str(refused.value).replace(str(path), "F")


def test_items_survive_a_round_trip(path: Path) -> None:
    assert read(path) == ITEMS


def test_no_items_are_items_too(path: Path) -> None:
    write_lines(path, OBSERVATIONS, IDENTITY, [])
    assert read(path) == []


def test_the_last_line_says_how_many_there_are(path: Path) -> None:
    last = json.loads(path.read_text().splitlines()[-1])
    assert last["complete"] is True
    assert last["count"] == len(ITEMS)


@given(st.text(max_size=30))
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("lines") / "observations.jsonl"
    items = [observation(1).model_copy(update={"text": text})]
    write_lines(path, OBSERVATIONS, IDENTITY, items)
    assert read(path) == items


def test_every_deleted_line_is_refused(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    for number in range(len(lines)):
        path.write_bytes(b"".join(lines[:number] + lines[number + 1 :]))
        with pytest.raises(ArtifactError):
            read(path)


def test_every_pair_of_swapped_or_doubled_lines_is_refused(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    for number in range(1, len(lines)):
        for changed in (lines[number - 1 : number + 1][::-1], [lines[number]] * 2):
            path.write_bytes(b"".join(lines[: number - 1] + changed + lines[number + 1 :]))
            with pytest.raises(ArtifactError):
                read(path)


@pytest.mark.thorough
@pytest.mark.slow
def test_every_corrupted_byte_is_refused(path: Path) -> None:
    data = path.read_bytes()
    for at in range(len(data)):
        for byte in {data[at] ^ 1, ord("\n") if at % 2 else ord("9")} - {data[at]}:
            path.write_bytes(data[:at] + bytes([byte]) + data[at + 1 :])
            with pytest.raises(ArtifactError):
                read(path)


@pytest.mark.thorough
@pytest.mark.slow
def test_every_cut_is_refused(path: Path) -> None:
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(ArtifactError):
            read(path)


def test_a_cut_line_and_a_missing_end_are_told_apart(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:-10])
    assert refusal(path) == "F: ends in the middle of a line; the step that writes it did not finish"
    path.write_bytes(b"".join(data.splitlines(keepends=True)[:-1]))
    assert refusal(path) == "F: is incomplete: its last line does not say so; the step did not finish"
    path.write_bytes(b"".join(data.splitlines(keepends=True)[1:]))
    assert refusal(path) == "F: was altered after it was written: 2 lines read, 3 were written"


def test_a_file_of_another_run_is_refused(path: Path) -> None:
    assert refusal(path, Identity("run-2", IDENTITY.spec)) == "F: belongs to run 'run-1', not to 'run-2'"


def test_a_line_of_the_wrong_form_is_named_even_when_it_is_signed(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b'"status":200', b'"status":"ok"')
    body = b"".join(lines[:-1])
    trailer = {"complete": True, "count": len(ITEMS), "sha256": hashlib.sha256(body).hexdigest()}
    path.write_bytes(body + json.dumps(trailer).encode() + b"\n")
    assert refusal(path).startswith("F:3: status: ")


def test_a_trailer_alone_is_refused(path: Path) -> None:
    trailer = {"complete": True, "count": -1, "sha256": hashlib.sha256(b"").hexdigest()}
    path.write_bytes(json.dumps(trailer).encode() + b"\n")
    assert refusal(path) == "F: was altered after it was written: -1 lines read, -1 were written"
