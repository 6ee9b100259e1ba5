"""Which specs a change makes due: what is a spec, what depends on what, and what git can answer."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import changed_specs as module
import pytest
from changed_specs import Changes, Entry, GateError, Repository, Tree, changed_specs, compare, glob_pattern, is_spec
from gate_rig import SCRIPTS, GitRepository, spec
from hypothesis import given
from hypothesis import strategies as st

ZEROS = "0" * 40


def changes(repository: GitRepository, base: str, head: str = "HEAD", **more: tuple[str, ...]) -> Changes:
    return changed_specs(Repository(repository.folder), base, head, **more)


def due(found: Changes) -> dict[str, str]:
    return {one.file: one.why for one in found.due}


# what is a spec


@pytest.mark.parametrize(
    "text",
    [
        spec(),
        "# a comment\n---\nkind: ChaosSpec\napiVersion: chaosgate/v1\n",
        'kind: "ChaosSpec"\n',
        "'kind': 'ChaosSpec'\n",
        "kind:   ChaosSpec  # what it is\n",
        "kind:\n  ChaosSpec\n",
        "apiVersion: chaosgate/v1\r\nkind: ChaosSpec\r\n",
        '{"apiVersion": "chaosgate/v1", "kind": "ChaosSpec", "spec": {"faults": [{"kind": "wire.latency"}]}}',
        "{kind: ChaosSpec}",
        "# a comment\n\n{apiVersion: chaosgate/v1, kind: ChaosSpec}\n",
        "%YAML 1.2\n--- # a spec\n{kind: ChaosSpec}\n",
        "--- {kind: ChaosSpec}\n",
        "# a comment\n  apiVersion: chaosgate/v1\n  kind: ChaosSpec\n",
        "  metadata: {name: wrongly-indented}\nkind: ChaosSpec\n",
        "\ufeffkind: ChaosSpec\n",
        "apiVersion: chaosgate/v1\nkind: ChaosSpce\n",
        "apiVersion: chaosgate/v1\n",
        "apiVersion: chaosgate/v1\nspec:\n  kind: ChaosProfile\n",
    ],
)
def test_what_says_so_is_a_spec_and_what_seems_to_mean_it_too(text: str) -> None:
    assert is_spec(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "rate: 20/s\n",
        "apiVersion: chaosgate/v1\nkind: ChaosProfile\n",
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  spec: |\n    kind: ChaosSpec\n",
        "# kind: ChaosSpec\n",
        "A page about\nthe kind ChaosSpec\n",
        "unkind: ChaosSpec\n",
        "kind: ChaosSpecs\n",
        "# a comment\n  data:\n    kind: ChaosSpec\n",
    ],
)
def test_what_only_mentions_it_is_none(text: str) -> None:
    assert not is_spec(text.encode())


def test_bytes_that_are_no_text_are_no_spec() -> None:
    assert not is_spec(bytes(range(256)))


def test_the_kinds_that_are_no_specs_are_those_of_chaosgate() -> None:
    from chaosgate.model.source import PROFILE_KIND, SPEC_KIND

    assert module.OTHER_KINDS == (PROFILE_KIND,)
    assert is_spec(f"kind: {SPEC_KIND}\n".encode())


# globs


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("chaos-specs/**", "chaos-specs/a.yaml", True),
        ("chaos-specs/**", "chaos-specs/a/b/c", True),
        ("chaos-specs/**", "chaos-specs", False),
        ("chaos-specs/**", "old/chaos-specs/a.yaml", False),
        ("chaos-specs/*", "chaos-specs/a/b", False),
        ("**/*.chaos.yaml", "a/b/c.chaos.yaml", True),
        ("**/*.chaos.yaml", "c.chaos.yaml", True),
        ("**/*.chaos.yaml", "c.chaos.yamls", False),
        ("a?.yaml", "ab.yaml", True),
        ("a?.yaml", "a/.yaml", False),
        ("a+(b).yaml", "a+(b).yaml", True),
        ("a+(b).yaml", "aab.yaml", False),
        ("requirements/dev.txt", "requirements/dev.txt", True),
        ("requirements/dev.txt", "requirements/devxtxt", False),
    ],
)
def test_a_glob_matches_whole_paths(glob: str, path: str, matches: bool) -> None:
    assert bool(glob_pattern([glob]).fullmatch(path)) is matches


def test_several_globs_match_what_any_does_and_none_nothing() -> None:
    both = glob_pattern(["a", "b/**"])
    assert [bool(both.fullmatch(path)) for path in ("a", "b/c", "c")] == [True, True, False]
    assert not glob_pattern([]).fullmatch("")


# the rule, on trees

PATHS = st.lists(st.sampled_from(["s", "s/a", "s/a/b", "s/c", "t"]), min_size=1, max_size=1).flatmap(
    lambda folder: st.sampled_from(["x", "y", "z"]).map(lambda name: f"{folder[0]}/{name}")
)
FILES = st.dictionaries(PATHS, st.tuples(st.booleans(), st.integers(0, 2)), max_size=8)
"""Path to whether it is a spec, and its content."""
INSIDE, NOTHING = glob_pattern(["s/**"]), glob_pattern([])


def tree(files: dict[str, tuple[bool, int]]) -> Tree:
    entries = {path: Entry("100644", str(content)) for path, content in files.items()}
    return Tree(entries, frozenset(path for path, (is_one, _) in files.items() if is_one and INSIDE.fullmatch(path)))


@given(FILES, FILES)
def test_a_spec_that_differs_is_due_and_nothing_but_specs_are(
    old: dict[str, tuple[bool, int]], new: dict[str, tuple[bool, int]]
) -> None:
    before, after = tree(old), tree(new)
    found = compare(before, after, INSIDE, NOTHING)
    files = [one.file for one in found.due]
    assert files == sorted(set(files))
    assert set(files) <= after.specs
    differs = {path for path in after.specs if before.files.get(path) != after.files[path]}
    assert differs <= set(files)
    gone = {path for path in before.specs - after.specs if before.files[path] != after.files.get(path)}
    assert set(found.removed) == gone


@given(FILES)
def test_nothing_is_due_where_nothing_changed_and_all_where_there_was_nothing(
    files: dict[str, tuple[bool, int]],
) -> None:
    same = compare(tree(files), tree(files), INSIDE, NOTHING)
    assert (same.due, same.removed) == ((), ())
    first = compare(tree({}), tree(files), INSIDE, NOTHING)
    assert {one.file for one in first.due} == tree(files).specs


@given(FILES, FILES)
def test_a_change_of_what_all_depend_on_makes_all_due(
    old: dict[str, tuple[bool, int]], new: dict[str, tuple[bool, int]]
) -> None:
    found = compare(
        tree({**old, "lock/x": (False, 0)}), tree({**new, "lock/x": (False, 1)}), INSIDE, re.compile("lock/x")
    )
    assert {one.file for one in found.due} == tree(new).specs
    assert {one.why for one in found.due} <= {"depends on lock/x"}


# the rule, in git


def test_added_changed_renamed_and_deleted_specs(repository: GitRepository) -> None:
    base = repository.commit({f"chaos-specs/{name}.yaml": spec(name) for name in "abcd"})
    repository.git("mv", "chaos-specs/c.yaml", "chaos-specs/moved.yaml")
    repository.commit({"chaos-specs/a.yaml": spec("new"), "chaos-specs/b.yaml": None, "chaos-specs/e.yaml": spec("e")})
    found = changes(repository, base)
    assert due(found) == {
        "chaos-specs/a.yaml": "changed",
        "chaos-specs/e.yaml": "added",
        "chaos-specs/moved.yaml": "added",
    }
    assert found.removed == ("chaos-specs/b.yaml", "chaos-specs/c.yaml")
    assert found.total == 4


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("chaos-specs/slow/values.yaml", ["slow/deep/c.yaml", "slow/b.yaml"]),
        ("chaos-specs/slow/deep/prompts.txt", ["slow/deep/c.yaml"]),
        ("chaos-specs/values/prod.yaml", ["a.yaml", "slow/b.yaml", "slow/deep/c.yaml"]),
        ("chaos-specs/slow/deep/more/x.txt", ["slow/deep/c.yaml"]),
        ("chaos-specs/README.md", ["a.yaml", "slow/b.yaml", "slow/deep/c.yaml"]),
        ("src/code.py", []),
    ],
)
def test_what_depends_on_a_file_that_is_no_spec(repository: GitRepository, file: str, expected: list[str]) -> None:
    names = ("chaos-specs/a.yaml", "chaos-specs/slow/b.yaml", "chaos-specs/slow/deep/c.yaml")
    base = repository.commit({**{name: spec() for name in names}, file: "rate: 20/s\n"})
    repository.commit({file: "rate: 30/s\n"})
    assert due(changes(repository, base)) == {f"chaos-specs/{name}": f"depends on {file}" for name in sorted(expected)}
    before = repository.git("rev-parse", "HEAD")
    repository.commit({file: None})
    assert list(due(changes(repository, before))) == sorted(f"chaos-specs/{name}" for name in expected)


def test_a_deleted_spec_makes_nothing_due(repository: GitRepository) -> None:
    base = repository.commit({"chaos-specs/a.yaml": spec("a"), "chaos-specs/b.yaml": spec("b")})
    repository.commit({"chaos-specs/b.yaml": None})
    assert due(changes(repository, base)) == {}


def test_what_all_depend_on(repository: GitRepository) -> None:
    base = repository.commit({"chaos-specs/a.yaml": spec(), "requirements/dev.txt": "1", "profile.yaml": "1"})
    repository.commit({"requirements/dev.txt": "2"})
    assert due(changes(repository, base)) == {}
    assert due(changes(repository, base, also=("profile.yaml",))) == {}
    found = changes(repository, base, also=("profile.yaml", "requirements/*.txt"))
    assert due(found) == {"chaos-specs/a.yaml": "depends on requirements/dev.txt"}


def test_names_with_blanks_quotes_line_ends_and_other_letters(repository: GitRepository) -> None:
    names = [
        "chaos-specs/two words.yaml",
        'chaos-specs/"q".yaml',
        "chaos-specs/größe 測試.yaml",
        "chaos-specs/a\nb.yaml",
    ]
    base = repository.commit({"README.md": "x"})
    repository.commit({name: spec() for name in names})
    assert sorted(due(changes(repository, base))) == sorted(names)


def test_a_name_that_is_no_utf8_can_be_opened_again(repository: GitRepository) -> None:
    base = repository.commit({"README.md": "x"})
    name = os.fsdecode(b"chaos-specs/\xff.yaml")
    repository.commit({name: spec()})
    found = changes(repository, base)
    assert (repository.folder / found.due[0].file).read_text() == spec()
    assert module.render(found, "text") == "chaos-specs/\ufffd.yaml\tadded"
    assert json.loads(module.render(found, "json"))["due"][0]["file"] == name


def test_a_symbolic_link_is_never_read_as_a_spec(repository: GitRepository) -> None:
    base = repository.commit({"README.md": spec()})
    (repository.folder / "chaos-specs").mkdir()
    (repository.folder / "chaos-specs" / "link.yaml").symlink_to("../README.md")
    # What git keeps of a link is its target, which may look like anything.
    (repository.folder / "chaos-specs" / "odd.yaml").symlink_to("kind: ChaosSpec")
    repository.commit_all()
    assert changes(repository, base) == Changes((), (), 0)


def test_another_glob_and_a_spec_outside_of_it(repository: GitRepository) -> None:
    base = repository.commit({"README.md": "x"})
    repository.commit({"drills/a.yaml": spec(), "chaos-specs/b.yaml": spec()})
    assert due(changes(repository, base, specs=("drills/**",))) == {"drills/a.yaml": "added"}


@pytest.mark.parametrize("base", [ZEROS, "", "0" * 64])
def test_the_first_push_makes_all_due(repository: GitRepository, base: str) -> None:
    repository.commit({"chaos-specs/a.yaml": spec()})
    assert due(changes(repository, base)) == {
        "chaos-specs/a.yaml": "nothing to compare with: the first push of this branch"
    }


def test_a_base_that_a_forced_push_took_away_makes_all_due(repository: GitRepository) -> None:
    repository.commit({"chaos-specs/a.yaml": spec()})
    assert due(changes(repository, "ab" * 20)) == {
        "chaos-specs/a.yaml": "nothing to compare with: abababababab is no longer in the history"
    }


def test_a_base_beyond_a_shallow_clone_says_what_to_do(repository: GitRepository, tmp_path: Path) -> None:
    base = repository.commit({"chaos-specs/a.yaml": spec()})
    repository.commit({"chaos-specs/a.yaml": spec("new")})
    shallow = GitRepository(tmp_path / "shallow")
    repository.git("clone", "--quiet", "--depth=1", f"file://{repository.folder}", str(shallow.folder))
    with pytest.raises(GateError, match=r"lies beyond this shallow clone; .*`fetch-depth: 0`.*`git fetch --unshallow`"):
        changes(shallow, base)
    shallow.git("fetch", "--quiet", "--unshallow")
    assert due(changes(shallow, base)) == {"chaos-specs/a.yaml": "changed"}


@pytest.mark.parametrize("name", ["mian", "--help", "HEAD^9", "a b"])
def test_a_name_that_is_no_commit_is_refused(repository: GitRepository, name: str) -> None:
    repository.commit({"chaos-specs/a.yaml": spec()})
    said = re.escape(f"base: {name!r} is no commit here; name a branch, a tag or a full commit id")
    with pytest.raises(GateError, match=said):
        changes(repository, name)
    with pytest.raises(GateError, match=re.escape(f"head: {name!r} is no commit here")):
        changes(repository, "HEAD", name)


def test_a_merge_is_compared_with_its_first_parent(repository: GitRepository) -> None:
    repository.commit({"chaos-specs/a.yaml": spec()})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"chaos-specs/topic.yaml": spec()})
    repository.git("checkout", "--quiet", "main")
    repository.commit({"chaos-specs/main.yaml": spec()})
    repository.git("merge", "--quiet", "--no-edit", "topic")
    assert due(changes(repository, "HEAD^1")) == {"chaos-specs/topic.yaml": "added"}


# the command


def script(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPTS / "changed_specs.py", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


def test_the_command_prints_text_and_json(repository: GitRepository) -> None:
    base = repository.commit({"chaos-specs/a.yaml": spec(), "chaos-specs/b.yaml": spec(), "lock": "1"})
    head = repository.commit({"chaos-specs/a.yaml": spec("new"), "chaos-specs/b.yaml": None})
    said = script(repository.folder, "--base", base, "--head", head)
    assert (said.returncode, said.stdout) == (0, "chaos-specs/a.yaml\tchanged\nchaos-specs/b.yaml\tremoved\n")
    told = json.loads(script(repository.folder, "--base", base, "--head", head, "-o", "json").stdout)
    assert told == {
        "due": [{"file": "chaos-specs/a.yaml", "why": "changed"}],
        "removed": ["chaos-specs/b.yaml"],
        "total": 1,
    }
    none = script(repository.folder, "--base", base, "--head", head, "--specs", "other/**", "--also", "lock")
    assert none.stdout == "none of 0 specs is due\n"


def test_the_command_says_what_is_wrong(repository: GitRepository, tmp_path: Path) -> None:
    repository.commit({"chaos-specs/a.yaml": spec()})
    said = script(repository.folder, "--base", "nowhere", "--head", "HEAD")
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr == "base: 'nowhere' is no commit here; name a branch, a tag or a full commit id\n"
    without = script(repository.folder, "--base", "HEAD", "--head", "HEAD", PATH=str(tmp_path))
    assert (without.returncode, without.stderr) == (2, "git was not found in PATH; install git 2.15 or newer\n")


def test_a_failure_of_git_is_told_in_its_words(tmp_path: Path) -> None:
    with pytest.raises(GateError, match=r"git ls-tree failed with exit code 128: fatal: .*not a git repository"):
        Repository(tmp_path, {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}).tree("HEAD", NOTHING)


@given(st.text())
def test_a_line_of_anothers_making_is_one_line(text: str) -> None:
    line = module.one_line(text)
    assert line.isprintable()
    assert len(line) == len(text)
