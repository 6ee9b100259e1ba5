"""A component as a process of its own: its flags, its status, and what it says when it cannot go on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from small_drill import environment, write_spec

from chaosgate.artifacts import STATUS, Identity, read_document
from chaosgate.artifacts import write_spec as write_spec_file
from chaosgate.components.__main__ import attempt, parse
from chaosgate.components.definition import COMPONENTS, Component, Context
from chaosgate.errors import DeployError
from chaosgate.model.load import load_spec
from chaosgate.model.result import Status, StepStatus

OUTPUTS = ("endpoint", "record", "status")


def component(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "chaosgate.components", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(),
    )


@pytest.mark.parametrize("one", COMPONENTS.values(), ids=COMPONENTS)
def test_the_flags_a_component_is_given_are_the_ones_it_reads(one: Component) -> None:
    arguments = {name: f"value of {name}" for name in one.arguments}
    inputs = [(port.name, "some-step", f"/in/{port.file}") for port in one.inputs]
    outputs = {port.name: f"/out/{port.file}" for port in one.outputs}
    argv = one.argv(("--run", "r", "--state", "/state"), arguments, inputs, outputs)
    assert argv[:3] == ["-m", "chaosgate.components", one.name]
    context = parse(one, argv[3:])
    assert (context.run, context.state) == ("r", Path("/state"))
    assert context.arguments == arguments
    assert context.inputs == {port.name: Path(f"/in/{port.file}") for port in one.inputs if not port.many}
    assert context.gathered == {port.name: {"some-step": Path(f"/in/{port.file}")} for port in one.inputs if port.many}
    assert context.outputs == {port.name: Path(f"/out/{port.file}") for port in one.outputs}


@pytest.mark.parametrize("value", ["", "-x", "--help", "--run", "-.5", "a=b", "@file", "two\nlines"])
def test_an_argument_may_hold_any_text(value: str) -> None:
    one = Component("acme.notify", "tell a team", "acme.notify:run", ("channel", "text"))
    argv = one.argv(("--run", "r"), {"channel": value, "text": value}, (), {})
    assert parse(one, argv[3:]).arguments == {"channel": value, "text": value}


def test_a_flag_is_written_out(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(COMPONENTS["gate"], ["--run", "r", "--verd", "v.json"])
    assert "the following arguments are required: --verdict" in capsys.readouterr().err


def test_an_error_a_user_can_mend_becomes_the_status() -> None:
    def run(context: Context) -> Status:
        raise DeployError("no server there")

    assert attempt(run, Context("r", None, {}, {}, {})) == Status(status="failed", reason="no server there")


def test_any_other_error_is_a_crash() -> None:
    def run(context: Context) -> Status:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        attempt(run, Context("r", None, {}, {}, {}))


def test_a_step_whose_spec_cannot_be_read_fails_with_a_status_and_exits_0(tmp_path: Path) -> None:
    words = ["--run", "r", "--state", tmp_path, "--digest", "d", "--seconds", "60", "--spec", tmp_path / "spec.json"]
    outputs = [word for name in OUTPUTS for word in (f"--{name}-out", tmp_path / name)]
    done = component("deploy", *words, *outputs)
    assert done.returncode == 0
    status = read_document(tmp_path / "status", STATUS, Identity("r", "unknown"))
    assert status == StepStatus(
        step="deploy", status="failed", reason=f"{tmp_path}/spec.json: cannot be read: No such file or directory"
    )
    assert done.stderr == f"deploy: failed: {status.reason}\n"


def test_a_status_that_cannot_be_written_is_said_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    words = ["--run", "r", "--state", tmp_path, "--digest", "d", "--seconds", "60", "--spec", tmp_path / "spec.json"]
    outputs = [word for name in OUTPUTS for word in (f"--{name}-out", tmp_path / "file/x")]
    done = component("deploy", *words, *outputs)
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1] == (
        f"deploy: {tmp_path}/file/x: cannot be written: a file stands where a folder is needed; "
        "make room or choose another state directory with --state DIR"
    )
    assert "Traceback" not in done.stderr


def test_an_unknown_component_ends_in_the_nearest_one() -> None:
    done = component("mesure")
    assert (done.returncode, done.stderr) == (2, "mesure: unknown component 'mesure'; did you mean 'measure'?\n")


def test_a_gate_without_a_verdict_is_an_error(tmp_path: Path) -> None:
    done = component("gate", "--run", "r", "--verdict", f"{tmp_path}/verdict.json")
    assert done.returncode == 3
    assert done.stderr == f"gate: error: {tmp_path}/verdict.json: cannot be read: No such file or directory\n"


def test_progress_is_json_without_numbers_that_are_none() -> None:
    script = "from chaosgate.components.progress import tell; tell('load', a=float('nan'), b=float('inf'), c=1.5)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout) == {"event": "load", "a": None, "b": None, "c": 1.5}


def test_deploy_refuses_a_spec_that_the_plan_was_not_made_from(tmp_path: Path) -> None:
    spec = load_spec(write_spec(tmp_path))
    write_spec_file(tmp_path / "spec.json", spec)
    words = ["--run", "r", "--state", tmp_path, "--digest", "sha256:other", "--seconds", "60"]
    outputs = [word for name in OUTPUTS for word in (f"--{name}-out", tmp_path / name)]
    assert component("deploy", *words, "--spec", tmp_path / "spec.json", *outputs).returncode == 0
    status = read_document(tmp_path / "status", STATUS, Identity("r", spec.digest()))
    assert status.reason == (
        f"{tmp_path}/spec.json: read the spec {spec.digest()}, the plan was made from sha256:other; "
        "compile the spec again, or hand over the one that was compiled"
    )
    # Pipelines fail on an output that is missing, so what could not be written is there and empty.
    assert [(tmp_path / name).read_bytes() for name in ("endpoint", "record")] == [b"", b""]
    assert not (tmp_path / "runs").exists()
