"""The binaries of a test cluster, built once: each is built again when its Go module or the Go version changes."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from testbed.places import ARGO, BINARIES, cache

FLAGS = ("-trimpath", "-ldflags", "-s -w")
KUBERNETES_PARTS = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kube-proxy",
)
ARGO_MODULE = "github.com/argoproj/argo-workflows/v3"


def build_all() -> Path:
    """Build what is missing and return the folder of the binaries."""
    folder = cache() / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    build(folder / "kubernetes", BINARIES / "kubernetes", ".")
    for part in KUBERNETES_PARTS:
        link(folder / part, "kubernetes")
    build(folder / "store", BINARIES / "services", "./store")
    build(folder / "pause", BINARIES / "services", "./pause", static=True)
    build(folder / "coredns", BINARIES / "services", "github.com/coredns/coredns")
    for name in ("workflow-controller", "argoexec"):
        build_argo(folder / name)
    return folder


def build(target: Path, module: Path, package: str, *, static: bool = False, modfile: Path | None = None) -> None:
    """Build `package` as `target` unless it is there already, made from the same sources."""
    stamp = target.with_name(f".{target.name}.stamp")
    wanted = fingerprint(module, package)
    if target.exists() and stamp.exists() and stamp.read_text() == wanted:
        return
    print(f"building {target.name}", flush=True)
    chosen = () if modfile is None else (f"-modfile={modfile}",)
    environment = {**os.environ, "CGO_ENABLED": "0"} if static else None
    subprocess.run(["go", "build", *chosen, *FLAGS, "-o", target, package], cwd=module, env=environment, check=True)
    stamp.write_text(wanted)


def fingerprint(module: Path, package: str) -> str:
    """What the binary is made from."""
    digest = hashlib.sha256(f"{package} {FLAGS} {go('version')}".encode())
    for file in sources(module, package):
        digest.update(file.relative_to(module).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def sources(module: Path, package: str) -> Iterable[Path]:
    """The files of a module that decide what is built: its requirements, and the package where it is its own."""
    own = (module / package).glob("*.go") if package.startswith(".") else ()
    return sorted([module / "go.mod", module / "go.sum", *own])


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


def build_argo(target: Path) -> None:
    """Argo's controller or executor from a copy of its module.

    A module holds no symbolic links, and Argo's signal_linux.go is one: it must be put back before this builds.
    """
    copy = cache() / f"argo-{ARGO}"
    if not copy.exists():
        half = copy.with_suffix(".half")
        shutil.rmtree(half, ignore_errors=True)
        shutil.copytree(argo_source(), half, copy_function=shutil.copyfile)
        signals = half / "workflow/executor/osspecific"
        shutil.copyfile(signals / "signal_darwin.go", signals / "signal_linux.go")
        half.rename(copy)
    module = BINARIES / "argo"
    modfile = cache() / "argo.mod"
    shutil.copyfile(module / "go.mod", modfile)
    shutil.copyfile(module / "go.sum", modfile.with_suffix(".sum"))
    go("mod", "edit", f"-replace={ARGO_MODULE}={copy}", str(modfile))
    build(target, module, f"{ARGO_MODULE}/cmd/{target.name}", static=True, modfile=modfile)
