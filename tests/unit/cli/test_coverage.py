from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest

from chaosgate.cli.coverage import REGISTRIES, Coverage, Row, coverage, print_coverage, read_catalogue
from chaosgate.errors import UsageError
from chaosgate.model.fault import FAULTS

ROOT = Path(__file__).parents[3]
TEST = "tests/test_kinds.py"


def row(**changed: Any) -> Row:
    given = {"id": "a", "section": "1", "kind": "rule", "name": None, "status": "open", "what": "a promise"}
    return Row.model_validate({**given, **changed})


@pytest.fixture
def true_rows(tmp_path: Path) -> list[Row]:
    """A catalogue without a problem: a done row with its test for every built-in kind, and one open promise."""
    names = [(sort, name) for sort, registry in REGISTRIES.items() for name in registry.names()]
    (tmp_path / "tests").mkdir()
    text = "\n".join(f'"{name}"' for _, name in names) + "\ndef test_the_rule() -> None: ...\n"
    (tmp_path / TEST).write_text(text)
    done = [row(id=name, kind=sort, name=name, status="done", test=TEST) for sort, name in names]
    return [*done, row()]


def test_the_catalogue_of_this_repository_is_true() -> None:
    found = coverage(read_catalogue(ROOT / "catalogue.yaml"), ROOT)
    assert found.problems == ()
    assert 0 < found.done < found.total


def test_a_true_catalogue_has_no_problems(true_rows: list[Row], tmp_path: Path) -> None:
    found = coverage(true_rows, tmp_path)
    assert found == Coverage(len(true_rows) - 1, len(true_rows), ())
    assert found.render() == f"{len(true_rows) - 1} of {len(true_rows)} promises kept, 1 open, 0 problems"


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"status": "done"}, "a: is done without a test; name the file that proves it"),
    ({"status": "done", "test": "tests/none.py::x"}, "a: its test tests/none.py does not exist; name a file below"),
    ({"status": "done", "test": TEST}, f"a: has no name, so its test must be FILE::FUNCTION; read {TEST}"),
    ({"status": "done", "test": f"{TEST}::test_other"}, f"a: its test {TEST} does not contain def test_other("),
    (
        {"status": "done", "test": TEST, "kind": "fault", "name": "wire.latencies"},
        "a: is done, but unknown fault kind 'wire.latencies'; did you mean 'wire.latency'?",
    ),
    (
        {"status": "done", "test": TEST, "kind": "breaker", "name": "dual"},
        "a: is done, but unknown breaker kind 'dual'",
    ),
    (
        {"status": "done", "test": TEST, "name": "never-named"},
        f"""a: its test {TEST} does not contain "never-named";""",
    ),
    ({"id": "ttft"}, "id 'ttft' has 2 rows; keep one"),
    ({"kind": "sli", "name": "ttft"}, "name 'sli ttft' has 2 rows; keep one"),
]


@pytest.mark.parametrize(("changed", "sentence"), BROKEN, ids=[sentence[:50] for _, sentence in BROKEN])
def test_a_row_that_lies_is_a_problem(
    true_rows: list[Row], tmp_path: Path, changed: dict[str, Any], sentence: str
) -> None:
    problems = coverage([*true_rows[:-1], row(**changed)], tmp_path).problems
    assert any(problem.startswith(sentence) for problem in problems), problems


def test_a_rule_is_proved_by_the_function_it_names(true_rows: list[Row], tmp_path: Path) -> None:
    assert coverage([*true_rows, row(id="b", status="done", test=f"{TEST}::test_the_rule")], tmp_path).problems == ()


def test_a_built_in_kind_without_a_row_is_a_problem(true_rows: list[Row], tmp_path: Path) -> None:
    rows = [each for each in true_rows if each.name != "wire.latency"]
    assert coverage(rows, tmp_path).problems == (
        "fault kind 'wire.latency' is registered by chaosgate.faults.wire.latency and has no row; add one",
    )


def test_a_plugins_kind_needs_no_row(true_rows: list[Row], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stranger = type("Stranger", (FAULTS.get("wire.latency"),), {"__module__": "stranger_faults"})
    monkeypatch.setitem(FAULTS._kinds, "stranger.pause", stranger)
    assert coverage(true_rows, tmp_path).problems == ()


def test_a_registered_kind_may_not_stay_open(true_rows: list[Row], tmp_path: Path) -> None:
    opened = [each.model_copy(update={"status": "open"}) if each.id == "ttft" else each for each in true_rows]
    assert coverage(opened, tmp_path).problems == (
        "ttft: is open, but sli 'ttft' is registered; name its test and set it to done",
    )


def test_problems_are_printed_and_end_in_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "catalogue.yaml"
    path.write_text("- {id: a, section: '1', kind: rule, name: null, status: done, what: a promise}\n")
    with pytest.raises(click.exceptions.Exit) as ended:
        print_coverage(path, "text")
    assert ended.value.exit_code == 1
    assert "a: is done without a test; name the file that proves it\n" in capsys.readouterr().out


def test_the_coverage_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_coverage(ROOT / "catalogue.yaml", "json")
    assert json.loads(capsys.readouterr().out)["problems"] == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: 1", "holds a dict; a list of rows is needed"),
        ("- {id: [", "is no YAML"),
        ("- {id: a}", r"row 0\.section: Field required"),
        ("- {id: a, section: '1', kind: myth, name: null, status: open, what: x}", r"row 0\.kind: .*read 'myth'"),
    ],
)
def test_a_file_that_is_no_catalogue_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "catalogue.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=sentence):
        read_catalogue(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.yaml: cannot be read: No such file .* name the catalogue with --file"):
        read_catalogue(tmp_path / "none.yaml")
