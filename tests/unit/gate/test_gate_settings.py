"""What a job is asked for comes by environment variables, each of which is checked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from changed_specs import GateError
from gate_rig import GitRepository, spec
from gate_settings import NAMES, artifact_folder, minutes, read_settings

GIVEN = {
    "GATE_BASE": "abc",
    "GATE_HEAD": "def",
    "GATE_SPECS": "chaos-specs/**\n\n  drills/**  \n",
    "GATE_ALSO": "requirements.txt\n",
    "GATE_PROFILE": "profiles/ci.yaml",
    "GATE_CARRIER": "both",
    "GATE_RUN": "label=suite:quickstart",
    "GATE_MINUTES": "60",
    "GATE_OUT": "/tmp/out",
}


def test_the_settings_of_a_job() -> None:
    read = read_settings(GIVEN)
    assert (read.base, read.head, read.profile) == ("abc", "def", "profiles/ci.yaml")
    assert (read.specs, read.also) == (("chaos-specs/**", "drills/**"), ("requirements.txt",))
    assert (read.carriers, read.seconds, read.out) == (("argo", "kfp"), 3600, Path("/tmp/out"))
    assert read.selection.picks("x", {"suite": "quickstart"}, "")


def test_what_may_be_empty_has_a_meaning() -> None:
    read = read_settings({**GIVEN, "GATE_BASE": "", "GATE_HEAD": "", "GATE_SPECS": "\n", "GATE_ALSO": ""})
    assert (read.base, read.head, read.specs, read.also) == ("", "HEAD", ("chaos-specs/**",), ())


@pytest.mark.parametrize("name", NAMES)
def test_a_variable_that_is_not_set_is_named(name: str) -> None:
    variable = f"GATE_{name.upper()}"
    with pytest.raises(GateError, match=f"{variable}: not set; set every one"):
        read_settings({key: value for key, value in GIVEN.items() if key != variable})


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("GATE_CARRIER", "tekton", "carrier: read 'tekton'; allowed: argo, kfp, both"),
        ("GATE_CARRIER", "", "carrier: read ''; allowed: argo, kfp, both"),
        ("GATE_MINUTES", "0", "minutes: read '0'; allowed: a whole number from 1 to 330"),
        ("GATE_MINUTES", "331", "minutes: read '331'; allowed: a whole number from 1 to 330"),
        ("GATE_MINUTES", "1.5", "minutes: read '1.5'; allowed: a whole number from 1 to 330"),
        ("GATE_MINUTES", "9" * 5000, "minutes: read '999"),
        ("GATE_RUN", "label=x", "run: read 'label=x'; allowed: `all`, `none`, or terms"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused(variable: str, value: str, said: str) -> None:
    with pytest.raises(GateError, match=re.escape(said)):
        read_settings({**GIVEN, variable: value})


def test_digits_of_other_scripts_are_no_number() -> None:
    with pytest.raises(GateError, match="allowed: a whole number from 1 to 5"):
        minutes("٣", 5)


def test_every_spec_depends_on_the_profile(repository: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository.folder)
    base = repository.commit({"chaos-specs/a.yaml": spec(), "profiles/ci.yaml": "1"})
    head = repository.commit({"profiles/ci.yaml": "2"})
    given = {**GIVEN, "GATE_BASE": base, "GATE_HEAD": head}
    # However its path is written.
    changes = read_settings({**given, "GATE_PROFILE": "./profiles/ci.yaml"}).changes()
    assert [due.why for due in changes.due] == ["depends on profiles/ci.yaml"]
    assert read_settings({**given, "GATE_PROFILE": ""}).changes().due == ()


@pytest.mark.parametrize("file", ["chaos-specs/a.yaml", "a b/c-d_e.1.yaml"])
def test_an_artifact_folder_is_the_path_of_its_spec(file: str) -> None:
    assert artifact_folder(file) == file


def test_what_an_artifact_may_not_hold_is_replaced_and_stays_different() -> None:
    odd = ["a:b.yaml", 'a"b.yaml', "a?b.yaml", "größe.yaml", "a\nb.yaml", "\udcff.yaml"]
    folders = [artifact_folder(file) for file in odd]
    assert len(set(folders)) == len(odd)
    assert all(re.fullmatch(r"[\w.-]+-[0-9a-f]{8}", folder, re.ASCII) for folder in folders)
