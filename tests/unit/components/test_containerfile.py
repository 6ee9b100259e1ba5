"""What the image's recipe promises can be read off it, and a recipe that breaks a promise is seen to.

tests/image builds it; these checks need no builder.
"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import pytest

from chaosgate import __version__
from chaosgate.model.carrier import DEFAULT_IMAGE

ROOT = Path(__file__).resolve().parents[3]
RECIPE = (ROOT / "components" / "Containerfile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SHARED = {"ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "FROM", "LABEL", "RUN", "USER", "WORKDIR"}
WRITES = {"HOME": "/tmp", "MPLCONFIGDIR": "/tmp/matplotlib", "PYTHONDONTWRITEBYTECODE": "1"}
LABELS = {
    "title": "chaosgate",
    "description": PROJECT["project"]["description"],
    "licenses": PROJECT["project"]["license"],
    "version": "${VERSION}",
    "revision": "${REVISION}",
    "source": "${SOURCE}",
    "base.name": "${BASE}",
}


@dataclass(frozen=True)
class Line:
    """One instruction, continued lines joined; stage 0 is what stands before the first FROM."""

    stage: int
    word: str
    rest: str


def lines(recipe: str) -> list[Line]:
    """The instructions of a recipe."""
    text = re.sub(r"^#.*\n", "", recipe, flags=re.M).replace("\\\n", " ")
    found: list[Line] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        word, _, rest = line.partition(" ")
        stage = (found[-1].stage if found else 0) + (word == "FROM")
        found.append(Line(stage, word, re.sub(r"\s+", " ", rest).strip()))
    return found


def last_stage(recipe: str) -> list[Line]:
    """The instructions of the stage that becomes the image."""
    found = lines(recipe)
    return [line for line in found if line.stage == found[-1].stage]


def values(recipe: str, word: str) -> dict[str, str]:
    """What ENV or LABEL set in the last stage."""
    text = " ".join(line.rest for line in last_stage(recipe) if line.word == word)
    return {name: quoted or bare for name, quoted, bare in re.findall(r'([\w.]+)=(?:"([^"]*)"|(\S*))', text)}


def every_stage_starts_from_the_base(recipe: str) -> list[str]:
    names = re.findall(r"^FROM \S+ AS (\S+)$", recipe, re.M)
    froms = [line.rest.split()[0] for line in lines(recipe) if line.word == "FROM"]
    return [f"starts from {name}" for name in froms if name != "${BASE}" and name not in names]


def both_builders_understand_it(recipe: str) -> list[str]:
    """Docker with and without BuildKit, and podman: no mounts of RUN, no here-documents, no frontend to be pulled."""
    strange = [line.word for line in lines(recipe) if line.word not in SHARED]
    options = re.findall(r"^(?:RUN|COPY|ADD) .*?--(?:mount|network|security|chmod|link)\b", recipe, re.M)
    frontend = re.findall(r"^# *(?:syntax|escape|check) *=", recipe, re.M)
    return [*strange, *options, *frontend, *re.findall(r"<<-?\w+", recipe)]


def packages_are_locked(recipe: str) -> list[str]:
    calls = re.findall(r"pip [^&]*?\b(?:install|wheel)\b[^&]*", " ".join(line.rest for line in lines(recipe)))
    return [call for call in calls if "--require-hashes" not in call and "--no-index" not in call]


def no_host_is_named(recipe: str) -> list[str]:
    return re.findall(r"https?://|--(?:extra-)?index-url|--trusted-host|PIP_\w*INDEX\w*|--cert\b", recipe)


def byte_code_is_the_same_each_time(recipe: str) -> list[str]:
    calls = re.findall(r"compileall[^&]*", " ".join(line.rest for line in lines(recipe)))
    loose = [call for call in calls if "--invalidation-mode unchecked-hash" not in call]
    installs = re.findall(r"pip [^&]*?\binstall\b[^&]*", " ".join(line.rest for line in lines(recipe)))
    return loose + [call for call in installs if "--no-compile" not in call]


def every_run_stamps_what_it_leaves(recipe: str) -> list[str]:
    runs = [line.rest for line in lines(recipe) if line.word == "RUN" and re.search(r"/(?:image|package)\b", line.rest)]
    return [run for run in runs if not run.endswith('-exec touch -h -d "@${SOURCE_DATE_EPOCH}" {} +')]


def nothing_runs_in_the_last_stage(recipe: str) -> list[str]:
    return [f"{line.word} {line.rest}" for line in last_stage(recipe) if line.word in {"RUN", "ADD", "SHELL"}]


def the_last_stage_copies_only_what_was_built(recipe: str) -> list[str]:
    copies = [line.rest for line in last_stage(recipe) if line.word == "COPY"]
    return [copy for copy in copies if not re.fullmatch(r"--from=\w+ /(?:image|package) /", copy)]


def the_user_is_a_number(recipe: str) -> list[str]:
    users = [line.rest for line in last_stage(recipe) if line.word == "USER"]
    return [] if users and re.fullmatch(r"[1-9]\d*:[1-9]\d*", users[-1]) else [f"runs as {users or 'root'}"]


def no_shell_is_needed_to_start(recipe: str) -> list[str]:
    commands = {line.word: line.rest for line in last_stage(recipe) if line.word in {"ENTRYPOINT", "CMD"}}
    expected = {"ENTRYPOINT": ["chaosgate"], "CMD": ["--help"]}
    return [
        f"{word} {commands.get(word)}"
        for word, words in expected.items()
        if not commands.get(word, "").startswith("[") or json.loads(commands[word]) != words
    ]


def what_is_written_goes_to_tmp(recipe: str) -> list[str]:
    found = values(recipe, "ENV")
    return [f"{name}={found.get(name)}" for name, value in WRITES.items() if found.get(name) != value]


def the_labels_say_what_it_is(recipe: str) -> list[str]:
    found = values(recipe, "LABEL")
    names = {f"org.opencontainers.image.{name}": text for name, text in LABELS.items()}
    return [f"{name}={found.get(name)}" for name, text in names.items() if found.get(name) != text]


Check = Callable[[str], list[str]]
TWINS: list[tuple[Check, str, str]] = [
    (every_stage_starts_from_the_base, "FROM dependencies AS", "FROM python:latest AS"),
    (both_builders_understand_it, "RUN python3", "RUN --mount=type=cache,target=/root/.cache python3"),
    (both_builders_understand_it, "WORKDIR /work", "HEALTHCHECK NONE"),
    (both_builders_understand_it, "# The image", "# syntax=docker/dockerfile:1\n# The image"),
    (packages_are_locked, "--require-hashes ", ""),
    (packages_are_locked, "--no-index ", ""),
    (no_host_is_named, "--no-compile", "--index-url https://example.org/simple"),
    (byte_code_is_the_same_each_time, "unchecked-hash", "timestamp"),
    (byte_code_is_the_same_each_time, "--no-compile ", ""),
    (every_run_stamps_what_it_leaves, " && find /package -exec touch", " && find /package -exec ls"),
    (nothing_runs_in_the_last_stage, "USER 65532", "RUN mkdir /more\nUSER 65532"),
    (the_last_stage_copies_only_what_was_built, "USER 65532", "COPY . /work\nUSER 65532"),
    (the_user_is_a_number, "USER 65532:65532", "USER nobody"),
    (the_user_is_a_number, "USER 65532:65532", ""),
    (the_user_is_a_number, "USER 65532:65532", "USER 0:0"),
    (no_shell_is_needed_to_start, 'ENTRYPOINT ["chaosgate"]', "ENTRYPOINT chaosgate"),
    (no_shell_is_needed_to_start, 'CMD ["--help"]', ""),
    (what_is_written_goes_to_tmp, "HOME=/tmp ", ""),
    (what_is_written_goes_to_tmp, "    PYTHONDONTWRITEBYTECODE=1 PYTHONSAFEPATH=1", "    PYTHONSAFEPATH=1"),
    (the_labels_say_what_it_is, "Apache-2.0", "MIT"),
    (the_labels_say_what_it_is, "revision", "commit"),
]


@pytest.mark.parametrize("check", dict.fromkeys(check for check, _, _ in TWINS), ids=lambda check: check.__name__)
def test_the_recipe_keeps(check: Check) -> None:
    assert check(RECIPE) == []


@pytest.mark.parametrize(("check", "part", "instead"), TWINS)
def test_a_recipe_that_does_not_is_seen(check: Check, part: str, instead: str) -> None:
    assert part in RECIPE
    assert check(RECIPE.replace(part, instead)) != []


def dry_run(*variables: str) -> subprocess.CompletedProcess[str]:
    """What `make image` would run."""
    command = ["make", "--no-print-directory", "-n", "-C", str(ROOT), "image", "REVISION=abc", *variables]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(("builder", "stamp"), [("podman", " --timestamp 315532800"), ("docker", "")])
def test_make_image_gives_every_argument(builder: str, stamp: str) -> None:
    said = re.sub(r"\s+", " ", dry_run(f"BUILDER={builder}").stdout.replace("\\\n", " "))
    assert said.startswith(f"{builder} build{stamp} --file components/Containerfile --tag {DEFAULT_IMAGE} --build-arg ")
    given = dict(re.findall(r"--build-arg (\w+)=(\S*)", said))
    assert given == {
        "BASE": "python:3.12-slim",
        "VERSION": __version__,
        "REVISION": "abc",
        "SOURCE": "",
        "SOURCE_DATE_EPOCH": "315532800",
    }
    assert set(given) == {line.rest.partition("=")[0] for line in lines(RECIPE) if line.word == "ARG"}


def test_make_image_without_a_builder_or_a_revision_says_what_to_do() -> None:
    assert "podman and docker are not on PATH; install one, or say" in dry_run("BUILDER=").stderr
    assert "this is no git checkout; say what is built: make image REVISION=..." in dry_run("REVISION=").stderr


def test_the_page_names_what_may_be_set() -> None:
    makefile, page = (ROOT / "Makefile").read_text(encoding="utf-8"), (ROOT / "docs" / "image.md").read_text("utf-8")
    target = makefile.partition("\nimage:")[0].rpartition("\n\n")[2]
    settable = set(re.findall(r"^(\w+) \?=", target, re.M)) - {"SOURCE_DATE_EPOCH"}
    assert set(re.findall(r"^\| `([A-Z_]+)` \|", page, re.M)) == settable


def sent() -> list[str]:
    """The patterns of .dockerignore that let something through."""
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    patterns = [line for line in ignored if line and not line.startswith("#")]
    assert patterns[0] == "*", "everything is left out first"
    return [pattern[1:] for pattern in patterns if pattern.startswith("!")]


def test_a_build_is_sent_what_it_copies_and_nothing_else() -> None:
    copies = [line.rest for line in lines(RECIPE) if line.word == "COPY" and "--from" not in line.rest]
    assert sorted(source for copy in copies for source in copy.split()[:-1]) == sorted(sent())
    assert not any(fnmatch(".git", pattern) for pattern in sent())


def pins(file: str) -> dict[str, set[str]]:
    """Package to the versions pinned for the Pythons and systems there are; each with a hash."""
    text = (ROOT / "requirements" / file).read_text(encoding="utf-8")
    found: dict[str, set[str]] = {}
    for name, version, rest in re.findall(r"^([a-z0-9-]+)==(\S+)([^\n]*\n(?: +--hash=\S+[^\n]*\n)*)", text, re.M):
        assert "--hash=sha256:" in rest, f"{file}: {name} has no hash"
        found.setdefault(name, set()).add(version)
    return found


@pytest.mark.parametrize("file", ["image.txt", "build.txt"])
def test_what_the_image_locks_is_what_the_tests_run_with(file: str) -> None:
    developed = pins("dev.txt")
    assert {name: versions for name, versions in pins(file).items() if not versions <= developed[name]} == {}


def test_the_image_has_every_dependency_and_of_mlflow_only_the_client() -> None:
    needed = {re.split(r"[^a-z0-9-]", line)[0] for line in PROJECT["project"]["dependencies"]}
    locked = set(pins("image.txt"))
    assert needed <= locked
    assert locked & {"mlflow", "mlflow-skinny", "pandas", "pyarrow", "scikit-learn"} == {"mlflow-skinny"}


def test_the_build_has_the_backend() -> None:
    assert set(PROJECT["build-system"]["requires"]) <= set(pins("build.txt"))
