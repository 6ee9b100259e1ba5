"""A workflow as text, and a spec into which nothing is filled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from argo_cases import changed, compiled, data_of
from hypothesis import given, settings
from pipeline_cases import ANY_TEXT, SPEC

from chaosgate.artifacts import SPEC as SPEC_ARTIFACT
from chaosgate.artifacts import document_text, read_document, spec_identity
from chaosgate.compile.argo.text import spec_text, workflow_text


@settings(max_examples=100)
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


def test_names_come_first() -> None:
    text = workflow_text("c", {"data": [{"b": 1, "name": "x"}], "name": "me"})
    assert text == "# c\nname: me\ndata:\n- name: x\n  b: 1\n"
