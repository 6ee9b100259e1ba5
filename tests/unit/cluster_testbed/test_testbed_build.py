"""What decides whether a program of the test cluster is built again, and that the modules name its versions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from testbed import build as building
from testbed.build import ARGO_MODULE, BUILT, BUILT_FOR_ARGO, Binary, build
from testbed.cluster import why_unneeded
from testbed.places import ARGO, BINARIES, KUBERNETES

GO = "go version go1.26 linux/amd64"


@pytest.fixture
def binary(tmp_path: Path) -> Binary:
    """A program of a small module."""
    module = tmp_path / "module"
    (module / "one").mkdir(parents=True)
    for name in ("go.mod", "go.sum", "one/main.go", "other.go"):
        (module / name).write_text(name)
    return Binary("one", module, "./one")


@pytest.mark.parametrize("file", ["go.mod", "go.sum", "one/main.go"])
def test_a_program_is_another_when_a_file_of_it_changes(binary: Binary, file: str) -> None:
    before = binary.fingerprint(GO)
    (binary.module / "other.go").write_text("no part of it")
    assert binary.fingerprint(GO) == before
    (binary.module / file).write_text("changed")
    assert binary.fingerprint(GO) != before


def test_a_program_is_another_by_another_compiler_or_with_other_flags(binary: Binary) -> None:
    others = [replace(binary, package="."), replace(binary, variables={"main.version": "1"}), binary]
    found = [other.fingerprint(GO) for other in others] + [binary.fingerprint("go version go1.27 linux/amd64")]
    assert len(set(found)) == len(found)


def test_a_strangers_package_is_known_by_the_modules_requirements(binary: Binary) -> None:
    stranger = replace(binary, package="example.com/server")
    assert [file.name for file in stranger.sources()] == ["go.mod", "go.sum"]


def test_what_is_there_from_the_same_sources_is_not_built_again(
    binary: Binary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def go(command: list[str], **more: object) -> None:
        commands.append(command)
        Path(command[command.index("-o") + 1]).write_text("built")

    monkeypatch.setattr(building.subprocess, "run", go)
    assert build(binary, tmp_path, GO)
    assert not build(binary, tmp_path, GO)
    (binary.module / "go.sum").write_text("changed")
    assert build(binary, tmp_path, GO)
    assert commands == [["go", "build", "-trimpath", "-ldflags", "-s -w", "-o", str(tmp_path / "one"), "./one"]] * 2
    (tmp_path / "one").unlink()
    assert build(binary, tmp_path, GO, lambda: tmp_path / "other.mod")
    assert f"-modfile={tmp_path}/other.mod" in commands[-1]


def test_the_modules_require_the_versions_that_are_named() -> None:
    for module, requirement in (("kubernetes", f"k8s.io/kubernetes {KUBERNETES}"), ("argo", f"{ARGO_MODULE} {ARGO}")):
        assert requirement in (BINARIES / module / "go.mod").read_text()


def test_every_program_says_which_version_it_is() -> None:
    flags = {binary.name: " ".join(binary.flags()) for binary in (*BUILT, *BUILT_FOR_ARGO)}
    assert f"gitVersion={KUBERNETES}" in flags["kubernetes"]
    assert all(f"{ARGO_MODULE}.version={ARGO}" in flags[name] for name in ("workflow-controller", "argoexec"))


@pytest.mark.parametrize(
    ("kubeconfig", "reason", "said"),
    [
        ("", None, None),
        ("", "it needs root", "it needs root"),
        ("/home/me/.kube/config", None, "KUBECONFIG names the cluster"),
    ],
)
def test_nothing_is_built_where_no_cluster_would_be_started(
    monkeypatch: pytest.MonkeyPatch, kubeconfig: str, reason: str | None, said: str | None
) -> None:
    monkeypatch.setenv("KUBECONFIG", kubeconfig)
    assert why_unneeded(reason) == said
