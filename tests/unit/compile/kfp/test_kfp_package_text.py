"""A package as text and as data: the same content has the same text, which YAML reads back as it was."""

from __future__ import annotations

import pytest

from chaosgate.compile.kfp.package import Package, child, package_text, read_documents
from chaosgate.errors import UsageError


def test_keys_are_sorted_but_for_tasks() -> None:
    one = {"b": 1, "a": {"tasks": {"z": {"d": 1, "c": 2}, "x": {}}}}
    other = {"a": {"tasks": {"z": {"c": 2, "d": 1}, "x": {}}}, "b": 1}
    assert package_text([], [one]) == package_text([], [other])
    assert package_text([], [one]) == "a:\n  tasks:\n    z:\n      c: 2\n      d: 1\n    x: {}\nb: 1\n"


def test_what_is_missing_is_an_empty_mapping() -> None:
    package = Package([{"root": {"dag": {"tasks": {"gate": {}}}}}, {}])
    (task,) = package.tasks
    assert (task.name, task.dag, task.container, task.settings, task.words) == ("gate", "root", {}, {}, ())
    assert (task.constant("run"), task.source("spec"), task.is_importer, task.on_exit) == (None, ("", ""), False, False)
    assert child({"a": {"b": 1}}, "a", "b") == {}
    assert package.name == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: 1", "it has 1 YAML documents, not the two of a pipeline and its platform"),
        ("a: 1\n---\n- b", "it has 2 YAML documents, not the two of a pipeline and its platform"),
        ("a: [", "while parsing a flow node did not find expected node content"),
    ],
)
def test_another_text_is_refused(text: str, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_documents(text)
    assert str(refused.value).startswith(f"this is no package that `chaosgate compile --to kfp` wrote: {why}")
    assert str(refused.value).endswith("; compile the spec again")
