"""How the command itself ends: a crash or a full disk is never an answer of the gate."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_drill import environment

from chaosgate.cli import catalogue
from chaosgate.cli.main import chaosgate, main


def test_a_crash_ends_in_the_exit_code_of_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def crash() -> None:
        raise ZeroDivisionError("of a plug-in")

    monkeypatch.setattr(catalogue, "kinds", crash)
    monkeypatch.setattr(sys, "argv", ["chaosgate", "catalogue"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 3
    assert capsys.readouterr().err.splitlines()[-1] == "ZeroDivisionError: of a plug-in"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("words", [["--help"], ["--version"], ["catalogue", "--help"], ["catalogue"]])
def test_a_full_disk_is_named_without_a_traceback(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "chaosgate.cli.main", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            env=environment(),
        )
    assert (done.returncode, done.stderr) == (3, "chaosgate: No space left on device\n")


def test_the_help_cuts_no_sentence_off() -> None:
    said = CliRunner().invoke(chaosgate, ["--help"], terminal_width=80).stdout
    listed = " ".join(said.partition("Commands:")[2].split())
    assert "..." not in listed
    for name, command in chaosgate.commands.items():
        assert command.help is not None
        first = " ".join(command.help.partition("\n\n")[0].split()).partition(". ")[0]
        assert f"{name} {first.removesuffix('.')}" in listed


def test_without_standard_input_init_takes_its_defaults(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(sys, "argv", ["chaosgate", "init", "-O", "-"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert "name: first-drill" in capsys.readouterr().out
