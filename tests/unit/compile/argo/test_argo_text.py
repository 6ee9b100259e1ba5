"""YAML that Argo reads as it was meant, and a spec into which nothing is filled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from argo_cases import ANY_TEXT, SPEC, changed, compiled, data_of
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosgate.artifacts import SPEC as SPEC_ARTIFACT
from chaosgate.artifacts import document_text, read_document, spec_identity
from chaosgate.compile.argo.text import spec_text, workflow_text

VALUES = st.recursive(
    ANY_TEXT | st.integers() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=200, deadline=None)
@given(data=st.dictionaries(ANY_TEXT, VALUES, max_size=4))
def test_whatever_is_written_reads_back(data: dict[str, object]) -> None:
    assert yaml.safe_load(workflow_text("c", data)) == data


@settings(max_examples=100, deadline=None)
@given(key=ANY_TEXT, value=ANY_TEXT)
def test_any_text_in_a_spec_survives(key: str, value: str) -> None:
    spec = changed(SPEC, annotations={key: value})
    text = spec_text(spec)
    assert json.loads(text) == json.loads(document_text(SPEC_ARTIFACT, spec_identity(spec), spec))
    assert "{{" not in text
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize("text", ["{{workflow.name}}", "{{{{=1+1}}}}", "\\{{inputs.parameters.x}}", "a\u2028b\x85c😀"])
def test_a_spec_that_argo_would_fill_in_arrives_as_it_was_written(text: str, tmp_path: Path) -> None:
    spec = changed(SPEC, annotations={"note": text})
    data = data_of(compiled(spec))["spec"]["arguments"]["artifacts"][0]["raw"]["data"]
    file = tmp_path / "spec.json"
    file.write_text(data)
    assert "{{" not in data
    assert read_document(file, SPEC_ARTIFACT).metadata.annotations == {"note": text}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("y", "'y'"),
        ("N", "'N'"),
        ("on", "'on'"),
        ("1e3", "'1e3'"),
        ("0o17", "'0o17'"),
        ("-1e3", "'-1e3'"),
        (".5e1", "'.5e1'"),
        ("2026-01-01", "'2026-01-01'"),
        ("null", "'null'"),
        ("--run", "--run"),
        ("yes-we-can", "yes-we-can"),
    ],
)
def test_text_that_yaml_takes_for_another_type_is_quoted(text: str, written: str) -> None:
    assert workflow_text("c", {"key": text, text: 1}) == f"# c\nkey: {written}\n{written}: 1\n"


def test_names_come_first_and_text_of_several_lines_is_a_block() -> None:
    assert workflow_text("c", {"data": "x\ny\n", "name": "me"}) == "# c\nname: me\ndata: |\n  x\n  y\n"


def test_no_line_is_folded() -> None:
    words = " ".join(["word"] * 500)
    assert workflow_text("c", {"key": words}) == f"# c\nkey: {words}\n"
