"""Shell completion: the scripts, what is offered where, and a real bash that sources it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner
from kept_run import finished, running

from chaosgate.cli.completion import INSTALL
from chaosgate.cli.main import chaosgate


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory with two runs, which the environment names."""
    running(tmp_path / "state", "drill-1").log("engine", "")
    finished(tmp_path / "state", "nightly-2")
    monkeypatch.setenv("CHAOSGATE_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def offered(*words: str) -> list[str]:
    """What is offered for the last of `words`; a file is offered as `<file>`."""
    *before, incomplete = words
    items = ShellComplete(chaosgate, {}, "chaosgate", "_CHAOSGATE_COMPLETE").get_completions(before, incomplete)
    return [item.value if item.type == "plain" else f"<{item.type}>" for item in items]


@pytest.mark.parametrize(
    "verb", ["status", "logs", "abort", "report", "compare", "gate", "history", "record", "cleanup"]
)
def test_runs_are_offered(verb: str) -> None:
    assert offered(verb, "") == ["drill-1", "nightly-2"]
    assert offered(verb, "n") == ["nightly-2"]


def test_both_runs_of_a_comparison_are_offered() -> None:
    assert offered("compare", "drill-1", "n") == ["nightly-2"]


def test_the_state_directory_that_is_given_counts(tmp_path: Path) -> None:
    assert offered("status", "--state", str(tmp_path / "other"), "") == []
    running(tmp_path / "other", "elsewhere-1")
    assert offered("status", "--state", str(tmp_path / "other"), "") == ["elsewhere-1"]


def test_steps_and_servers_of_the_run_are_offered() -> None:
    assert offered("logs", "drill-1", "block1") == ["block1-measure", "block1-inject"]
    assert offered("logs", "drill-1", "e") == ["engine"]
    assert offered("logs", "no-such-run", "e") == []


def test_kinds_are_offered() -> None:
    assert offered("catalogue", "wire.") == ["wire.error", "wire.jitter", "wire.latency", "wire.reset", "wire.timeout"]
    assert offered("catalogue", "tt") == ["ttft"]


def test_fields_are_offered_a_level_at_a_time() -> None:
    assert offered("explain", "spec") == ["spec"]
    assert "spec.workload.arrivals" in offered("explain", "spec.workload.")
    assert "spec.workload.arrivals.rate" not in offered("explain", "spec.workload.")
    assert offered("explain", "spec.faults[].do") == ["spec.faults[].dose"]


def test_files_are_offered_where_no_field_begins_so() -> None:
    assert offered("explain", "chaos-specs/") == ["<file>"]
    assert offered("explain", "") == ["<file>", "apiVersion", "kind", "metadata", "spec"]
    assert offered("run", "") == ["<file>"]


@pytest.mark.parametrize(
    "words",
    [
        ("logs", "../..", ""),
        ("logs", "\x00", ""),
        ("catalogue", "\x1b"),
        ("explain", "spec..", ""),
    ],
)
def test_a_line_that_makes_no_sense_is_no_error(words: tuple[str, ...]) -> None:
    assert offered(*words) == []


def test_a_mistyped_line_is_completed_from_where_it_makes_sense() -> None:
    assert offered("no-such-command", "x", "") == list(chaosgate.commands)
    assert offered("status", "--no-such-option", "") == ["drill-1", "nightly-2"]


def test_a_state_that_cannot_be_read_offers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> list[str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("chaosgate.components.places.known_runs", refuse)
    assert offered("status", "") == []


@pytest.mark.parametrize("shell", INSTALL)
def test_the_script_says_how_to_install_it(shell: str) -> None:
    said = CliRunner().invoke(chaosgate, ["completion", shell])
    assert said.exit_code == 0
    assert f"# Completion of chaosgate for {shell}; to have it in every shell, {INSTALL[shell]}" in said.stdout
    assert "_CHAOSGATE_COMPLETE" in said.stdout


def test_zsh_finds_its_mark_in_the_first_line() -> None:
    assert CliRunner().invoke(chaosgate, ["completion", "zsh"]).stdout.splitlines()[0] == "#compdef chaosgate"


def test_another_shell_is_refused() -> None:
    said = CliRunner().invoke(chaosgate, ["completion", "tcsh"])
    assert said.exit_code == 2
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in said.stderr


# a real shell


@pytest.fixture
def on_path(tmp_path: Path) -> dict[str, str]:
    """An environment in which `chaosgate` is a command."""
    program = tmp_path / "bin" / "chaosgate"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m chaosgate.cli.main "$@"\n')
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("chaosgate stat", "status"),
        ("chaosgate abort dr", "drill-1"),
        ("chaosgate catalogue wire.l", "wire.latency"),
        ("chaosgate explain spec.faults[].w", ""),
        ("chaosgate explain spec.faults[].sel", "spec.faults[].select"),
    ],
)
def test_a_real_bash_completes(on_path: dict[str, str], line: str, offers: str) -> None:
    words = line.split()
    script = (
        'eval "$(chaosgate completion bash)"\n'
        f"COMP_WORDS=({' '.join(map(repr, words))})\n"
        f"COMP_CWORD={len(words) - 1}\n"
        "_chaosgate_completion chaosgate 2>/dev/null\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(["bash", "-c", script], env=on_path, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == offers, done.stderr
