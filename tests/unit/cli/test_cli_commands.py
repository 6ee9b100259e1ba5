"""The command line: what each command says and how it exits. Nothing here starts a drill."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from small_drill import chaosgate as real
from small_drill import command, environment, write_spec

from chaosgate.cli.main import chaosgate


def call(*words: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(chaosgate, [str(word) for word in words], input=stdin)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    return write_spec(tmp_path)


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    file = tmp_path / "broken.yaml"
    file.write_text(write_spec(tmp_path).read_text().replace("kind: wire.latency", "kind: wire.latencie"))
    return file


# the group


def test_help_lists_the_commands_in_the_order_a_person_meets_them() -> None:
    listed = call("--help").stdout.split("Commands:\n")[1].split("\n\n")[0]
    names = [line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line[2] != " "]
    way = ["init", "validate", "plan", "compile", "run", "record", "cleanup"]
    assert [name for name in names if name in way] == way


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_states_the_exit_codes(flag: str) -> None:
    said = call(flag)
    assert said.exit_code == 0
    assert "Exit codes: 0 pass or warn, 1 the gate says no" in " ".join(said.stdout.split())


def test_an_unknown_command_ends_in_the_nearest_known_one() -> None:
    said = call("validat")
    assert said.exit_code == 2
    assert "unknown command 'validat'; did you mean 'validate'?" in said.stderr


# init


def test_init_without_a_terminal_takes_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = call("init")
    assert said.exit_code == 0
    assert said.stdout == (
        "wrote first-drill.yaml; next: chaosgate plan first-drill.yaml && chaosgate run first-drill.yaml\n"
    )
    assert call("validate", tmp_path / "first-drill.yaml").exit_code == 0


def test_init_says_where_a_fault_of_the_cluster_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = call("init", "--name", "lost", "--fault", "pod.delete")
    assert said.stdout == "wrote lost.yaml; next: chaosgate plan lost.yaml && chaosgate run lost.yaml --on argo\n"


@pytest.mark.parametrize(
    ("flags", "lacking"),
    [(["--engine", "endpoint"], "model"), (["--engine", "endpoint", "--model", "m"], "endpoint")],
)
def test_init_for_a_running_server_needs_its_address_and_model(flags: list[str], lacking: str) -> None:
    said = call("init", *flags)
    assert said.exit_code == 2
    assert said.stderr == (
        f"--engine endpoint needs --{lacking}; a running server is named by --endpoint and --model\n"
    )


def test_init_writes_what_the_flags_say(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    words = ["--name", "mine", "--endpoint", "http://127.0.0.1:9", "--model", "m", "--fault", "stream.cut"]
    assert call("init", *words, "-O", file).exit_code == 0
    text = file.read_text()
    assert all(word in text for word in ("name: mine", "engine: endpoint", "http://127.0.0.1:9", "kind: stream.cut"))
    assert call("validate", file).exit_code == 0


def test_init_to_stdout_prints_a_spec_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = call("init", "-O", "-")
    (tmp_path / "piped.yaml").write_text(said.stdout)
    assert call("validate", tmp_path / "piped.yaml").exit_code == 0
    assert [file.name for file in tmp_path.iterdir()] == ["piped.yaml"]


def test_init_never_replaces_a_file(spec: Path) -> None:
    before = spec.read_text()
    said = call("init", "-O", spec)
    assert (said.exit_code, said.stderr) == (
        2,
        f"{spec}: exists already; choose another file with --output FILE\n",
    )
    assert spec.read_text() == before


def test_init_into_a_folder_that_is_not_there_says_so(tmp_path: Path) -> None:
    said = call("init", "-O", tmp_path / "none" / "spec.yaml")
    assert said.exit_code == 2
    assert "cannot be written: No such file or directory; choose another with --output FILE" in said.stderr


def test_init_with_an_unknown_fault_names_the_nearest() -> None:
    said = call("init", "--fault", "wire.latencie", "-O", "-")
    assert said.exit_code == 2
    assert "did you mean 'wire.latency'?" in said.stderr


# validate


def test_validate_names_the_spec_and_its_digest(spec: Path) -> None:
    said = call("validate", spec)
    assert said.exit_code == 0
    assert said.stdout.startswith(f"{spec}: valid: small-drill sha256:")


def test_validate_reports_every_file_and_exits_2_for_one_that_is_refused(spec: Path, broken: Path) -> None:
    said = call("validate", spec, broken, spec)
    assert said.exit_code == 2
    assert len(said.stdout.splitlines()) == 2
    line = broken.read_text().splitlines().index("      kind: wire.latencie") + 1
    assert said.stderr == (
        f"{broken}:{line}:13 spec.faults[0].kind: unknown fault kind 'wire.latencie'; did you mean 'wire.latency'?\n"
    )


def test_validate_json_holds_a_report_a_file(spec: Path, broken: Path) -> None:
    said = call("validate", spec, broken, "-o", "json")
    assert said.exit_code == 2
    assert said.stderr == ""
    good, bad = json.loads(said.stdout)
    assert (good["name"], good["problems"]) == ("small-drill", [])
    assert (bad["name"], bad["problems"][0]["column"]) == (None, 13)


@pytest.mark.parametrize("verb", ["validate", "plan", "run"])
def test_unknown_prompts_are_refused_with_their_place_before_anything_starts(tmp_path: Path, verb: str) -> None:
    file = write_spec(tmp_path, prompts="recal-24")
    state = ("--state", tmp_path / "state") if verb == "run" else ()
    said = call(verb, file, *state)
    assert said.exit_code == 2
    assert said.stderr == (
        f"{file}:8:20 spec.workload.prompts.set: unknown prompt set 'recal-24'; did you mean 'recall-24'?\n"
    )
    assert not (tmp_path / "state").exists()


# plan


@pytest.mark.parametrize(
    ("target", "path", "said"),
    [
        ("engine: vllm", "spec.target.engine", "read 'vllm', which this version does not start"),
        ("engine: embedded, replicas: 2", "spec.target.replicas", "read 2; on one machine the embedded engine runs"),
    ],
)
def test_a_target_that_cannot_be_brought_up_here_is_refused_before_anything_starts(
    spec: Path, tmp_path: Path, target: str, path: str, said: str
) -> None:
    spec.write_text(spec.read_text().replace("engine: embedded", target, 1))
    assert call("plan", spec).exit_code == 0
    refused = call("run", spec, "--state", tmp_path / "state")
    assert refused.exit_code == 2
    assert refused.stderr.startswith(f"{spec}:")
    assert f" {path}: {said}" in refused.stderr
    assert not (tmp_path / "state").exists()


def test_plan_shows_steps_and_windows(spec: Path) -> None:
    said = call("plan", spec)
    assert said.exit_code == 0
    assert "  block1-inject      inject    after deploy, baseline-measure" in said.stdout
    assert "block1: 9 windows" in said.stdout
    assert "slow-wire                100ms      about 16 requests" in said.stdout
    assert "slow-wire                control    about 16 requests" in said.stdout


def test_plan_json_is_the_plan(spec: Path) -> None:
    plan = json.loads(call("plan", spec, "-o", "json").stdout)
    assert plan["steps"][0]["id"] == "deploy"
    assert len(plan["blocks"][0]["windows"]) == 9


# --set

PARAMETRISED = Path("chaos-specs/scenarios/stream-degradation.yaml")


def test_set_changes_a_parameter_and_with_it_the_digest() -> None:
    plain = json.loads(call("validate", PARAMETRISED, "-o", "json").stdout)[0]
    other = json.loads(call("validate", PARAMETRISED, "--set", "rate=11/s", "-o", "json").stdout)[0]
    assert plain["specDigest"] != other["specDigest"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "rate"], "--set rate: write --set NAME=VALUE"),
        (["--set", "=5"], "--set =5: write --set NAME=VALUE"),
        (["--set", "rate=9/s", "--set", "rate=8/s"], "--set rate: given twice; give it once"),
        (["--set", "rat=9/s"], "did you mean 'rate'?"),
    ],
)
def test_a_wrong_set_says_what_is_right(words: list[str], said: str) -> None:
    result = call("plan", PARAMETRISED, *words)
    assert result.exit_code == 2
    assert said in result.stderr


# any user's mistake, as a real process


@pytest.mark.parametrize("verb", ["validate", "plan", "run"])
@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("missing", "cannot be read: No such file or directory"),
        ("folder", "cannot be read: Is a directory"),
        ("binary", "is not UTF-8; save the file as UTF-8"),
        ("empty", "is empty; `chaosgate init` writes a first spec"),
    ],
)
def test_what_is_no_spec_is_named_without_a_traceback(tmp_path: Path, verb: str, what: str, said: str) -> None:
    path = tmp_path / what
    if what == "folder":
        path.mkdir()
    elif what != "missing":
        path.write_bytes(b"\x80\xff\x00" if what == "binary" else b"")
    result = call(verb, path)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"{path}")
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_mistake_leaves_no_traceback_in_a_real_process(tmp_path: Path) -> None:
    done = real("run", tmp_path / "none.yaml", "--state", tmp_path / "state")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        f"{tmp_path}/none.yaml (document): cannot be read: No such file or directory; "
        "name a YAML file that holds a chaos spec"
    ]


@pytest.mark.parametrize("verb", ["record", "cleanup"])
def test_a_run_in_an_empty_state_directory_is_unknown(tmp_path: Path, verb: str) -> None:
    said = call(verb, "some-run", "--state", tmp_path)
    assert (said.exit_code, said.stderr) == (2, f"{tmp_path}: unknown run 'some-run'; known: none\n")


def known_run(state: Path, name: str = "r") -> Path:
    folder = state / "runs" / name
    folder.mkdir(parents=True)
    (folder / "spec.json").write_text("{}")
    return folder


@pytest.mark.parametrize("verb", ["record", "cleanup"])
@pytest.mark.parametrize("name", ["", ".", "..", "../runs/drill-1", "drill-1/", "/", "Drill", "no-spec"])
def test_what_is_no_run_is_refused_and_left_alone(tmp_path: Path, verb: str, name: str) -> None:
    known_run(tmp_path, "drill-1")
    known_run(tmp_path, "Drill")
    (tmp_path / "spec.json").write_text("{}")
    (tmp_path / "runs" / "spec.json").write_text("{}")
    (tmp_path / "runs" / "no-spec").mkdir()
    said = call(verb, name, "--state", tmp_path)
    assert said.exit_code == 2
    assert said.stderr.startswith(f"{tmp_path}: unknown run {name!r}; ")
    assert "drill-1" in said.stderr.partition("; ")[2]
    assert list(tmp_path.rglob("cleanup.json")) == []


def test_an_absolute_path_is_no_run(tmp_path: Path) -> None:
    folder = known_run(tmp_path)
    said = call("cleanup", str(folder), "--state", tmp_path)
    assert said.exit_code == 2
    assert "unknown run" in said.stderr


@pytest.mark.parametrize(("words", "stdout"), [((), ""), (("-o", "json"), "the seal")])
def test_cleanup_says_how_it_went(tmp_path: Path, words: tuple[str, ...], stdout: str) -> None:
    known_run(tmp_path)
    said = call("cleanup", "r", "--state", tmp_path, *words)
    assert said.exit_code == 0
    assert "cleanup: no gateway was deployed\n" in said.stderr
    seal = {"clean": True, "actions": ["no gateway was deployed"], "left": [], "recordDigest": None}
    assert said.stdout == (json.dumps(seal, indent=2) + "\n" if stdout else "")


@pytest.mark.parametrize(("words", "says"), [((), "recorded r as MLflow run m\n"), (("-o", "json"), None)])
def test_record_names_the_mlflow_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], says: str | None
) -> None:
    known_run(tmp_path)
    monkeypatch.setattr("chaosgate.components.recording.record_again", lambda run, state, folder: "m")
    said = call("record", "r", "--state", tmp_path, *words)
    assert said.exit_code == 0
    assert said.stdout == (says or json.dumps({"run": "r", "mlflowRun": "m"}, indent=2) + "\n")


@pytest.mark.parametrize("carrier", ["argocd", ""])
def test_only_a_carrier_that_exists_runs_a_spec(spec: Path, carrier: str) -> None:
    said = call("run", spec, "--on", carrier)
    assert said.exit_code == 2
    assert f"'{carrier}' is not one of 'local', 'argo'" in said.stderr


# who reads the output may leave


@pytest.mark.thorough
def test_a_reader_that_leaves_is_no_error_message(spec: Path) -> None:
    words = " ".join([*command("plan"), str(spec)])
    piped = subprocess.run(
        ["bash", "-c", f"for n in 1 2 3; do {words}; done | head -1"],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(PYTHONUNBUFFERED="1"),
    )
    assert piped.stderr == ""
    assert piped.stdout.startswith("small-drill")


# what is imported

HEAVY = ("aiohttp", "numpy", "scipy", "mlflow", "matplotlib", "rich.progress", "psutil")


def heavy_imports(*lines: list[str]) -> str:
    """Which heavy modules the command lines import, run one after the other in a process of their own."""
    script = (
        "import sys, contextlib\n"
        "from chaosgate.cli.main import chaosgate\n"
        f"for words in {lines!r}:\n"
        "    with contextlib.suppress(SystemExit):\n"
        "        chaosgate(words, standalone_mode=False)\n"
        f"print('imported:', *[name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()[-1].partition("imported:")[2].strip()


@pytest.mark.thorough
@pytest.mark.parametrize("verb", ["validate", "plan"])
def test_commands_that_only_read_import_nothing_heavy(spec: Path, verb: str) -> None:
    assert heavy_imports([verb, str(spec)]) == ""


def test_no_help_imports_anything_heavy() -> None:
    assert heavy_imports(["--help"], *([name, "--help"] for name in chaosgate.commands)) == ""


@pytest.mark.parametrize(
    "words",
    [
        ["explain", "spec.workload.arrivals"],
        ["catalogue"],
        ["catalogue", "wire.latency"],
        ["catalogue", "-o", "json"],
        ["completion", "bash"],
    ],
)
def test_what_is_looked_up_needs_nothing_heavy(words: list[str]) -> None:
    assert heavy_imports(words) == ""


@pytest.mark.thorough
def test_the_test_of_imports_sees_heavy_ones(spec: Path) -> None:
    assert "numpy" in heavy_imports(["explain", str(spec)])
