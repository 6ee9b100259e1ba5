"""YAML is read strictly, and whatever is refused is refused with its place and the way out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chaosgate.errors import SpecError
from chaosgate.model import source
from chaosgate.model.source import Mark, parse_source, read_source, yaml_type


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("off", "off"),
        ("010", 10),
        ("0o10", 8),
        ("0x1F", 31),
        ("-7", -7),
        ("1_000", "1_000"),
        ("12:30:00", "12:30:00"),
        ("2026-01-02", "2026-01-02"),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("'5'", "5"),
        ('"true"', "true"),
        ("~", None),
        ("", None),
        ("<= 300ms", "<= 300ms"),
        ("100 %", "100 %"),
    ],
)
def test_scalars_follow_the_core_schema_of_yaml_1_2(text: str, value: object) -> None:
    data = parse_source(f"key: {text}\n", "f").data
    assert data == {"key": value}
    assert type(data["key"]) is type(value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "f (document): is empty; `chaosgate init` writes a first spec"),
        ("# nothing\n", "f (document): is empty; `chaosgate init` writes a first spec"),
        ("bound: >= 99 %\n", 'f:1:8 (document): a bare `>` starts a block of text in YAML; quote it: ">= 99 %"'),
        ("bound: > 5 # ms\n", 'f:1:8 (document): a bare `>` starts a block of text in YAML; quote it: "> 5"'),
        ("a: {bound: > 5, b: 1}\n", 'f:1:12 (document): a bare `>` starts a block of text in YAML; quote it: "> 5"'),
        (
            "a:\n  rate: {{ parameters.rate }}/s\n",
            'f:2:30 (document): read `{{` outside quotes; quote it: "{{ parameters.NAME }}"',
        ),
        ("share: %5\n", 'f:1:8 (document): a value that starts with `%` must stand in quotes: "%5"'),
        ("model: @x\n", 'f:1:8 (document): a value that starts with `@` must stand in quotes: "@x"'),
        ("a:\n\t- x\n", "f:2:1 (document): read a tab; indent with spaces"),
        ("a: 1\n---\nb: 2\n", "f:2:1 (document): read a second document; a file holds one spec: split it at `---`"),
        ("a: \x07\n", "f:1:4 (document): read a control character; remove it"),
        ("a: x: y\n", "f:1:5 (document): is no valid YAML: mapping values are not allowed in this context"),
        ("a: *b\n", "f:1:4 (document): is no valid YAML: found undefined alias"),
        (
            "[" * 5000,
            "f:1:1001 (document): is no valid YAML: while increasing flow level, exceeded maximum nesting depth",
        ),
    ],
)
def test_text_that_is_no_yaml_is_refused_with_the_way_out(text: str, says: str) -> None:
    with pytest.raises(SpecError) as refusal:
        parse_source(text, "f")
    assert str(refusal.value) == says


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- 1\n", "f:1:1 (document): read a list; a spec is a mapping that starts with `apiVersion:`"),
        ("a: 1\nb: 2\na: 3\n", "f:3:1 a: key 'a' is given twice, first in line 1; remove one"),
        ("1: a\n", "f:1:1 (document): read the key '1'; a key is plain text: put it in quotes"),
        ("? [a]\n: 1\n", "f:1:3 (document): read a list or a mapping as a key; a key is plain text"),
        ("a: {<<: {b: 1}}\n", "f:1:5 a: read the merge key `<<`; it is not supported: write the keys out"),
        (
            "a: !!python/object:os.system x\n",
            "f:1:4 a: read the tag !!python/object:os.system; tags are not supported: write the plain value",
        ),
        ("a: !!str 5\n", "f:1:4 a: read the tag !!str; tags are not supported: write the plain value"),
        ("a: {{ parameters.x }}\n", 'f:1:5 a: read `{{` outside quotes; quote it: "{{ parameters.NAME }}"'),
        ("bound: >5\n", 'f:1:8 bound: `>` starts a block of text in YAML; quote it: bound: "> 5"'),
        ("a: .nan\n", "f:1:4 a: read .nan; numbers are finite"),
        ("a: 1e999\n", "f:1:4 a: read '1e999', which is too large for a number"),
        ("a: 1234567890123456789\n", "f:1:4 a: read a number of 19 digits; at most 18 are allowed"),
    ],
)
def test_yaml_beyond_plain_data_is_refused(text: str, says: str) -> None:
    assert [problem.render("f") for problem in parse_source(text, "f").problems] == [says]


def test_a_folded_text_is_text_where_no_bound_stands() -> None:
    assert parse_source("note: >\n  two\n  lines\n", "f").data == {"note": "two lines\n"}


def test_aliases_may_be_used_but_not_to_blow_up_a_spec() -> None:
    assert parse_source("a: &x {b: 1}\nc: *x\n", "f").data == {"a": {"b": 1}, "c": {"b": 1}}
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    problems = parse_source("\n".join(lines), "f").problems
    assert [problem.message for problem in problems] == [
        "more than 10000 values (aliases count wherever they are used); write a smaller spec"
    ]


def test_an_alias_of_itself_ends() -> None:
    problems = parse_source("a: &a [*a]\n", "f").problems
    assert problems[0].message == (
        "nested deeper than 64 levels (aliases count wherever they are used); write a smaller spec"
    )


def test_values_and_keys_are_located() -> None:
    read = parse_source("a:\n  b: [1, 2]\n", "f")
    assert read.locate(("a", "b", 1)) == Mark(2, 10)
    assert read.locate(("a", "b"), at_key=True) == Mark(2, 3)
    assert read.locate(("a", "missing", 3)) == Mark(2, 3)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "missing.yaml"
    with pytest.raises(SpecError) as refusal:
        read_source(path)
    assert str(refusal.value) == (
        f"{path} (document): cannot be read: No such file or directory; name a YAML file that holds a chaos spec"
    )


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot be read: Is a directory"):
        read_source(tmp_path)


def test_a_file_that_is_not_utf_8_is_refused_at_its_byte(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes("a: 1\nb: Zürich\n".encode("latin-1"))
    with pytest.raises(SpecError) as refusal:
        read_source(path)
    assert str(refusal.value) == f"{path}:2:5 (document): byte 0xfc is not UTF-8; save the file as UTF-8"


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    path = tmp_path / "bom.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_source(path).data == {"a": 1}


def test_a_huge_file_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    path.write_bytes(b"#" * (source.MAX_BYTES + 1))
    with pytest.raises(SpecError, match="is larger than 1048576 bytes, the most that is read"):
        read_source(path)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "nothing"),
        (True, "true"),
        (5, "5"),
        ("x", "'x'"),
        ([1], "a list"),
        ({}, "a mapping"),
        ({"a": 1}, "{a: ...}"),
    ],
)
def test_values_are_named_in_the_words_of_yaml(value: Any, words: str) -> None:
    assert yaml_type(value) == words


def test_a_value_that_is_told_has_no_password() -> None:
    assert yaml_type("http://user:hunter2@prometheus:9090") == "'http://user:***@prometheus:9090'"
    assert "hunter2" not in yaml_type("postgresql://user:hunter2@" + "h" * 80)
