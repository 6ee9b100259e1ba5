"""The git hook with a stand-in for chaosgate: pushes to a bare repository are taken in or refused, for real."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from gate_rig import HOOK, MAIN, FakeChaosgate, Receiver, spec

# what is taken in, what is refused


def test_a_spec_that_passes_is_taken_in(receiver: Receiver, fake: FakeChaosgate) -> None:
    head = receiver.clone.commit({"chaos-specs/a.yaml": spec("good")})
    taken, said = receiver.push("main")
    assert (taken, receiver.refs()) == (True, {MAIN: head})
    assert said.splitlines() == [
        "refs/heads/main: 1 of 1 specs due",
        "chaos-specs/a.yaml: valid (nothing to compare with: the first push of this branch)",
        "chaos-specs/a.yaml: drill starts",
        "chaos-specs/a.yaml: pass, exit code 0",
        "  because of good",
        f"  files: {receiver.state / 'runs' / 'good'}",
        "push accepted",
    ]
    assert receiver.left() == []


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (1, "the gate says no (exit code 1)"),
        (2, "a spec is invalid (exit code 2)"),
        (3, "there is no answer (exit code 3)"),
        (4, "a revert is unproved (exit code 4)"),
        (130, "the gate was interrupted (exit code 130)"),
        (99, "there is no answer (exit code 3)"),
    ],
)
def test_any_other_answer_refuses_the_push(receiver: Receiver, answer: int, why: str) -> None:
    before = receiver.take_in()
    receiver.clone.commit({"chaos-specs/a.yaml": spec(more=f"answer: {answer}")})
    taken, said = receiver.push("main")
    assert (taken, receiver.refs()) == (False, {MAIN: before})
    assert said.endswith(f"push refused: {why}")
    assert receiver.left() == []


def test_a_crash_refuses_the_push(receiver: Receiver) -> None:
    receiver.clone.commit({"chaos-specs/a.yaml": spec(more="crash: run")})
    taken, said = receiver.push("main")
    assert not taken
    assert "no outcome: exit code 1: Traceback (most recent call last): / ValueError: out of luck" in said


def test_a_broken_spec_is_refused_with_its_place_and_nothing_is_drilled(
    receiver: Receiver, fake: FakeChaosgate
) -> None:
    receiver.clone.commit({"chaos-specs/a.yaml": spec(more="broken"), "chaos-specs/b.yaml": spec("b")})
    taken, said = receiver.push("main")
    assert (taken, receiver.refs()) == (False, {})
    assert "chaos-specs/a.yaml: invalid (nothing to compare" in said
    assert "  chaos-specs/a.yaml:4:1 spec: read 'broken'" in said
    assert said.endswith("push refused: a spec is invalid (exit code 2)")
    assert not any(one.startswith("run") for one in fake.commands())


def test_where_nothing_is_due_nothing_is_called(receiver: Receiver, fake: FakeChaosgate) -> None:
    receiver.clone.commit({"chaos-specs/a.yaml": spec(), "README.md": "x"})
    receiver.push("main")
    calls = len(fake.calls())
    receiver.clone.commit({"README.md": "y"})
    taken, said = receiver.push("main")
    assert (taken, said) == (True, "refs/heads/main: 0 of 1 specs due")
    assert len(fake.calls()) == calls


def test_a_changed_value_makes_the_specs_beside_it_due(receiver: Receiver, fake: FakeChaosgate) -> None:
    receiver.clone.commit({"chaos-specs/a.yaml": spec(), "chaos-specs/values/prod.yaml": "1"})
    receiver.push("main")
    receiver.clone.commit({"chaos-specs/values/prod.yaml": "2"})
    assert "chaos-specs/a.yaml: valid (depends on chaos-specs/values/prod.yaml)" in receiver.push("main")[1]


# references


def test_two_references_one_of_them_bad_are_both_refused(receiver: Receiver, fake: FakeChaosgate) -> None:
    receiver.configure(protect="refs/heads/*")
    receiver.clone.commit({"chaos-specs/a.yaml": spec("good")})
    receiver.clone.git("checkout", "--quiet", "-b", "other")
    receiver.clone.commit({"chaos-specs/b.yaml": spec("bad", "broken")})
    taken, said = receiver.push("main", "other")
    assert (taken, receiver.refs()) == (False, {})
    # All is validated before anything is drilled.
    assert "drill starts" not in said
    receiver.clone.commit({"chaos-specs/b.yaml": spec("bad", "answer: 1")})
    taken, said = receiver.push("main", "other")
    assert (taken, receiver.refs()) == (False, {})
    assert "chaos-specs/a.yaml: pass, exit code 0" in said
    assert "chaos-specs/b.yaml: fail, exit code 1" in said


def test_a_commit_that_goes_to_two_references_is_drilled_once(receiver: Receiver, fake: FakeChaosgate) -> None:
    receiver.configure(protect="refs/heads/*")
    receiver.clone.commit({"chaos-specs/a.yaml": spec()})
    assert receiver.push("main", "main:next")[0]
    assert fake.commands().count("run chaos-specs/a.yaml") == 1


def test_what_is_not_protected_passes(receiver: Receiver, fake: FakeChaosgate) -> None:
    receiver.clone.commit({"chaos-specs/a.yaml": spec(more="broken")})
    receiver.clone.git("tag", "v1")
    assert receiver.push("main:topic", "v1") == (True, "")
    assert fake.calls() == []
    assert set(receiver.refs()) == {"refs/heads/topic", "refs/tags/v1"}


def test_patterns_protect_more(receiver: Receiver) -> None:
    receiver.configure(protect="refs/heads/release/*")
    receiver.clone.commit({"chaos-specs/a.yaml": spec(more="broken")})
    assert not receiver.push("main:release/1.2")[0]
    # What is set takes the place of the default.
    assert receiver.push("main")[0]


def test_a_protected_branch_is_not_deleted_unless_it_may_be(receiver: Receiver) -> None:
    head = receiver.take_in()
    receiver.bare.git("symbolic-ref", "HEAD", "refs/heads/none")
    taken, said = receiver.push(":main")
    assert (taken, receiver.refs()) == (False, {MAIN: head})
    assert said == (
        "push refused: refs/heads/main may not be deleted; `chaosgate.allowDelete` in git's configuration decides"
    )
    receiver.configure(allowDelete="true")
    assert receiver.push(":main") == (True, "")
    assert receiver.refs() == {}


def test_a_forced_push_is_compared_with_what_it_replaces(receiver: Receiver, fake: FakeChaosgate) -> None:
    receiver.clone.commit({"chaos-specs/a.yaml": spec("a"), "chaos-specs/b.yaml": spec("b")})
    receiver.push("main")
    receiver.clone.commit({"chaos-specs/b.yaml": spec("new")})
    receiver.clone.git("commit", "--quiet", "--amend", "-m", "other")
    receiver.push("main")
    receiver.clone.git("reset", "--quiet", "--hard", "HEAD~1")
    receiver.clone.commit({"chaos-specs/a.yaml": spec("newer")})
    calls = len(fake.calls())
    assert receiver.push("--force", "main")[0]
    assert [one for one in fake.commands()[calls:] if one.startswith("run")] == [
        "run chaos-specs/a.yaml",
        "run chaos-specs/b.yaml",
    ]


# configuration


def test_what_is_not_chosen_is_validated_and_named(receiver: Receiver, fake: FakeChaosgate) -> None:
    receiver.configure(run="label=suite:quickstart")
    receiver.clone.commit(
        {"chaos-specs/a.yaml": spec("a", "answer: 1"), "chaos-specs/b.yaml": spec("b", "suite: quickstart")}
    )
    taken, said = receiver.push("main")
    assert taken
    assert "chaos-specs/a.yaml: not drilled, as `chaosgate.run` is label=suite:quickstart" in said
    assert [one for one in fake.commands() if one.startswith("run")] == ["run chaos-specs/b.yaml"]


def test_specs_and_what_all_depend_on_can_be_named(receiver: Receiver, fake: FakeChaosgate) -> None:
    receiver.configure(specs="drills/**", also="requirements/*.txt", profile="profiles/ci.yaml")
    files = {"drills/a.yaml": spec(), "chaos-specs/b.yaml": spec(more="broken"), "profiles/ci.yaml": "1"}
    receiver.clone.commit({**files, "requirements/x.txt": "1"})
    assert receiver.push("main")[0]
    receiver.clone.commit({"requirements/x.txt": "2"})
    assert "depends on requirements/x.txt" in receiver.push("main")[1]
    receiver.clone.commit({"profiles/ci.yaml": "2"})
    assert "depends on profiles/ci.yaml" in receiver.push("main")[1]
    assert all("profiles/ci.yaml" in str(call["words"]) for call in fake.calls())


def test_the_state_directory_and_the_command_can_be_named(
    receiver: Receiver, fake: FakeChaosgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = tmp_path / "two words" / "gate"
    named.parent.mkdir()
    shutil.copy(fake.file, named)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    receiver.configure(command=str(named), state=str(tmp_path / "runs here"))
    receiver.clone.commit({"chaos-specs/a.yaml": spec()})
    assert receiver.push("main")[0]
    assert {call["state"] for call in fake.calls()} == {str(tmp_path / "runs here")}


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"protct": "x"}, "git config chaosgate.protct: unknown; did you mean chaosgate.protect?"),
        (
            {"zzz": "x"},
            "git config chaosgate.zzz: unknown; known: protect, specs, also, profile, run, minutes, command, state, "
            "allowdelete",
        ),
        ({"run": "some"}, "run: read 'some'; allowed: `all`, `none`, or terms such as `label=suite:quickstart`"),
        ({"minutes": "1h"}, "minutes: read '1h'; allowed: a whole number from 1 to 1440"),
        ({"allowDelete": "perhaps"}, "git config chaosgate.allowDelete: read 'perhaps'; allowed: true, false"),
    ],
)
def test_a_setting_that_nobody_knows_refuses_every_push(receiver: Receiver, setting: dict[str, str], said: str) -> None:
    receiver.configure(**setting)
    receiver.clone.commit({"README.md": "x"})
    taken, told = receiver.push("main")
    assert not taken
    assert told.startswith(f"push refused: {said}")


def test_without_chaosgate_the_push_is_refused_with_a_sentence(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    receiver.clone.commit({"chaos-specs/a.yaml": spec()})
    taken, said = receiver.push("main")
    assert (taken, receiver.refs()) == (False, {})
    assert said.endswith(
        "push refused: the command 'chaosgate' was not found; install chaosgate, or name its full path"
    )
    assert receiver.left() == []


def test_a_state_directory_that_cannot_be_made_refuses_the_push(receiver: Receiver, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    receiver.configure(state=str(tmp_path / "file" / "state"))
    receiver.clone.commit({"chaos-specs/a.yaml": spec()})
    taken, said = receiver.push("main")
    assert not taken
    assert said.endswith(f"push refused: {tmp_path / 'file' / 'state'}: Not a directory")


# what is pushed is not trusted


def wrapper(receiver: Receiver, fake: FakeChaosgate, what: str, log: Path) -> None:
    """Let the hook call the stand-in by way of a script that first notes what the shell command `what` prints."""
    tool = log.with_suffix(".sh")
    tool.write_text(f'#!/bin/sh\n{{ {what}; }} >>"{log}"\nexec {fake.file} "$@"\n')
    tool.chmod(0o755)
    receiver.configure(command=str(tool))


def test_a_symbolic_link_leads_nowhere(receiver: Receiver, fake: FakeChaosgate, tmp_path: Path) -> None:
    folder = receiver.clone.folder / "chaos-specs"
    folder.mkdir()
    (folder / "values.yaml").symlink_to("/etc/passwd")
    (folder / "up").symlink_to("/")
    receiver.clone.commit({"chaos-specs/a.yaml": spec()})
    wrapper(receiver, fake, "find . -type l; cat chaos-specs/values.yaml; echo", tmp_path / "found")
    taken, said = receiver.push("main")
    assert (taken, "1 of 1 specs due" in said) == (True, True)
    assert set((tmp_path / "found").read_text().split()) == {"/etc/passwd"}


def test_pushed_attributes_hide_nothing(receiver: Receiver) -> None:
    receiver.clone.commit({".gitattributes": "* export-ignore\n", "chaos-specs/a.yaml": spec(more="broken")})
    assert "chaos-specs/a.yaml:4:1 spec: read 'broken'" in receiver.push("main")[1]


def test_escape_sequences_do_not_reach_the_terminal(receiver: Receiver) -> None:
    receiver.clone.commit({"chaos-specs/\x1b[2Ja.yaml": spec(more="broken \x1b[2J")})
    taken, said = receiver.push("main")
    assert not taken
    assert "\x1b[2J" not in said


def test_the_commit_is_known_where_the_drill_runs(receiver: Receiver, fake: FakeChaosgate, tmp_path: Path) -> None:
    # chaosgate records the commit of its working directory.
    wrapper(receiver, fake, "git describe --always --dirty --abbrev=40; env | grep ^GIT_", tmp_path / "found")
    head = receiver.clone.commit({"chaos-specs/a.yaml": spec()})
    assert receiver.push("main")[0]
    assert set((tmp_path / "found").read_text().split()) == {head}


# the file itself


def test_a_link_to_the_hook_works_as_well(receiver: Receiver) -> None:
    hooks = receiver.bare.folder / "hooks"
    shutil.rmtree(hooks / "chaosgate-gate")
    (hooks / "pre-receive").unlink()
    (hooks / "pre-receive").symlink_to(HOOK)
    receiver.clone.commit({"chaos-specs/a.yaml": spec(more="broken")})
    assert not receiver.push("main")[0]


def test_an_old_python_is_told_what_is_needed(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "old"
    old.mkdir()
    python = shutil.which("python3")
    (old / "python3").write_text(
        f'#!/bin/sh\nexec {python} -c "import sys; sys.version_info = (3, 9, 2); exec(open(sys.argv[1]).read())" "$@"\n'
    )
    (old / "python3").chmod(0o755)
    monkeypatch.setenv("PATH", f"{old}{os.pathsep}{os.environ['PATH']}")
    receiver.clone.commit({"README.md": "x"})
    taken, said = receiver.push("main")
    assert (taken, said) == (False, "push refused: python3 is 3.9 here; the hook needs 3.11 or newer")


def test_a_repository_of_sha256_objects(tmp_path: Path, fake: FakeChaosgate) -> None:
    made = Receiver.create(tmp_path / "git")
    for repository, more in ((made.bare, ["--bare"]), (made.clone, [])):
        shutil.rmtree(repository.folder if more else repository.folder / ".git")
        repository.folder.mkdir(exist_ok=True)
        repository.git("init", "--quiet", "--initial-branch=main", "--object-format=sha256", *more)
    made.clone.git("remote", "add", "origin", str(made.bare.folder))
    (made.bare.folder / "hooks").mkdir(exist_ok=True)
    (made.bare.folder / "hooks" / "pre-receive").symlink_to(HOOK)
    head = made.clone.commit({"chaos-specs/a.yaml": spec()})
    assert made.push("main")[0]
    assert made.refs() == {MAIN: head}
    assert json.dumps(fake.commands()) == '["validate chaos-specs/a.yaml", "run chaos-specs/a.yaml"]'
