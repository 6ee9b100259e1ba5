"""Files that a spec names are read beside it and travel in it; every mistake stands at the file's name."""

from __future__ import annotations

import hashlib
import os
from functools import partial
from pathlib import Path

import pytest

from chaosgate.errors import SpecError
from chaosgate.model import load as load_module
from chaosgate.model.enclosed import Limits, enclose
from chaosgate.model.load import load_spec, spec_from_data
from chaosgate.model.spec import ChaosSpec
from chaosgate.model.workload import FilePrompts

BASE = (Path(__file__).parent / "base_spec.yaml").read_text()
ARRIVALS, PROMPTS = "arrivals: {process: poisson, rate: 40/s}", "prompts: {set: recall-24}"
TRACE = "arrivals: {process: trace, file: in/t.csv, repeat: true}"


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "t.csv")
    found = enclose({"spec": {"workload": {"arrivals": {"process": "trace", "file": "t.csv"}}}}, tmp_path)
    (problem,) = found.problems
    assert "is a pipe or a socket" in problem.message


def load(folder: Path, *changes: tuple[str, str]) -> ChaosSpec:
    text = BASE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "spec.yaml").write_text(text)
    return load_spec(folder / "spec.yaml")


def write(folder: Path, name: str, content: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(content)


def test_a_trace_beside_the_spec_becomes_part_of_it(tmp_path: Path) -> None:
    write(tmp_path, "in/t.csv", "at,input,output\n1,5,6\n3,7,8\n")
    spec = load(tmp_path, (ARRIVALS, TRACE), (PROMPTS, "prompts: {lengths: trace}"))
    told = spec.spec.workload.to_json()["arrivals"]
    assert told == {
        "process": "trace",
        "file": "in/t.csv",
        "speed": 1.0,
        "repeat": True,
        "sha256": hashlib.sha256((tmp_path / "in/t.csv").read_bytes()).hexdigest(),
        "rows": "0,5,6 2,7,8",
    }


def test_the_resolved_spec_needs_no_file_and_has_the_same_digest(tmp_path: Path) -> None:
    write(tmp_path, "in/t.csv", "at,input\n1,5\n3,7\n")
    write(tmp_path, "p.csv", "prompt,answer\na,b\n")
    spec = load(tmp_path, (ARRIVALS, TRACE), (PROMPTS, "prompts: {file: p.csv}"))
    (tmp_path / "in/t.csv").unlink()
    again = spec_from_data(spec.to_json(), "spec.json")
    assert again == spec
    assert again.digest() == spec.digest()


def test_another_content_is_another_digest(tmp_path: Path) -> None:
    write(tmp_path, "p.csv", "prompt,answer\na,b\n")
    first = load(tmp_path, (PROMPTS, "prompts: {file: p.csv}"))
    write(tmp_path, "p.csv", "prompt,answer\na,c\n")
    assert load(tmp_path, (PROMPTS, "prompts: {file: p.csv}")).digest() != first.digest()


def test_tenants_have_files_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, "p.jsonl", '{"prompt": "a"}\n')
    tenants = f"tenants: [{{name: acme, {ARRIVALS}, prompts: {{file: p.jsonl}}}}]"
    (stream,) = load(tmp_path, (ARRIVALS, tenants), (f"    {PROMPTS}\n", "")).spec.workload.streams()
    assert isinstance(stream.prompts, FilePrompts)
    assert stream.prompts.text == '{"prompt": "a"}\n'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            None,
            "in/t.csv: cannot be read: No such file or directory; a name counts from where it is written",
        ),
        ("at\nx\n", "in/t.csv:2: at: read 'x', which is no time"),
    ],
)
def test_a_file_that_cannot_be_taken_in_is_told_where_it_is_named(
    tmp_path: Path, content: str | None, said: str
) -> None:
    if content is not None:
        write(tmp_path, "in/t.csv", content)
    with pytest.raises(SpecError) as refused:
        load(tmp_path, (ARRIVALS, TRACE))
    (problem,) = refused.value.problems
    assert (problem.line, problem.column) == (7, 38)
    assert problem.message.startswith(f"{tmp_path}/{said}")


@pytest.mark.parametrize("name", ["../t.csv", "link.csv", "/etc/hostname"])
def test_a_file_of_somebody_else_is_not_read(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "specs"
    folder.mkdir()
    write(tmp_path, "t.csv", "at\n1\n")
    (folder / "link.csv").symlink_to(tmp_path / "t.csv")
    with pytest.raises(SpecError, match=f"lies outside {folder}; a spec takes in files of its own repository"):
        load(folder, (ARRIVALS, TRACE.replace("in/t.csv", name)))


def test_in_a_repository_a_file_may_lie_beside_the_folder_of_specs(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "specs").mkdir()
    write(tmp_path, "t.csv", "at\n1\n")
    assert load(tmp_path / "specs", (ARRIVALS, TRACE.replace("in/t.csv", "../t.csv"))).spec.workload.arrivals


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_module, "enclose", partial(enclose, limits=Limits(2, 1024)))
    write(tmp_path, "p.csv", "prompt\n" + "word\n" * 1000)
    with pytest.raises(SpecError, match="is larger than 1 KiB, the most that is taken in; name a part of it"):
        load(tmp_path, (PROMPTS, "prompts: {file: p.csv}"))


def test_lengths_of_a_trace_without_lengths_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "in/t.csv", "at\n1\n3\n")
    with pytest.raises(SpecError, match=r"`lengths: trace`: in/t.csv tells no lengths"):
        load(tmp_path, (ARRIVALS, TRACE), (PROMPTS, "prompts: {lengths: trace}"))


def test_a_trace_that_is_too_long_for_a_spec_says_how_to_cut_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_module, "enclose", partial(enclose, limits=Limits(2, 1024)))
    write(tmp_path, "in/t.csv", "at\n1\n2\n3\n")
    said = r"has 3 requests; at most 2 are taken in: cut the file, such as by `head -n 3 t.csv > part.csv`"
    with pytest.raises(SpecError, match=said):
        load(tmp_path, (ARRIVALS, TRACE))
