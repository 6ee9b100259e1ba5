"""The binaries of a test cluster, built once: each is built again when its Go module or the Go version changes."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from testbed.places import ARGO, BINARIES, KUBERNETES, cache

KUBERNETES_PARTS = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kube-proxy",
)
ARGO_MODULE = "github.com/argoproj/argo-workflows/v3"
ENVIRONMENT = {"CGO_ENABLED": "0", "GOGC": "400"}
"""No C libraries: the images have none, and what all are made from is compiled once. The compiler may use more memory,
which saves a tenth of its time."""
KUBERNETES_VERSION = {"k8s.io/component-base/version.gitVersion": KUBERNETES}
ARGO_VERSION = {f"{ARGO_MODULE}.version": ARGO, f"{ARGO_MODULE}.gitTag": ARGO, f"{ARGO_MODULE}.gitTreeState": "clean"}
LABELS_LOOKUP = """package executor

func (g gjsonLabels) Lookup(label string) (string, bool) { return g.Get(label), g.Has(label) }
"""
"""What Argo 3.7 lacks of the interface labels.Labels as it is since Kubernetes 1.34."""


@dataclass(frozen=True)
class Binary:
    """One program of the cluster: a Go package, in a module of this repository that names every version."""

    name: str
    module: Path
    package: str
    variables: Mapping[str, str] = field(default_factory=dict)
    mended: str = ""
    """What is put into a copy of the package's module before it is built."""
    """Variables of the program that its linker sets."""

    def flags(self) -> list[str]:
        """What `go build` is told."""
        values = " ".join(f"-X {name}={value}" for name, value in self.variables.items())
        return ["-trimpath", "-ldflags", f"-s -w {values}".rstrip()]

    def sources(self) -> list[Path]:
        """The files that decide what is built: the module's requirements, and the package where it is its own."""
        own = (self.module / self.package).glob("*.go") if self.package.startswith(".") else ()
        return sorted([self.module / "go.mod", self.module / "go.sum", *own])

    def fingerprint(self, compiler: str) -> str:
        """What it is made from, by a `compiler` as `go version` tells it."""
        digest = hashlib.sha256(f"{self.package} {self.flags()} {ENVIRONMENT} {compiler}{self.mended}".encode())
        for file in self.sources():
            digest.update(file.relative_to(self.module).as_posix().encode() + b"\0" + file.read_bytes())
        return digest.hexdigest()


BUILT = (
    Binary("kubernetes", BINARIES / "kubernetes", ".", variables=KUBERNETES_VERSION),
    Binary("store", BINARIES / "services", "./store"),
    Binary("pause", BINARIES / "services", "./pause"),
    Binary("coredns", BINARIES / "kubernetes", "./coredns"),
)
BUILT_FOR_ARGO = tuple(
    Binary(name, BINARIES / "argo", f"{ARGO_MODULE}/cmd/{name}", variables=ARGO_VERSION, mended=LABELS_LOOKUP)
    for name in ("workflow-controller", "argoexec")
)


def build_all() -> Path:
    """Build what is missing and return the folder of the binaries."""
    folder = cache() / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    compiler = go("version")
    with alone(cache()):
        for binary in BUILT:
            build(binary, folder, compiler)
        for part in KUBERNETES_PARTS:
            link(folder / part, "kubernetes")
        for binary in BUILT_FOR_ARGO:
            build(binary, folder, compiler, argo_modfile)
    return folder


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep two builds in one cache apart."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def build(binary: Binary, folder: Path, compiler: str, modfile: Callable[[], Path] | None = None) -> bool:
    """Build a program unless it is there already, made from the same; True when it was built.

    `modfile` makes the go.mod to build with in place of the module's own.
    """
    target, stamp = folder / binary.name, folder / f".{binary.name}.stamp"
    wanted = binary.fingerprint(compiler)
    if target.exists() and stamp.exists() and stamp.read_text() == wanted:
        return False
    print(f"building {binary.name}", flush=True)
    chosen = () if modfile is None else (f"-modfile={modfile()}",)
    command = ["go", "build", *chosen, *binary.flags(), "-o", str(target), binary.package]
    subprocess.run(command, cwd=binary.module, env={**os.environ, **ENVIRONMENT}, check=True)
    stamp.write_text(wanted)
    return True


def go(*words: str, cwd: Path | None = None) -> str:
    """What `go WORDS` prints."""
    return subprocess.run(["go", *words], cwd=cwd, capture_output=True, text=True, check=True).stdout.strip()


def link(place: Path, target: str) -> None:
    """A symbolic link that is there afterwards."""
    if not place.is_symlink():
        place.symlink_to(target)


def argo_source() -> Path:
    """Argo's module in Go's cache."""
    module = BINARIES / "argo"
    subprocess.run(["go", "mod", "download", f"{ARGO_MODULE}@{ARGO}"], cwd=module, check=True)
    return Path(go("list", "-m", "-f", "{{.Dir}}", ARGO_MODULE, cwd=module))


def argo_definitions() -> list[dict[str, Any]]:
    """Argo's kinds in their full form, every field described; read once, as 7 MB of YAML take long to read."""
    file = cache() / f"argo-{ARGO}-definitions.json"
    if not file.exists():
        manifests = sorted((argo_source() / "manifests/base/crds/full").glob("argoproj.io_*.yaml"))
        found = [yaml.load(one.read_text(), Loader=yaml.CSafeLoader) for one in manifests]
        half = file.with_suffix(".half")
        half.write_text(json.dumps(found))
        half.rename(file)
    read: list[dict[str, Any]] = json.loads(file.read_text())
    return read


def argo_modfile() -> Path:
    """A go.mod that puts a mended copy of Argo in the place of its module.

    A module holds no symbolic links, and Argo's signal_linux.go is one: it must be put back before this builds. And it
    is built with the cluster's Kubernetes libraries, which halves the build, and which ask one method more of labels.
    """
    # Named by all that decides what it holds, so that a copy of other versions is never taken for it.
    mended = hashlib.sha256(LABELS_LOOKUP.encode()).hexdigest()[:8]
    copy = cache() / f"argo-{ARGO}-{KUBERNETES}-{mended}"
    if not copy.exists():
        half = copy.with_suffix(".half")
        shutil.rmtree(half, ignore_errors=True)
        shutil.copytree(argo_source(), half, copy_function=shutil.copyfile)
        executor = half / "workflow/executor"
        shutil.copyfile(executor / "osspecific/signal_darwin.go", executor / "osspecific/signal_linux.go")
        (executor / "labels_lookup.go").write_text(LABELS_LOOKUP)
        half.rename(copy)
    modfile = cache() / "argo.mod"
    shutil.copyfile(BINARIES / "argo" / "go.mod", modfile)
    shutil.copyfile(BINARIES / "argo" / "go.sum", modfile.with_suffix(".sum"))
    go("mod", "edit", f"-replace={ARGO_MODULE}={copy}", str(modfile))
    return modfile
