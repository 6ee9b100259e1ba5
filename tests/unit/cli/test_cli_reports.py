"""`chaosgate report` and `chaosgate compare`: what they print, what they refuse and with which exit code."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result
from finished_run import finish, measured, seal_run
from judged_run import passing
from junit_schema import parse_junit, red
from rich.console import Console
from simulated_run import OBJECTIVES, SUBJECT, stream_spec
from small_drill import chaosgate as real

from chaosgate.cli.comparison import print_comparison, signed
from chaosgate.cli.main import chaosgate
from chaosgate.components.reading import read_results
from chaosgate.model.result import Estimates
from chaosgate.report.comparison import compare

ROOT = Path(__file__).parents[3]


def call(*words: object) -> Result:
    return CliRunner().invoke(chaosgate, [str(word) for word in words])


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state directory with the runs `old` and `new`, of which the second is slower at low doses."""
    finish(tmp_path / "runs" / "old")
    subject = SUBJECT.model_copy(update={"weights_digest": "sha256:" + "b" * 64})
    finish(tmp_path / "runs" / "new", estimates=slower(0.6), subject=subject, environment={"python": "3.12.1"})
    return tmp_path


def slower(value: float) -> Estimates:
    """The passing run's estimates with another P95 at low doses."""
    first, *rest = passing().objectives
    judged = first.estimates[0].model_copy(update={"value": value, "lower": value - 0.01, "upper": value + 0.02})
    return passing().model_copy(update={"objectives": (first.model_copy(update={"estimates": (judged,)}), *rest)})


# report


def test_report_prints_html_unless_told(state: Path) -> None:
    said = call("report", "old", "--state", state)
    assert said.exit_code == 0
    assert said.stdout.startswith("<!DOCTYPE html>")
    assert said.stderr == ""


@pytest.mark.thorough
@pytest.mark.parametrize("flag", ["-o", "--format"])
@pytest.mark.parametrize(
    ("form", "start"),
    [
        ("html", "<!DOCTYPE html>"),
        ("markdown", "## chaosgate: fail"),
        ("junit", "<?xml version="),
        ("json", '{\n  "schema": "chaosgate/run-report/v1"'),
    ],
)
def test_each_format_by_either_flag(state: Path, flag: str, form: str, start: str) -> None:
    said = call("report", "new", flag, form, "--state", state)
    assert said.exit_code == 0
    assert said.stdout.startswith(start)


def test_an_unknown_format_names_the_known_ones(state: Path) -> None:
    said = call("report", "old", "-o", "pdf", "--state", state)
    assert said.exit_code == 2
    assert "'pdf' is not one of 'html', 'markdown', 'junit', 'json'" in said.stderr


def test_a_report_may_be_repeated_and_replaces_its_file(state: Path, tmp_path: Path) -> None:
    file = tmp_path / "junit.xml"
    for _ in range(2):
        said = call("report", "new", "-o", "junit", "-O", file, "--state", state)
        assert (said.exit_code, said.stdout) == (0, "")
    suite = parse_junit(file.read_text())
    assert red(suite) == ["first-token", "verdict"]


def test_a_report_changes_nothing_of_the_run(state: Path) -> None:
    def kept() -> dict[Path, bytes]:
        return {file: file.read_bytes() for file in (state / "runs").rglob("*") if file.is_file()}

    before = kept()
    call("report", "old", "-o", "json", "--state", state)
    call("compare", "old", "new", "--state", state)
    assert kept() == before


def test_a_file_that_cannot_be_written_says_so(state: Path, tmp_path: Path) -> None:
    file = tmp_path / "none" / "report.html"
    said = call("report", "old", "-O", file, "--state", state)
    assert said.exit_code == 2
    assert said.stderr == (f"{file}: cannot be written: No such file or directory; choose another with --output FILE\n")


def test_a_run_that_ended_early_is_reported_with_what_is_missing(state: Path) -> None:
    measured(state / "runs" / "early")
    said = call("report", "early", "-o", "markdown", "--state", state)
    assert said.exit_code == 0
    assert said.stdout.startswith("## chaosgate: error, unsealed\n")
    assert "| file conclude/estimates.json | `missing` |" in said.stdout
    assert "<dt>file conclude/estimates.json</dt>" in call("report", "early", "--state", state).stdout
    assert red(parse_junit(call("report", "early", "-o", "junit", "--state", state).stdout))


def test_a_run_may_be_named_by_the_path_of_its_folder(state: Path, tmp_path: Path) -> None:
    moved = (state / "runs" / "old").rename(tmp_path / "downloaded")
    data = json.loads(call("report", moved, "-o", "json").stdout)
    assert (data["run"], data["exitCode"]) == ("old", 0)


def test_a_path_that_is_no_run_says_so(tmp_path: Path) -> None:
    said = call("report", tmp_path)
    assert (said.exit_code, said.stderr) == (
        2,
        f"{tmp_path}: holds no run (spec.json is missing); name a run, or the folder of one\n",
    )


@pytest.mark.parametrize("words", [("report", "oldd"), ("compare", "oldd", "new"), ("compare", "new", "oldd")])
def test_an_unknown_run_ends_in_the_nearest_known_one(state: Path, words: tuple[str, ...]) -> None:
    said = call(*words, "--state", state)
    assert (said.exit_code, said.stderr) == (2, f"{state}: unknown run 'oldd'; did you mean 'old'?\n")


# compare


def test_compare_shows_the_worst_first(state: Path) -> None:
    said = call("compare", "old", "new", "--state", state)
    assert said.exit_code == 0
    lines = [line.rstrip() for line in said.stdout.splitlines()]
    assert lines[:5] == [
        "A: old  pass  embedded/tiny",
        "B: new  fail  embedded/tiny",
        "spec: the same",
        "subject: weightsDigest: sha256:aaaaaaaaaaaa -> sha256:bbbbbbbbbbbb",
        "environment: python: 3.11.9 -> 3.12.1",
    ]
    assert lines[5].split() == ["what", "A", "B", "B", "-", "A"]
    assert lines[6].startswith("objective first-token")
    assert lines[6].endswith("worse")
    assert lines[7].startswith("ttft-p95 at dose <= 180ms of slow-wire")
    assert lines[7].endswith("pass -> fail")
    assert lines[-1].startswith("1 worse, 27 no difference shown. Brackets are 95 % intervals;")


def test_compare_json_keeps_its_schema(state: Path) -> None:
    data = json.loads(call("compare", "old", "new", "--state", state, "-o", "json").stdout)
    jsonschema.validate(data, json.loads((ROOT / "schemas" / "run-comparison.v1.json").read_text()))
    assert (data["a"]["run"], data["b"]["run"]) == ("old", "new")
    assert (data["rows"][0]["name"], data["rows"][0]["answer"]) == ("first-token", "worse")


def test_compare_takes_paths(state: Path, tmp_path: Path) -> None:
    moved = (state / "runs" / "old").rename(tmp_path / "baseline")
    said = call("compare", moved, "new", "--state", state)
    assert said.exit_code == 0
    assert said.stdout.startswith("A: old  pass")


def test_runs_of_different_specs_are_refused_and_what_differs_is_named(state: Path) -> None:
    other = stream_spec(objectives=(*OBJECTIVES[1:3], {**OBJECTIVES[3], "within": "6s"}), on_uncertain="fail")
    finish(state / "runs" / "other", spec=other)
    said = call("compare", "old", "other", "--state", state)
    assert (said.exit_code, said.stderr) == (
        2,
        "old and other ran different specs; what differs: objectives, gate; compare runs of one spec, "
        "or give --any to see each difference and to compare what both have\n",
    )
    anyhow = call("compare", "old", "other", "--any", "--state", state)
    assert anyhow.exit_code == 0
    assert "spec: objectives.back.within: 5s -> 6s\n" in anyhow.stdout


@pytest.mark.parametrize(
    ("left", "why"),
    [(None, "not sealed when this was written: cleanup comes last"), (("engine",), "unclean: engine")],
)
def test_a_run_that_is_not_sealed_clean_is_refused(state: Path, left: tuple[str, ...] | None, why: str) -> None:
    folder = finish(state / "runs" / "loose", seal=False)
    if left is not None:
        seal_run(folder, clean=False, left=left)
    said = call("compare", "old", "loose", "--state", state)
    assert (said.exit_code, said.stderr) == (
        3,
        f"loose: is not sealed clean ({why}); run: chaosgate cleanup loose; or give --any to compare it all the same\n",
    )
    anyhow = call("compare", "old", "loose", "--any", "--state", state)
    assert "B: loose  pass  embedded/tiny  not sealed clean\n" in anyhow.stdout


@pytest.mark.parametrize("words", [("early", "old"), ("old", "early")])
def test_a_run_without_estimates_cannot_be_compared(state: Path, words: tuple[str, ...]) -> None:
    measured(state / "runs" / "early")
    said = call("compare", *words, "--any", "--state", state)
    assert (said.exit_code, said.stderr) == (
        3,
        "early: has no estimates that can be read, its verdict is error; only runs that were measured to their end "
        "are compared; see: chaosgate report early -o markdown\n",
    )


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_long_names_fold_and_the_columns_stay(state: Path, width: int) -> None:
    found = compare(*(read_results(name, state / "runs" / name) for name in ("old", "new")))
    long = found.rows[0].model_copy(update={"name": "a" * 63, "fault": "b" * 63})
    console = Console(width=width, record=True, file=io.StringIO())
    print_comparison(found.model_copy(update={"rows": (long, *found.rows[1:3])}), console)
    lines = console.export_text().splitlines()
    table = lines[5:-1]
    assert max(map(len, table)) <= width
    assert "".join(line.split(" ")[0] for line in table).count("a") >= 63
    if width >= 100:
        assert any("[590ms, 620ms]" in line for line in table)


@pytest.mark.parametrize(
    ("value", "dimension", "text"),
    [
        (0.012, "duration", "+12ms"),
        (-0.03, "share", "-3 pp"),
        (0.0, "share", "0 pp"),
        (None, "share", "-"),
        (0.5, "number", "+0.5"),
    ],
)
def test_a_difference_has_a_sign_and_shares_differ_by_points(value: float | None, dimension: str, text: str) -> None:
    assert signed(value, dimension) == text  # type: ignore[arg-type]


# as a real process


def test_compare_imports_nothing_heavy(state: Path) -> None:
    words = ["compare", "old", "new", "--state", str(state)]
    script = (
        "import sys\n"
        "from chaosgate.cli.main import chaosgate\n"
        f"chaosgate({words!r}, standalone_mode=False)\n"
        "print('imported:', *[name for name in ('numpy', 'matplotlib', 'mlflow', 'aiohttp') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1].strip() == "imported:"


def test_report_prints_nothing_but_the_report(state: Path) -> None:
    done = real("report", "old", "-o", "json", "--state", state)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["run"] == "old"
