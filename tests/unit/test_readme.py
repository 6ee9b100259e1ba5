"""What the README says must be so: its commands, its table of commands, its verdicts, its links."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from chaosgate.cli.main import chaosgate
from chaosgate.model.result import EXIT_CODES

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands() -> list[str]:
    """Every `chaosgate` command of the console blocks, continued lines joined, without the prompt."""
    blocks = re.findall(r"```console\n(.*?)```", README, re.S)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [line.partition("chaosgate ")[2] for line in lines if "bin/chaosgate " in line]


def test_the_commands_of_the_first_spec_work_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = [command for command in commands() if "my-first" in command]
    assert [command.split()[0] for command in first] == ["init", "validate", "plan", "run"]
    # The last one needs a server of the reader's own; drills against one are tested end to end.
    for command in first[:-1]:
        said = CliRunner().invoke(chaosgate, shlex.split(command))
        assert said.exit_code == 0, said.output


def test_every_command_is_in_the_table_and_nothing_else() -> None:
    table = README.split("## The command line")[1].split("\n\n")[1]
    listed = re.findall(r"^\| `([a-z]+)[ `]", table, re.M)
    assert listed == list(chaosgate.commands)


def test_the_exit_codes_are_those_of_the_verdicts() -> None:
    rows = dict(re.findall(r"^\| (pass|warn|fail|inconclusive|error) \| (\d) \|", README, re.M))
    assert rows == {name: str(code) for name, code in EXIT_CODES.items()}


@pytest.mark.parametrize(
    "page", sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]), ids=lambda page: page.name
)
def test_every_link_leads_to_a_file(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_make_targets_that_pages_name_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    pages = README + (ROOT / "CONTRIBUTING.md").read_text()
    assert set(re.findall(r"`make ([a-z-]+)`", pages)) <= targets
